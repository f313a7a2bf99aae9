#include "trajectory/difference.h"

#include <algorithm>
#include <string>

#include "trajectory/equality.h"

namespace verbatim::trajectory {
namespace {

using message::Message;

// The field in which two messages differ first; empty: in none.
std::string field_of_difference(const Message& stored, const Message& sent,
                                const Spelling* spelling) {
  if (stored.role != sent.role) return "role";
  if (match_texts(stored, sent, spelling) == Match::kDifferent) return "content";
  if (!same_parts(stored, sent)) return "content";
  if (stored.name != sent.name) return "name";
  if (match_reasoning(stored, sent) == ReasoningMatch::kDifferent) return "reasoning_content";
  const std::size_t calls = std::min(stored.tool_calls.size(), sent.tool_calls.size());
  for (std::size_t i = 0; i < calls; ++i) {
    const auto& ours = stored.tool_calls[i];
    const auto& theirs = sent.tool_calls[i];
    const std::string place = "tool_calls[" + std::to_string(i) + "].function.";
    if (ours.name != theirs.name) return place + "name";
    if (match_arguments(ours, theirs, spelling) == Match::kDifferent) return place + "arguments";
  }
  return stored.tool_calls.size() == sent.tool_calls.size() ? "" : "tool_calls";
}

// Compares message after message of a history with a request.
class Comparison {
 public:
  Comparison(std::span<const Message> sent, const Spelling* spelling)
      : sent_(sent), spelling_(spelling) {}

  // Is the next message the request's? Else `difference` says where it is not.
  bool next(const Message& stored) {
    std::string field =
        at_ < sent_.size() ? field_of_difference(stored, sent_[at_], spelling_) : "missing";
    if (!field.empty()) {
      difference = Difference{static_cast<std::uint32_t>(at_), std::move(field)};
      return false;
    }
    ++at_;
    return true;
  }

  std::optional<Difference> difference;

 private:
  std::span<const Message> sent_;
  const Spelling* spelling_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<Difference> first_difference(const TurnPtr& leaf, std::span<const Message> sent,
                                           const Spelling* spelling) {
  Comparison comparison(sent, spelling);
  for (const auto& turn : path_to(leaf)) {
    for (const auto& message : turn->messages) {
      if (!comparison.next(message)) return comparison.difference;
    }
    if (!comparison.next(turn->answer)) return comparison.difference;
  }
  return {};
}

}  // namespace verbatim::trajectory
