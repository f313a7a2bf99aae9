#pragma once

#include <memory>
#include <string_view>

#include "chat/parsers/parser.h"

namespace verbatim::chat::parsers {

// Qwen 2.5 and 3, Hermes 2 and 3, QwQ: `<think>` reasoning first, then text with calls
// `<tool_call>\n{"name": ..., "arguments": {...}}\n</tool_call>` in it.
// Source: the chat templates of these models; tests/cases/README.md "Rules behind the right
// answers".
inline constexpr std::string_view kHermesMarkers[] = {"<think>", "</think>", "<tool_call>",
                                                      "</tool_call>"};

std::unique_ptr<Parser> make_hermes(const TurnStart& start);

}  // namespace verbatim::chat::parsers
