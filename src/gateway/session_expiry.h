#pragma once

#include "base/cancel.h"
#include "gateway/recorder.h"
#include "gateway/sessions_in_use.h"
#include "store/store.h"

namespace verbatim::gateway {

// Deletes sessions to which nothing was committed for `ttl`, and for which no turn is under way or
// ended since. Whoever created them, and how. Reading keeps no session. A request that comes in
// that very moment keeps the session, or finds it gone: it never fails behind its work.
//
// Life: one per gateway, on one executor; run() until it is stopped.
class SessionExpiry {
 public:
  // Recorder: null where there are no record files.
  SessionExpiry(base::Executor& executor, store::Store& store, SessionsInUse& in_use,
                Recorder* recorder, base::Duration ttl)
      : executor_(executor), store_(store), in_use_(in_use), recorder_(recorder), ttl_(ttl) {}

  // Looks through all sessions again and again, at least ten times in each `ttl` where that is not
  // more often than each second.
  base::Task<void> run(base::CancelSignal& stop);
  // Once, or until it is stopped.
  base::Task<void> sweep(const base::CancelSignal& stop);
  [[nodiscard]] std::uint64_t expired() const { return expired_; }

 private:
  // `failed`: the store could not delete it.
  base::Task<void> expire(std::string id, std::int64_t before_ms, bool& failed);

  base::Executor& executor_;
  store::Store& store_;
  SessionsInUse& in_use_;
  Recorder* recorder_;
  const base::Duration ttl_;
  std::uint64_t expired_ = 0;
};

}  // namespace verbatim::gateway
