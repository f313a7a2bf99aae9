#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace verbatim::message {

// What a stream parser reads out of sampled tokens, in order. Deltas joined are the whole; empty
// deltas are not sent.
struct ReasoningDelta {
  std::string text;
  bool operator==(const ReasoningDelta&) const = default;
};
struct TextDelta {
  std::string text;
  bool operator==(const TextDelta&) const = default;
};
// Starts call number `index` (0, 1, 2 ... within the turn). `native_id` is what the model wrote;
// empty where its format has no ids.
struct ToolCallStart {
  std::uint32_t index = 0;
  std::string native_id;
  std::string name;
  bool operator==(const ToolCallStart&) const = default;
};
// Grows the arguments of a call: JSON text, the model's own bytes where its format is JSON.
struct ToolCallArguments {
  std::uint32_t index = 0;
  std::string text;
  bool operator==(const ToolCallArguments&) const = default;
};
// The call is complete (its arguments are a whole JSON value). A call without this event was cut.
struct ToolCallEnd {
  std::uint32_t index = 0;
  bool operator==(const ToolCallEnd&) const = default;
};
// What comes next is an item of its own, which the engine knows by this id. Only from engines that
// answer in items; what follows is as without it.
struct ItemStart {
  std::string id;
  bool operator==(const ItemStart&) const = default;
};
using Event = std::variant<ReasoningDelta, TextDelta, ToolCallStart, ToolCallArguments, ToolCallEnd,
                           ItemStart>;
using Events = std::vector<Event>;

// Why a turn ended, as the client is told.
enum class FinishReason { kStop, kLength, kToolCalls };

}  // namespace verbatim::message
