#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "message/message.h"

namespace verbatim::protocol {

// Of a request. Three for each turn of a session of 20,000.
inline constexpr std::size_t kMaxMessages = 60'000;

// What becomes of content parts that are no text.
enum class Parts {
  kRefused,  // kUnsupported, naming the part
  kKept,     // they go up as they are: message::parts_of
};

// Reads `messages` of a chat request. Text parts are joined with `part_separator`.
base::Result<std::vector<message::Message>> read_chat_messages(const json::Value& value,
                                                               std::string_view part_separator,
                                                               Parts parts = Parts::kRefused);

// Reads `tools`: function tools, each kept as it was sent.
base::Result<std::vector<message::Tool>> read_chat_tools(const json::Value& value);

}  // namespace verbatim::protocol
