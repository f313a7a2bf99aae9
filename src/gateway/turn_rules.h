#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "trajectory/attach.h"

namespace verbatim::gateway {

// Which requests a session takes (docs/design.md 4).
enum class SessionMode {
  kTree,    // any: what does not go on behind a recorded turn is a new root
  kLinear,  // those that go on behind the turn committed last, or take its place
  kStrict,  // those that go on behind the turn committed last
};
inline constexpr std::size_t kSessionModes = 3;

// What becomes of recorded reasoning in later prompts (docs/design.md 5).
enum class Retention {
  kKeep,
  kTemplate,  // where the template would drop it, the conversation is rendered anew
};

// What a session demands of each of its turns.
struct TurnRules {
  SessionMode mode = SessionMode::kTree;
  trajectory::Equality equality = trajectory::Equality::kValue;
  Retention retention = Retention::kKeep;
  bool operator==(const TurnRules&) const = default;
};

}  // namespace verbatim::gateway
