#include "protocol/conversation.h"

#include "protocol/chat_history.h"
#include "protocol/messages_blocks.h"
#include "protocol/responses_items.h"

namespace verbatim::protocol {

base::Status check_conversation(Wire wire, const Conversation& conversation) {
  switch (wire) {
    case Wire::kResponses:
      return check_responses(conversation);
    case Wire::kMessages:
      return check_messages(conversation);
    case Wire::kChat:
      break;
  }
  return {};
}

std::string write_conversation(Wire wire, const Conversation& conversation, Silent functions) {
  switch (wire) {
    case Wire::kResponses:
      return write_responses_request(conversation, functions);
    case Wire::kMessages:
      return write_messages_request(conversation);
    case Wire::kChat:
      break;
  }
  return write_chat_request(conversation);
}

std::string_view unknown_member(const message::Message& message, std::string_view name) {
  for (const auto& [known, raw] : message.unknown) {
    if (known == name) return raw;
  }
  return {};
}

void drop_reserved(message::Message& message) {
  std::erase_if(message.unknown, [](const auto& member) {
    return member.first == kOutputItems || member.first == kContentBlocks;
  });
}

}  // namespace verbatim::protocol
