#pragma once

#include <string_view>

#include "engine/engine.h"
#include "protocol/conversation.h"

namespace verbatim::engine {

// A way to drive a kind of engine.
struct Mode {
  std::string_view name;
  std::string_view since;  // first release that has it: "0.18"; empty: all that are known
  std::string_view route;
  bool ids_are_plain = false;  // a server of this kind can't read anything but the ids there
  bool switched = false;       // the route is there only where the server was told so
  bool floats = false;         // logprobs are 32-bit floats on this wire
  Path path = Path::kTokens;
  protocol::Wire wire = protocol::Wire::kChat;  // kMessages: in which the conversation goes up
  std::string_view flag;  // of the server, that switches the route on; empty: none is known
};

constexpr Mode by_messages(std::string_view name, std::string_view route, protocol::Wire wire) {
  return {name, "", route, false, false, false, Path::kMessages, wire, ""};
}
// The modes of the message path; kinds name that over chat differently.
constexpr Mode chat_by_messages(std::string_view name) {
  return by_messages(name, "/v1/chat/completions", protocol::Wire::kChat);
}
inline constexpr Mode kResponsesMode =
    by_messages("responses", "/v1/responses", protocol::Wire::kResponses);
inline constexpr Mode kMessagesMode =
    by_messages("messages", "/v1/messages", protocol::Wire::kMessages);
constexpr Mode switched_on_by(std::string_view flag, Mode mode) {
  mode.flag = flag;
  return mode;
}

}  // namespace verbatim::engine
