#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>

#include "base/cancel.h"
#include "base/executor.h"

namespace verbatim::gateway {

// The turns under way in sessions, so that deleting a session ends them at once instead of when
// their commit fails, and that a session of one line runs one at a time. Shared by all executors;
// outlives them.
class RunningTurns {
 public:
  // The reason with which signals are fired; told by its address, which an array has only one of.
  static constexpr char kDeleted[] = "the session was deleted";

  // One turn under way; lives on the executor of its turn.
  class Entry {
   public:
    Entry(RunningTurns& turns, base::Executor& executor, const std::string& session_id,
          base::CancelSignal& signal);
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    ~Entry();

    // Keeps other turns out of the session until this one is over or lets them in. False: another
    // one is in.
    [[nodiscard]] bool reserve();
    void release();

   private:
    friend class RunningTurns;
    struct Shared {
      base::Executor& executor;
      base::CancelSignal* signal;  // null: the turn is over; touched on the executor only
    };
    RunningTurns& turns_;
    std::shared_ptr<Shared> shared_;
    bool reserved_ = false;
    std::multimap<std::string, std::shared_ptr<Shared>>::iterator place_;
  };

  // Fires the signals of all turns of the session, each on its own executor. Thread-safe.
  void cancel(const std::string& session_id);

 private:
  std::mutex mutex_;
  std::unordered_set<std::string> reserved_;  // sessions
  std::multimap<std::string, std::shared_ptr<Entry::Shared>> entries_;
};

}  // namespace verbatim::gateway
