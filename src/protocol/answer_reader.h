#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "message/event.h"
#include "message/usage.h"
#include "protocol/conversation.h"

namespace verbatim::protocol {

// How an answer ended.
struct AnswerEnd {
  message::FinishReason finish = message::FinishReason::kStop;  // by the server's word alone
  std::string word;                                             // the server's
  std::optional<message::Usage> usage;                          // absent: it did not say
  std::vector<RawMember> unknown;  // of the message: what no event says, for Message::unknown
};

// Reads one answer of a server to a conversation, whole or as a stream, and believes nothing.
// Errors (kEngine) name the field; an error that the server reports is the caller's to find. Life:
// one per answer; after an error or finish() it is spent.
class AnswerReader {
 public:
  virtual ~AnswerReader() = default;
  // One object: a whole answer, or the data of an event. Appends what it says that is new.
  virtual base::Status feed(const json::Value& object, message::Events& out) = 0;
  // The server said how it ended: nothing is left to be sampled.
  [[nodiscard]] virtual bool finished() const = 0;
  // The answer is whole, by an event or a body that only stands at its end. Chat has none: there
  // [DONE] ends a stream.
  [[nodiscard]] virtual bool ended() const = 0;
  // The proved end, asked once, behind [DONE] or where ended(). Fails where the answer is not
  // whole, or ended in a way that is no answer.
  virtual base::Result<AnswerEnd> finish() = 0;
};

std::unique_ptr<AnswerReader> make_answer_reader(Wire wire);

// The finish of a word; an error where it means no answer.
struct FinishWord {
  std::string_view word;
  message::FinishReason finish;
};

}  // namespace verbatim::protocol
