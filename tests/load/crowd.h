#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "load/agent.h"

namespace verbatim::load {

struct Plan {
  std::uint64_t sessions = 32;
  unsigned turns = 50;     // of each session
  bool uneven = false;     // from 1 to 2 * turns - 1 instead, as the number of the session has it
  std::uint64_t open = 0;  // sessions under way at a time; 0: all
  unsigned connections = 32;
  std::uint64_t revisit = 0;  // behind each end, the session that ended so many before has one more
  bool in_step = false;       // a turn of all sessions, then the next
  std::uint64_t every = 0;    // a report each so many turns; 0: none but those of steps
};

struct Progress {
  std::optional<unsigned> turn;                              // that all sessions have had, in step
  std::uint64_t answered = 0;                                // turns
  std::uint64_t ended = 0;                                   // sessions
  std::uint64_t tokens = 0, text_bytes = 0, body_bytes = 0;  // of those that ended, at their end
};

// Many agents at once. Agents take turns, the one that waits longest first.
class Crowd {
 public:
  using Tell = std::function<void(const Progress&)>;
  Crowd(Gateway& gateway, const Shape& shape, const Plan& plan, Tell tell);

  // Until all have ended, or the first error.
  base::Task<base::Status> run();
  [[nodiscard]] const Progress& progress() const { return progress_; }

 private:
  std::unique_ptr<Agent> take();
  base::Task<void> work();
  base::Task<base::Status> step(std::unique_ptr<Agent> agent);
  base::Task<base::Status> end(std::unique_ptr<Agent> agent);
  base::Task<void> work_in_step();
  base::Task<void> all(base::Task<void> (Crowd::*job)());
  void answered();

  Gateway& gateway_;
  const Shape& shape_;
  const Plan plan_;
  const Tell tell_;
  std::uint64_t begun_ = 0;
  std::deque<std::unique_ptr<Agent>> waiting_;
  std::deque<std::unique_ptr<Agent>> moved_;    // in step: those that had this turn
  std::deque<std::unique_ptr<Agent>> visited_;  // that ended, and will be gone on with
  Progress progress_;
  base::Status status_;
};

}  // namespace verbatim::load
