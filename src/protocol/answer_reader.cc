#include "protocol/answer_reader.h"

#include "protocol/chat_answer_reader.h"
#include "protocol/messages_reader.h"
#include "protocol/responses_reader.h"

namespace verbatim::protocol {

std::unique_ptr<AnswerReader> make_answer_reader(Wire wire) {
  switch (wire) {
    case Wire::kResponses:
      return std::make_unique<ResponsesReader>();
    case Wire::kMessages:
      return std::make_unique<MessagesReader>();
    case Wire::kChat:
      break;
  }
  return std::make_unique<ChatAnswerReader>();
}

}  // namespace verbatim::protocol
