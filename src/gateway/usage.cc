#include "gateway/usage.h"

namespace verbatim::gateway {

message::Usage usage_of(const trajectory::Turn& turn) {
  if (!turn.token_exact) return turn.usage.value_or(message::Usage{});
  return {turn.row_size - turn.completion.size(), turn.completion.size(), turn.cached_tokens};
}

message::Usage usage_of(std::span<const trajectory::TurnPtr> turns) {
  auto usage = usage_of(*turns.front());
  for (const auto& turn : turns.subspan(1))
    usage.completion_tokens += usage_of(*turn).completion_tokens;
  return usage;
}

}  // namespace verbatim::gateway
