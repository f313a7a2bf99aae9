#include "gateway/running_turns.h"

namespace verbatim::gateway {

RunningTurns::Entry::Entry(RunningTurns& turns, base::Executor& executor,
                           const std::string& session_id, base::CancelSignal& signal)
    : turns_(turns), turn_(std::make_shared<Turn>(executor, &signal)) {
  std::lock_guard lock(turns_.mutex_);
  at_ = turns_.turns_.emplace(session_id, turn_);
}

RunningTurns::Entry::~Entry() {
  turn_->signal = nullptr;
  std::lock_guard lock(turns_.mutex_);
  turns_.turns_.erase(at_);
}

void RunningTurns::end(const std::string& session_id, const char* reason) {
  std::lock_guard lock(mutex_);
  const auto [first, last] = turns_.equal_range(session_id);
  for (auto it = first; it != last; ++it) {
    it->second->executor.post([turn = it->second, reason] {
      if (turn->signal != nullptr) turn->signal->fire(reason);
    });
  }
}

}  // namespace verbatim::gateway
