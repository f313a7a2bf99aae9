// Any body is read or refused with a message; what is read obeys the ranges message::Sampling
// promises, and goes up over each protocol as JSON, or is refused there.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "protocol/chat_reader.h"
#include "protocol/chat_request.h"
#include "protocol/openai_error.h"

namespace {

using namespace verbatim;  // NOLINT(google-build-using-namespace)

void send_up(const std::string& body) {
  const auto request = protocol::read_chat_request(body, {.unserved = protocol::Unserved::kKeep});
  if (!request) return;
  protocol::Conversation conversation;
  conversation.model = "m";
  conversation.messages = request->messages;
  for (auto& message : conversation.messages) protocol::drop_reserved(message);
  for (const auto wire :
       {protocol::Wire::kChat, protocol::Wire::kResponses, protocol::Wire::kMessages}) {
    if (!protocol::check_conversation(wire, conversation).ok()) continue;
    if (!json::Document::parse(protocol::write_conversation(wire, conversation))) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string body(data, data + size);
  const auto request = verbatim::protocol::read_chat_request(body);
  if (!request) {
    if (request.error().message.empty()) std::abort();
    if (!verbatim::json::Document::parse(verbatim::protocol::openai_error_body(request.error()))) {
      std::abort();
    }
  } else {
    const auto& sampling = request->sampling;
    if (request->messages.empty()) std::abort();
    if (sampling.temperature && !(*sampling.temperature >= 0)) std::abort();
    if (sampling.top_p && !(*sampling.top_p > 0 && *sampling.top_p <= 1)) std::abort();
    if (sampling.max_tokens && *sampling.max_tokens == 0) std::abort();
  }
  verbatim::protocol::ChatStreamReader reader;
  verbatim::message::Events events;
  (void)reader.feed(body, events);
  (void)verbatim::protocol::read_chat_answer(body);
  send_up(body);
  return 0;
}
