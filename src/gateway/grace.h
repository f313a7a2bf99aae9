#pragma once

#include <functional>
#include <memory>

#include "base/cancel.h"
#include "base/executor.h"
#include "base/timer.h"

namespace verbatim::gateway {

// Gives turns that nobody reads any more some time before they are given up: a client may ask for
// their answer again. On the executor of the turns; its callback may be called from any thread,
// also when it is gone.
class Grace {
 public:
  Grace(base::Executor& executor, base::Duration grace, base::CancelSignal& turns);
  Grace(const Grace&) = delete;
  Grace& operator=(const Grace&) = delete;
  ~Grace();

  // Tells that the last reader has left.
  [[nodiscard]] std::function<void()> on_abandoned() const;
  base::Duration time;
  // At the end of the time this is asked: is it time to give the turns up, since nobody reads
  // again?
  std::function<bool()> give_up;

 private:
  struct Shared {
    base::Executor& executor;
    Grace* grace;  // null: it is gone; touched on the executor only
  };
  void begin();

  base::Executor& executor_;
  base::CancelSignal& turns_;
  base::Timer timer_;
  std::shared_ptr<Shared> shared_;
};

}  // namespace verbatim::gateway
