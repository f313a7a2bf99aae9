#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/shared_sequence.h"
#include "base/token.h"
#include "message/event.h"
#include "message/message.h"
#include "message/sampling.h"
#include "message/span.h"
#include "message/usage.h"
#include "trajectory/digest.h"

namespace verbatim::trajectory {

using base::TokenId;
using base::TokenIds;

using message::TokenSpan;

// Where a request first differs from a recorded conversation.
struct Difference {
  std::uint32_t message = 0;  // index in the request
  std::string field;          // "content", "tool_calls[1].function.arguments", "missing" ...
  bool operator==(const Difference&) const = default;
};

// How a turn found its place.
struct Attach {
  enum class Kind : std::uint8_t { kRoot, kChild };
  Kind kind = Kind::kRoot;
  std::string reason;      // root: "first", "history", "tools" ...; child: "history"
  bool ambiguous = false;  // several recorded turns matched equally well; the newest was taken
  // From the turn of its session committed last, where it does not go on behind that one.
  std::optional<Difference> difference = {};
  bool operator==(const Attach&) const = default;
};

struct WeightSpan {
  std::string version;
  std::uint64_t begin = 0;  // first completion id sampled with this version
  bool operator==(const WeightSpan&) const = default;
};

struct Times {
  std::int64_t received_ms = 0;     // wall clock
  std::int64_t committed_ms = 0;    // wall clock
  std::int64_t first_token_us = 0;  // since received
  std::int64_t total_us = 0;        // since received, to commit
  bool operator==(const Times&) const = default;
};

// What is the same for all turns of one root.
struct RootInfo {
  std::string model;
  std::string tokenizer;  // fingerprints, SHA-256 hex
  std::string chat_template;
  std::string encoding_policy;
  std::string family;
  std::vector<message::Tool> tools;
  bool operator==(const RootInfo&) const = default;
};

// How an engine's own rendering of the chat compares with the prompt of the turn, in ids.
struct RenderSkew {
  std::uint64_t rendered = 0;
  std::uint64_t sent = 0;
  std::uint64_t common = 0;  // of both, from the front
  bool operator==(const RenderSkew&) const = default;
};

// One answered request: a node of the tree. Holds what it added and shares its path with the turns
// above, so that memory grows with the conversation, not with its square. Immutable once committed;
// shared between threads.
struct Turn {
  Turn() = default;
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn();  // frees a long line of parents without recursion

  std::uint64_t id = 0;   // random; named by records and exports
  std::uint64_t seq = 0;  // order of commits within the session, from 1; given by the store
  // The turn that opened this line of the tree: of several children of a turn, the first goes on
  // with its branch. Given by the store.
  std::uint64_t branch = 0;
  std::uint32_t choice = 0;  // among the answers to one request, from 0
  std::string session_id;
  std::shared_ptr<const Turn> parent;  // null: a root
  std::shared_ptr<const RootInfo> root;

  std::vector<message::Message> messages;  // what the request added
  message::Message answer;
  std::uint32_t message_count = 0;  // of the conversation with the answer

  std::uint32_t parent_trim =
      0;  // ids of the parent's completion that this prompt drops, at most the family's max_trim
  TokenIds prompt;               // behind the parent's prompt and completion
  std::vector<TokenSpan> spans;  // tile `prompt`
  TokenIds completion;           // as sampled, up to and with the stop id
  std::vector<double> logprobs;  // natural logs, one per completion id
  TokenIds discarded;            // sampled past the stop
  std::vector<double> discarded_logprobs;
  std::uint64_t row_size = 0;  // ids of the whole row: prompt and completion from the root on

  // The path in few pieces of memory, shared with the turns above: see join_path().
  base::SharedSequence<TokenId> path_prompt;  // prompt ids from the root on
  base::SharedSequence<char> path_letters;    // all messages, the answer included (letters.h)

  message::FinishReason finish = message::FinishReason::kStop;
  std::string engine_finish;    // the engine's own word
  bool closed = false;          // the completion ends with a close id
  bool reasoning_open = false;  // the completion ends inside reasoning

  Digest root_digest;  // of the empty history below which it may be found
  Digest digest;       // of the history up to and with the answer
  Attach attach;
  // By messages there are no ids, and no prompt that could be told: such turns are no samples.
  bool token_exact = true;
  std::optional<message::Usage> usage;  // as the engine counted, where there are no ids
  std::string engine_kind;
  std::string engine_mode;
  std::optional<RenderSkew> render_skew;  // where the engine rendered the chat too
  std::string engine_version;
  std::string engine_url;         // of the engine, or the replica, that sampled
  std::string engine_request_id;  // the engine's x-request-id, where it is not request_id
  std::vector<WeightSpan> weight_versions;
  std::optional<std::uint64_t> cached_tokens;
  message::Sampling sampling;        // as asked
  std::uint64_t max_new_tokens = 0;  // as sent
  std::string template_kwargs;       // JSON object as sent; empty: none
  std::string request_id;            // ours, or the client's x-request-id
  std::string completion_id;         // "chatcmpl-...", as the client saw it
  std::string thread_id;             // the client's x-thread-id
  Times times;
};
using TurnPtr = std::shared_ptr<const Turn>;

// Bytes of memory a turn holds beside its root, about: for limits.
std::size_t footprint(const Turn& turn);
std::size_t footprint(const RootInfo& root);
// The root's, where the turn does not share it with its parent; else 0.
std::size_t own_root_footprint(const Turn& turn);

// Ids that a turn adds to its path: behind the parent's row, and sampled.
std::uint64_t added_tokens(const Turn& turn);

// Fills in `path_prompt` and `path_letters` from the parent and what the turn holds itself. Once,
// before others see the turn: stores do it with every turn they take in.
void join_path(Turn& turn);

// Turns from the root down to `leaf`.
std::vector<TurnPtr> path_to(const TurnPtr& leaf);

// The row of a turn: all ids from the root on, its completion included; and its prompt alone.
TokenIds row_of(const TurnPtr& leaf);
TokenIds prompt_of(const TurnPtr& leaf);

// The messages of the conversation from the root on, the answer of `leaf` included.
std::vector<message::Message> messages_of(const TurnPtr& leaf);

}  // namespace verbatim::trajectory
