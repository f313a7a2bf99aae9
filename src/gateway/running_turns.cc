#include "gateway/running_turns.h"

#include <utility>

namespace verbatim::gateway {

RunningTurns::Entry::Entry(RunningTurns& turns, base::Executor& executor,
                           const std::string& session_id, base::CancelSignal& signal)
    : turns_(turns), shared_(std::make_shared<Shared>(Shared{executor, &signal})) {
  std::lock_guard lock(turns_.mutex_);
  place_ = turns_.entries_.emplace(session_id, shared_);
}

RunningTurns::Entry::~Entry() {
  shared_->signal = nullptr;
  std::lock_guard lock(turns_.mutex_);
  if (reserved_) turns_.reserved_.erase(place_->first);
  turns_.entries_.erase(place_);
}

void RunningTurns::Entry::release() {
  std::lock_guard lock(turns_.mutex_);
  if (std::exchange(reserved_, false)) turns_.reserved_.erase(place_->first);
}

bool RunningTurns::Entry::reserve() {
  std::lock_guard lock(turns_.mutex_);
  if (!turns_.reserved_.insert(place_->first).second) return false;
  reserved_ = true;
  return true;
}

void RunningTurns::cancel(const std::string& session_id) {
  std::lock_guard lock(mutex_);
  const auto [begin, end] = entries_.equal_range(session_id);
  for (auto it = begin; it != end; ++it) {
    // Posted: the turn belongs to its executor's thread, and may be over when the job runs.
    it->second->executor.post([shared = it->second] {
      if (shared->signal != nullptr) shared->signal->fire(kDeleted);
    });
  }
}

}  // namespace verbatim::gateway
