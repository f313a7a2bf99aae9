#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "base/executor.h"
#include "base/result.h"
#include "base/task.h"
#include "base/token.h"
#include "message/event.h"
#include "message/message.h"
#include "message/sampling.h"
#include "message/usage.h"
#include "net/http_types.h"
#include "protocol/conversation.h"

namespace verbatim::engine {

using base::TokenId;
using base::TokenIds;
using TokenIdSpan = std::span<const TokenId>;

// A request by token ids.
struct TokenRequest {
  // The engine knows the request by it; aborts name it. Not empty; all of one length, because some
  // engines abort every request whose id begins with the one named.
  std::string request_id;
  std::string model;  // the name of the served model; engines that list one use that
  // The prompt in pieces, to be sent one behind the other. They must live until the stream ends:
  // nothing is copied.
  std::vector<std::span<const TokenId>> prompt;
  message::Sampling sampling;
  std::uint64_t max_new_tokens = 0;  // always sent; > 0
  // The client's chat request, JSON as it came; empty: there is none. For kinds whose engine reads
  // it beside the ids. Must live until the stream ends.
  std::string_view chat;
  std::vector<TokenId> stop_token_ids;  // close ids of the family and the client's
  std::string routing_key;              // session or root: for routers that pin
  // TokenEnd::engine_url of the turn this one goes on from: that replica has its prefix. Empty:
  // none, or not known.
  std::string last_engine_url;
  // Of the client, to be sent along as they are: traceparent, tracestate, baggage, x-request-id.
  // A kind whose engine would take one of them for the request's own id leaves it out.
  net::Headers headers;
  base::MonoTime deadline = base::kNever;
  // Fired, the generation is aborted, whether its first event has come or not. Must outlive the
  // stream.
  base::CancelSignal* cancel = nullptr;

  [[nodiscard]] std::size_t prompt_size() const {
    std::size_t n = 0;
    for (const auto& piece : prompt) n += piece.size();
    return n;
  }
};

// A request by messages.
struct MessageRequest {
  std::string request_id;  // not empty
  // Not null. Must live until complete() has returned: nothing is copied.
  const protocol::Conversation* conversation = nullptr;
  // The rest: see TokenRequest.
  std::string routing_key;
  std::string last_engine_url;
  net::Headers headers;
  base::MonoTime deadline = base::kNever;
  base::CancelSignal* cancel = nullptr;
};

struct TopLogprob {
  TokenId id = 0;
  double logprob = 0;
};

// What arrived since the last chunk: ids, or, by messages, events. ids and logprobs have the same
// size (proved), logprobs are natural logs.
struct TokenChunk {
  TokenIds ids;
  std::vector<double> logprobs;
  std::vector<std::vector<TopLogprob>> top_logprobs;  // empty, or one per id
  // What the engine's own parser read out of all ids, where it has one: in place of ours. Text of
  // reasoning and answer, names and arguments of calls.
  std::optional<message::Message> parsed;
  message::Events events;  // of the message path; ids of calls are the engine's, where it has any
  [[nodiscard]] bool empty() const { return ids.empty() && events.empty(); }
};

// How the engine says the generation ended.
struct EngineFinish {
  enum class Kind { kStop, kLength, kAbort };
  Kind kind = Kind::kStop;
  std::string raw;                    // the engine's word
  std::optional<TokenId> matched_id;  // the stop id, where it says
  std::optional<std::string> matched_string;
};

struct WeightSpan {
  std::string version;
  std::uint64_t begin = 0;  // first completion id sampled with this version
};

// How an engine's own rendering of the chat request compares with the prompt it was sent.
struct RenderSkew {
  std::uint64_t rendered = 0;  // ids the engine made
  std::uint64_t sent = 0;      // ids it was sent
  std::uint64_t common = 0;    // of both, from the front
};

// The end of a generation: proved against what was sent (docs/design.md 5, last point).
struct TokenEnd {
  EngineFinish finish;
  std::uint64_t prompt_tokens = 0;
  // The engine said how long the prompt was, or its ids, and it was as sent. Old releases say
  // nothing: then prompt_tokens is what was sent.
  bool prompt_is_proved = true;
  std::uint64_t completion_tokens = 0;
  std::optional<std::uint64_t> cached_tokens;
  std::vector<WeightSpan> weight_versions;
  // Where the engine says the logprobs again and better at the end: all of them, in place of those
  // of the chunks.
  std::optional<std::vector<double>> exact_logprobs;
  std::optional<RenderSkew> skew;  // of kinds that render
  // By messages: what the engine counted, and what of its message no event says (raw JSON by name,
  // for message::Message::unknown).
  std::optional<message::Usage> usage;
  std::vector<std::pair<std::string, std::string>> unknown;
  std::string engine_url;         // who sampled, as net::url_text() writes it
  std::string engine_request_id;  // x-request-id of the answer; empty: none that can be kept
};

// A running generation. One owner, one executor. Destroying it before the end aborts the
// generation.
class TokenStream {
 public:
  virtual ~TokenStream() = default;
  // The next chunk; nullopt at the proved end, where end() is set. After an error the stream is
  // over and the engine has been told to abort. Errors: kEngine (answer can't be trusted, or the
  // engine's own error with `upstream`), kUnavailable (never reached: nothing can have been
  // sampled), kTimeout, kCancelled (after abort()).
  virtual base::Task<base::Result<std::optional<TokenChunk>>> next() = 0;
  [[nodiscard]] virtual const TokenEnd& end() const = 0;
  // Ends the generation where its last chunk ended, because the gateway found a stop string in it:
  // the engine is told to stop, and end() is what was proved so far. Fails (the stream is then
  // over) where nothing proved yet that the prompt arrived as sent.
  virtual base::Status cut() = 0;
  // Tells the engine to stop: closes the connection and sends its abort call. A pending next() ends
  // with kCancelled. Idempotent.
  virtual void abort() = 0;
};

// What is known of the model behind an engine.
struct ModelInfo {
  std::string id;
  std::uint64_t max_model_len = 0;  // 0: unknown
};

struct Probe {
  std::string engine_version;  // empty: the engine does not say
  std::string weight_version;
  std::vector<ModelInfo> models;
  std::uint64_t context_length = 0;    // 0: unknown
  std::uint64_t max_input_tokens = 0;  // longest prompt it takes; 0: unknown
  bool streams_new_only = false;       // events bring what is new, not all so far (SGLang)
  bool low_values_first = false;       // of priorities (SGLang)
};

// What goes up to an engine: token ids; the messages, of which tokens can't be exact; or the
// client's own bytes, which are no turn (gateway::Relay) and need no Engine.
enum class Path { kTokens, kMessages, kRelay };

// One engine (a base URL). Owned by one executor. Life: created, used, stop()ped to the end,
// destroyed; its streams are destroyed before stop() is called.
class Engine {
 public:
  virtual ~Engine() = default;
  [[nodiscard]] virtual std::string_view kind() const = 0;  // "sglang"
  [[nodiscard]] virtual std::string_view mode() const = 0;  // "generate"
  // False: the gateway looks for the stop strings itself, and cuts the stream at the first.
  [[nodiscard]] virtual bool matches_stop_strings() const { return true; }
  // It reads TokenRequest::chat.
  [[nodiscard]] virtual bool reads_chat() const { return false; }
  // Which of generate() and complete() serves it.
  [[nodiscard]] virtual Path driven_by() const { return Path::kTokens; }
  // What this kind demands of a request before anything is planned. Pure.
  [[nodiscard]] virtual base::Status check(const message::Sampling& sampling) const = 0;
  // The same of a conversation that goes up by messages.
  [[nodiscard]] virtual base::Status check_messages(const protocol::Conversation& asked) const;
  // Returns once the engine's first event arrived (or its error), so that errors keep their status.
  virtual base::Task<base::Result<std::unique_ptr<TokenStream>>> generate(TokenRequest request) = 0;
  // The same by messages: chunks bring events, the end usage. Aborting closes the connection.
  virtual base::Task<base::Result<std::unique_ptr<TokenStream>>> complete(MessageRequest request);
  virtual base::Task<base::Result<Probe>> probe(base::MonoTime deadline) = 0;
  // Goes on as if probe() had just said this: for what another engine object of the same server
  // found out.
  virtual void adopt(const Probe& /*probe*/) {}
  // Success only when a model really answers: a token was made, where that costs nobody anything.
  virtual base::Task<base::Status> ready(base::MonoTime deadline) = 0;
  // A token was made, whatever it costs: asked of a server whose sampling failed.
  virtual base::Task<base::Status> samples(base::MonoTime deadline) { return ready(deadline); }
  // Waits for the abort calls under way (each is bounded) and closes the kept connections.
  virtual base::Task<void> stop() = 0;
};

}  // namespace verbatim::engine
