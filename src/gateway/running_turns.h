#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/cancel.h"
#include "base/executor.h"

namespace verbatim::gateway {

// The turns that are being sampled, by session: who deletes a session ends them. Shared by all
// executors, which must outlive it.
class RunningTurns {
 private:
  struct Turn {
    base::Executor& executor;
    base::CancelSignal* signal;  // null once the turn has ended; touched on its executor only
  };
  using Turns = std::multimap<std::string, std::shared_ptr<Turn>>;

 public:
  // One turn, for as long as it may be ended. Made and destroyed on the turn's executor.
  class Entry {
   public:
    Entry(RunningTurns& turns, base::Executor& executor, const std::string& session_id,
          base::CancelSignal& signal);
    Entry(const Entry&) = delete;
    ~Entry();

   private:
    RunningTurns& turns_;
    std::shared_ptr<Turn> turn_;
    Turns::iterator at_;
  };

  // Fires the signals of the session's turns, each on its executor. `reason` is a literal.
  void end(const std::string& session_id, const char* reason);

 private:
  std::mutex mutex_;
  Turns turns_;
};

}  // namespace verbatim::gateway
