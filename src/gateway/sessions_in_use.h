#pragma once

#include <coroutine>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/task.h"

namespace verbatim::gateway {

// Sessions with turns under way, and those whose last turn ended without a commit, of which the
// store has no time: while a model works for a session it is not idle, however long that takes. Of
// a turn and an expiry of one session, the one that is here first goes first: a session that is
// held is not claimed, and who holds one that is claimed waits until it is known what became of it.
// Shared by all executors; outlives them.
class SessionsInUse {
 public:
  // A turn is under way while this lives. Null: nobody asks.
  class Hold {
   public:
    Hold(SessionsInUse* sessions, base::Executor& executor, std::string session_id);
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold();
    // Until no expiry of the session is under way. What is looked up behind it stays.
    base::Task<void> entered();
    // No use of its own: the store knows the time, or another hold of the same turn does.
    void leaves_no_time() { leaves_time_ = false; }
    [[nodiscard]] const std::string& session_id() const { return session_id_; }

   private:
    SessionsInUse* sessions_;
    base::Executor& executor_;
    const std::string session_id_;
    bool leaves_time_ = true;
  };

  // An expiry begins, unless a turn is under way, or one ended at `ms` or later. Where it is true,
  // settle() follows.
  [[nodiscard]] bool claim(const std::string& session_id, std::int64_t ms);
  enum class Became { kExpired, kKept };
  void settle(const std::string& session_id, Became what);
  // Rises with each session that expired: what was looked up before may be gone.
  [[nodiscard]] std::uint64_t expiries();
  // Nobody will ask for times before `ms` any more.
  void forget_before(std::int64_t ms);
  [[nodiscard]] std::size_t remembered();

 private:
  struct Waiter {
    base::Executor* executor = nullptr;
    std::coroutine_handle<> turn;
  };
  struct Use {
    std::uint64_t turns = 0;    // under way
    std::int64_t ended_ms = 0;  // of the last that was not committed
    bool claimed = false;
    std::vector<Waiter> waiters;
    [[nodiscard]] bool idle_since(std::int64_t ms) const { return turns == 0 && ended_ms < ms; }
  };
  struct Entrance;
  void forget_unused(std::map<std::string, Use>::iterator use);

  std::mutex mutex_;
  std::map<std::string, Use> uses_;
  std::uint64_t expiries_ = 0;
};

}  // namespace verbatim::gateway
