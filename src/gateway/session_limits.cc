#include "gateway/session_limits.h"

#include <algorithm>
#include <string>

namespace verbatim::gateway {

namespace {

base::Error over(const char* limit, const std::string& used, std::uint64_t allowed) {
  auto failure = base::error(base::ErrorKind::kInvalidRequest,
                             "the session has " + used + ", its limits." + limit + " is " +
                                 std::to_string(allowed) + ": go on in another session");
  failure.code = "session_limit";
  return failure;
}

}  // namespace

base::Status check_limits(const SessionLimits& limits, const SessionUsed& used) {
  const auto& info = used.info;
  if (limits.turns && info.turns + used.choices > *limits.turns) {
    std::string turns = std::to_string(info.turns) + " turns";
    if (used.choices > 1) turns += ", and the request would add " + std::to_string(used.choices);
    return over("turns", turns, *limits.turns);
  }
  if (limits.tokens && info.tokens >= *limits.tokens)
    return over("tokens", std::to_string(info.tokens) + " tokens", *limits.tokens);
  if (limits.bytes && info.bytes >= *limits.bytes)
    return over("bytes", std::to_string(info.bytes) + " bytes", *limits.bytes);
  const auto age = static_cast<std::uint64_t>(
      std::max<std::int64_t>(used.now_ms - info.spec->created_ms, 0) / 1000);
  if (limits.seconds && age >= *limits.seconds)
    return over("seconds", "an age of " + std::to_string(age) + " s", *limits.seconds);
  return {};
}

}  // namespace verbatim::gateway
