#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "base/executor.h"

namespace verbatim::gateway {

// Sessions with turns under way, and those whose last turn ended without a commit, of which the
// store has no time: while a model works for a session it is not idle, however long that takes.
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
    // The store knows the time.
    void committed() { committed_ = true; }

   private:
    SessionsInUse* sessions_;
    base::Executor& executor_;
    const std::string session_id_;
    bool committed_ = false;
  };

  // Is a turn under way, or did one end at `ms` or later?
  [[nodiscard]] bool used_since(const std::string& session_id, std::int64_t ms);
  // Nobody will ask for times before `ms` any more.
  void forget_before(std::int64_t ms);
  [[nodiscard]] std::size_t remembered();

 private:
  struct Use {
    std::uint64_t turns = 0;    // under way
    std::int64_t ended_ms = 0;  // of the last that was not committed
  };
  std::mutex mutex_;
  std::map<std::string, Use> uses_;
};

}  // namespace verbatim::gateway
