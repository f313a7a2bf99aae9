#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "message/event.h"
#include "message/usage.h"
#include "protocol/chat_answer.h"

namespace verbatim::protocol {

// Writes the events of one turn (one choice of an answer) as chat.completion.chunk objects. What
// comes out are payloads for `data:` lines, in order, the end mark "[DONE]" included; framing is
// the caller's.
//
// Order: role once, deltas, finish once, usage with empty choices (where asked for), [DONE]. Of
// several choices each has an emitter; their chunks may mix, and end() comes once. The
// first delta of a call has id and name, later ones only arguments.
// Life: one per turn; after finish() or fail() it is spent. Not thread-safe.
// Format: OpenAI API reference, "The chat completion chunk object".
class ChatStreamEmitter {
 public:
  struct Options {
    bool include_usage = false;
    bool logprobs = false;    // tokens are shown; each chunk carries those sampled since the last
    std::uint32_t index = 0;  // of the choice
  };
  ChatStreamEmitter(const ChatHead& head, const Options& options);

  // Events of one chunk of tokens, with the tokens. ToolCallStart::native_id must be the id that
  // the client is to see. Tokens whose text is held back go with the next delta, or the finish.
  void events(std::span<const message::Event> events, std::span<const TokenLogprob> tokens,
              std::vector<std::string>& out);
  // The role alone: sent at once when the stream opens, so that the client sees life.
  void open(std::vector<std::string>& out);
  void finish(message::FinishReason reason, const message::Usage& usage,
              std::vector<std::string>& out) {
    finish(reason, out);
    end(usage, out);
  }
  void finish(message::FinishReason reason, std::vector<std::string>& out);
  // Behind the finish of all choices.
  void end(const message::Usage& usage, std::vector<std::string>& out);
  // The turn fails after the stream began: an error event and the end mark, never a finish reason.
  void fail(const base::Error& error, std::vector<std::string>& out);

 private:
  std::string chunk(std::string_view delta, std::string_view finish);

  Options options_;
  std::string head_;  // `{"id":...,"model":...`, the same in each chunk
  bool opened_ = false;
  std::vector<TokenLogprob> pending_;
};

}  // namespace verbatim::protocol
