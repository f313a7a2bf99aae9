#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <string_view>

#include "base/executor.h"

namespace verbatim::gateway {

// Where the time of a request goes: one behind the other, so that they add up to the whole of it.
enum class Stage : std::size_t {
  kRead,        // the body
  kPlan,        // the session, where it attaches; waits for the store
  kRender,      // of what is new: text, then ids
  kFirstToken,  // the engine, until its first ids are here: its queue and its prompt
  kSampling,    // the engine, behind them
  kParse,       // sampled ids into text, reasoning and calls
  kWrite,       // until the client has taken them
  kCommit,      // until the store has the turn: its queue and its sync
  kRecord,      // its line in the record
};
inline constexpr std::size_t kStages = 9;
inline constexpr std::array<std::string_view, kStages> kStageNames = {
    "read", "plan", "render", "first_token", "sampling", "parse", "write", "commit", "record"};

// Measures stages. Without a clock it measures nothing.
class StopWatch {
 public:
  StopWatch() = default;
  explicit StopWatch(const base::Clock& clock)
      : clock_(&clock), begun_(clock.now()), last_(begun_) {}

  // The time since the last lap was this stage's.
  void lap(Stage stage) {
    if (clock_ == nullptr) return;
    const auto now = clock_->now();
    const auto i = static_cast<std::size_t>(stage);
    spent_[i] += now - last_;
    seen_.set(i);
    last_ = now;
  }
  // The time since the last lap was nobody's.
  void skip() {
    if (clock_ != nullptr) last_ = clock_->now();
  }
  // One of several parts that ran side by side: of each stage the longest counts.
  void join(const StopWatch& part) {
    for (std::size_t i = 0; i < kStages; ++i) spent_[i] = std::max(spent_[i], part.spent_[i]);
    seen_ |= part.seen_;
    last_ = std::max(last_, part.last_);
  }

  [[nodiscard]] bool seen(Stage stage) const { return seen_[static_cast<std::size_t>(stage)]; }
  [[nodiscard]] base::Duration spent(Stage stage) const {
    return spent_[static_cast<std::size_t>(stage)];
  }
  [[nodiscard]] base::Duration whole() const {
    return clock_ == nullptr ? base::Duration() : clock_->now() - begun_;
  }

 private:
  const base::Clock* clock_ = nullptr;
  base::MonoTime begun_;
  base::MonoTime last_;
  std::array<base::Duration, kStages> spent_{};
  std::bitset<kStages> seen_;
};

}  // namespace verbatim::gateway
