// Lines of JSON are fed to the readers of all protocols, as a server's events. Whatever comes, the
// events fold, what is kept is JSON, and an answer that was believed can be sent back.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "message/fold.h"
#include "protocol/answer_reader.h"
#include "protocol/messages_input.h"
#include "protocol/responses_input.h"

namespace {

using namespace verbatim;  // NOLINT(google-build-using-namespace)

void require_json(const std::string& text) {
  if (!json::Document::parse(text).ok()) std::abort();
}

void send_back(protocol::Wire wire, const message::Folded& turn, const protocol::AnswerEnd& end) {
  protocol::Conversation conversation;
  conversation.model = "m";
  conversation.messages = {{.role = message::Role::kUser, .text = "x"}, turn.to_message()};
  conversation.messages[1].unknown = end.unknown;
  for (const auto& [name, raw] : end.unknown) require_json(raw);
  if (protocol::check_conversation(wire, conversation).ok())
    require_json(protocol::write_conversation(wire, conversation));
}

void read(protocol::Wire wire, std::string_view lines) {
  const auto reader = protocol::make_answer_reader(wire);
  message::Folded turn;
  while (!lines.empty()) {
    const auto line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    const auto document = json::Document::parse(std::string(line));
    if (!document.ok()) return;
    message::Events events;
    if (!reader->feed(document->root(), events).ok()) return;
    for (const auto& event : events) turn.add(event);
    if (reader->ended()) break;
  }
  const auto end = reader->finish();
  if (end.ok()) send_back(wire, turn, *end);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  for (const auto wire :
       {protocol::Wire::kChat, protocol::Wire::kResponses, protocol::Wire::kMessages})
    read(wire, text);
  if (const auto document = json::Document::parse(text); document.ok()) {
    const auto input = protocol::read_input(document->root());
    if (!input.ok() && input.error().message.empty()) std::abort();
    if (document->root().is_object()) (void)protocol::read_messages_input(document->root());
  }
  return 0;
}
