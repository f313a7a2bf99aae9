#pragma once

#include <cstdint>

namespace verbatim::message {

// Who a run of prompt ids comes from.
enum class SpanSource : std::uint8_t {
  kTemplate,   // text of the chat template
  kTools,      // the tools list
  kArguments,  // template arguments of the request
  kMessage,    // a field of a message
  kOpener,     // the generation prompt: template text behind the last message
  kClose,      // synthetic close of the parent's completion
  kBoundary,   // template text between the parent's close token and the next message (a newline)
};

enum class Field : std::uint8_t {
  kNone,
  kText,
  kReasoning,
  kCallName,
  kCallArguments,
  kCallId,
  kName,
  kOther
};

// A run of `count` prompt ids with one source. The spans of a prompt tile it.
struct TokenSpan {
  static constexpr std::uint32_t kNoMessage = UINT32_MAX;
  std::uint32_t count = 0;
  SpanSource source = SpanSource::kTemplate;
  Field field = Field::kNone;  // kMessage: which field
  // kMessage: which message, counted over the conversation. kTemplate: the message that the text
  // introduces or closes.
  std::uint32_t message = kNoMessage;
  bool operator==(const TokenSpan&) const = default;
};

}  // namespace verbatim::message
