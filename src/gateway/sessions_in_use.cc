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
  if (leaves_time_) use.ended_ms = std::max(use.ended_ms, executor_.clock().wall_ms());
  --use.turns;
  sessions_->forget_unused(it);
}

// co_await: until the session is not claimed.
struct SessionsInUse::Entrance {
  SessionsInUse& sessions;
  const std::string& session_id;
  base::Executor& executor;

  [[nodiscard]] bool await_ready() const { return false; }
  bool await_suspend(std::coroutine_handle<> turn) {
    std::lock_guard lock(sessions.mutex_);
    Use& use = sessions.uses_[session_id];
    if (use.claimed) use.waiters.push_back({&executor, turn});
    return use.claimed;
  }
  void await_resume() const {}
};

base::Task<void> SessionsInUse::Hold::entered() {
  if (sessions_ == nullptr) co_return;
  Entrance entrance{*sessions_, session_id_, executor_};
  co_await entrance;
}

bool SessionsInUse::claim(const std::string& session_id, std::int64_t ms) {
  std::lock_guard lock(mutex_);
  Use& use = uses_[session_id];
  if (!use.idle_since(ms) || use.claimed) return false;
  use.claimed = true;
  return true;
}

void SessionsInUse::settle(const std::string& session_id, Became what) {
  std::vector<Waiter> waiters;
  {
    std::lock_guard lock(mutex_);
    if (what == Became::kExpired) ++expiries_;
    const auto it = uses_.find(session_id);
    it->second.claimed = false;
    waiters.swap(it->second.waiters);
    // Of the one that is gone nothing is left; another one may have its name from here on.
    if (what == Became::kExpired) it->second.ended_ms = 0;
    forget_unused(it);
  }
  for (const auto& [executor, turn] : waiters) executor->post([turn = turn] { turn.resume(); });
}

std::uint64_t SessionsInUse::expiries() {
  std::lock_guard lock(mutex_);
  return expiries_;
}

void SessionsInUse::forget_unused(std::map<std::string, Use>::iterator use) {
  if (use->second.turns == 0 && use->second.ended_ms == 0 && !use->second.claimed) uses_.erase(use);
}

void SessionsInUse::forget_before(std::int64_t ms) {
  std::lock_guard lock(mutex_);
  std::erase_if(uses_, [ms](const auto& entry) {
    return entry.second.idle_since(ms) && !entry.second.claimed;
  });
}

std::size_t SessionsInUse::remembered() {
  std::lock_guard lock(mutex_);
  return uses_.size();
}

}  // namespace verbatim::gateway
