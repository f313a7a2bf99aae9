#include "protocol/conversation.h"

#include "json/value.h"
#include "protocol/chat_history.h"
#include "protocol/messages_blocks.h"
#include "protocol/responses_items.h"
#include "protocol/typed.h"

namespace verbatim::protocol {

namespace {

base::Status check_placed(const Conversation& conversation) {
  for (const auto& message : conversation.messages) {
    const auto place = unknown_member(message, kUnplaced);
    if (place.empty()) continue;
    const auto field = json::Document::parse(std::string(place));
    return unsupported(field ? field->root().string() : std::string("input"),
                       "the engine's protocol has no place for it; leave it out, or serve the "
                       "engine in mode responses");
  }
  return {};
}

}  // namespace

base::Status check_conversation(Wire wire, const Conversation& conversation) {
  if (wire == Wire::kResponses) return check_responses(conversation);
  if (auto status = check_placed(conversation); !status.ok()) return status;
  return wire == Wire::kMessages ? check_messages(conversation) : base::Status();
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

bool is_reserved(std::string_view name) {
  return name == kItems || name == kContentBlocks || name == kUnplaced;
}

void drop_reserved(message::Message& message) {
  std::erase_if(message.unknown, [](const auto& member) { return is_reserved(member.first); });
}

}  // namespace verbatim::protocol
