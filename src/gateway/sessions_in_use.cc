#include "gateway/sessions_in_use.h"

#include <algorithm>

namespace verbatim::gateway {

SessionsInUse::Hold::Hold(SessionsInUse* sessions, base::Executor& executor, std::string session_id)
    : sessions_(sessions), executor_(executor), session_id_(std::move(session_id)) {
  if (sessions_ == nullptr) return;
  std::lock_guard lock(sessions_->mutex_);
  ++sessions_->uses_[session_id_].turns;
}

SessionsInUse::Hold::~Hold() {
  if (sessions_ == nullptr) return;
  std::lock_guard lock(sessions_->mutex_);
  const auto it = sessions_->uses_.find(session_id_);
  Use& use = it->second;
  if (!committed_) use.ended_ms = std::max(use.ended_ms, executor_.clock().wall_ms());
  if (--use.turns == 0 && use.ended_ms == 0) sessions_->uses_.erase(it);
}

bool SessionsInUse::used_since(const std::string& session_id, std::int64_t ms) {
  std::lock_guard lock(mutex_);
  const auto it = uses_.find(session_id);
  return it != uses_.end() && (it->second.turns > 0 || it->second.ended_ms >= ms);
}

void SessionsInUse::forget_before(std::int64_t ms) {
  std::lock_guard lock(mutex_);
  std::erase_if(uses_, [ms](const auto& entry) {
    return entry.second.turns == 0 && entry.second.ended_ms < ms;
  });
}

std::size_t SessionsInUse::remembered() {
  std::lock_guard lock(mutex_);
  return uses_.size();
}

}  // namespace verbatim::gateway
