#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/runtime.h"
#include "net/http_server.h"
#include "sim/behaviour.h"
#include "sim/call.h"
#include "sim/face_kind.h"
#include "sim/faults.h"
#include "sim/sampler.h"
#include "sim/script.h"
#include "sim/streaming.h"
#include "tokenizer/tokenizer.h"

namespace verbatim::sim {

struct SimOptions {
  FaceKind face = FaceKind::kSglang;
  std::string profile;  // the release that is played; empty: the face's default. See face_kind.h
  // vLLM: started with --enable-scale-out; Dynamo: with its generate route on. Without, 404.
  bool token_routes = true;
  bool message_routes = true;  // POST /v1/responses and /v1/messages; without, 404
  bool parsers = true;  // Dynamo: what is sampled for messages is read into reasoning and calls
  // By messages: the template ends prompts inside reasoning, unless enable_thinking is false.
  bool reasoning_open = false;
  bool nvext = true;  // Dynamo: false drops every extension without a word
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer;
  std::uint64_t vocab_size = 0;  // of the model; 0: the tokenizer's
  std::string model = "sim";
  std::string weight_version = "default";
  std::uint64_t max_model_len = 32768;
  // Ends each turn; absent: <|im_end|> where the vocabulary has it, else the request's first stop
  // id.
  std::optional<TokenId> stop_id;
  std::optional<Script> script;  // first; behind its end, or without one:
  // What the model does for a request; absent: `behaviour`.
  std::function<Reply(const GenerateCall&, base::Random&)> author;
  Behaviour behaviour = Behaviour::kCallFirstToolThenAnswer;
  std::string fixed_text = "All is well.";
  std::uint64_t seed = 1;
  Streaming streaming = Streaming::kCumulative;  // SGLang
  std::size_t ids_per_event = 1;                 // at most; drawn for each event
  base::Duration delay{0};                       // before the first id
  base::Duration token_delay{0};                 // for each id
  FaultRates faults;
  bool healthy = true;     // see set_healthy()
  bool hangs = false;      // see set_hanging()
  bool keeps_log = false;  // of all it served, see served()
  net::ServerOptions server{.name = "uvicorn"};
  // Sees each accepted request and what will be sampled for it, before a fault spoils the answer.
  std::function<void(const GenerateCall&, const Completion&, std::optional<Fault>)> on_planned;
};

// What became of one request for a completion: the truth that records are compared with.
struct Served {
  std::string rid;
  std::optional<std::int64_t> seed;  // of the request
  TokenIds prompt;
  TokenIds ids;                  // sampled; the first `sent` of them were put into the answer
  std::vector<double> logprobs;  // one per id
  std::size_t sent = 0;
  bool whole = false;          // the last event, or the whole body, was among it
  std::string weights;         // the version named in the answer
  std::optional<Fault> fault;  // that was to strike
  bool fault_fired = false;
  bool stopped = false;  // aborted, by id or because the client hung up
  bool ended = false;
  base::MonoTime last_sent;  // when ids were put into the answer last
  base::MonoTime end;
};

struct SimStats {
  std::uint64_t requests = 0;  // for completions
  std::uint64_t running = 0;
  std::uint64_t finished = 0;          // answered whole, as far as the engine knows
  std::uint64_t refused = 0;           // 400 for a bad or too long request
  std::uint64_t abort_calls = 0;       // aborts by id that were asked for
  std::uint64_t aborted_by_id = 0;     // requests that such a call ended
  std::uint64_t aborted_by_close = 0;  // requests whose client hung up
  std::uint64_t prompt_tokens = 0;
  std::uint64_t completion_tokens = 0;  // sent
  FaultCounts faults{};
};

// An inference engine without a model: speaks the wire of a real one, samples ids that are
// deliberately not the canonical encoding of their text, can be scripted, slowed down and broken.
// Everything it draws comes from its seed and the order of its requests. Serves GET /sim/stats.
// Which wire: see face_kind.h and the directory of the face.
// Life: created, start()ed, stop()ped to the end, destroyed; on one executor.
class SimEngine {
 public:
  SimEngine(base::Runtime& runtime, SimOptions options);
  SimEngine(const SimEngine&) = delete;
  ~SimEngine();

  base::Result<std::uint16_t> start(const std::string& host, std::uint16_t port);
  base::Task<void> stop();

  [[nodiscard]] const SimStats& stats() const;
  // What it served so far, in order of arrival; with `keeps_log`. Entries grow while they run.
  [[nodiscard]] const std::deque<Served>& served() const;
  // Unhealthy engines answer /health with 503; Dynamo's frontend stays healthy and has no worker.
  void set_healthy(bool healthy);
  // An engine that hangs (asleep, or its scheduler dead) still answers what needs no token.
  void set_hanging(bool hangs);
  void set_weight_version(std::string version);

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace verbatim::sim
