#pragma once

#include <string>

#include "base/executor.h"
#include "base/random.h"
#include "base/result.h"

namespace verbatim::engine::pool {

struct HealthOptions {
  unsigned max_strikes = 3;  // failures in a row that open a cool-down
  // Time to the first check after a failure. Each failure behind it doubles the time, up to the
  // longest; a half of it is drawn, so that threads and gateways do not ask at once.
  base::Duration first_cooldown = std::chrono::seconds(1);
  base::Duration max_cooldown = std::chrono::seconds(30);
  // A busy replica is passed over for what its Retry-After says, at most max_busy; without one:
  base::Duration busy = std::chrono::seconds(1);
  base::Duration max_busy = std::chrono::seconds(10);
};

// What a failed request says of the replica that had it.
enum class Sign {
  kNothing,      // the request's own fault or fate: refused, given up, aborted
  kBusy,         // alive, and over its limit: 429, 503 or 529 with an answer
  kStrike,       // time-outs, cut or malformed answers, other 5xx
  kUnreachable,  // no connection came about: nothing was sent
  kSilent,       // no event in all the time that a turn has: nothing is sampled there
};
Sign sign_of(const base::Error& error);
// The same of one that failed before its first event, where a time-out weighs more.
Sign sign_before_first_event(const base::Error& error);

// How long a busy replica wants to be left alone: its Retry-After in seconds, within the options.
base::Duration busy_time(const base::Error& error, const HealthOptions& options);

// Whether a replica may be given requests, told by what became of earlier ones and by checks. No
// I/O: times come in. One replica's, on one executor.
class Health {
 public:
  enum class State {
    kUnasked,  // nothing is known of it: it has to be asked what it serves first
    kServing,
    kCooling,  // failed; a check may bring it back from cooled_at() on
    kKeptOut,  // serves something else than the pool
  };

  Health(const HealthOptions& options, base::Random& random) : options_(options), random_(random) {}

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] bool serving() const { return state_ == State::kServing; }
  [[nodiscard]] bool busy(base::MonoTime now) const { return now < busy_until_; }
  [[nodiscard]] unsigned strikes() const { return strikes_; }
  [[nodiscard]] base::MonoTime cooled_at() const { return cooled_at_; }
  // Why it does not serve; empty while it does.
  [[nodiscard]] const std::string& why() const { return why_; }

  // What a check must see before it may admit(): that it says what it serves or, once sampling
  // failed there, that it samples. GETs are answered long after sampling has stopped.
  enum class Needs { kGets, kToken };
  [[nodiscard]] Needs needs() const { return needs_; }

  // A check found it well, and serving what the pool serves.
  void admit();
  // A turn ended well: strikes are forgotten, a cool-down is over.
  void succeeded();
  // While it serves, counts; the last of max_strikes opens a cool-down. Requests that began before
  // that may still fail: they add nothing.
  void strike(const std::string& why, base::MonoTime now);
  void unreachable(const std::string& why, base::MonoTime now);
  // Opens a cool-down at once: three turns that each wait for their whole time are two too many.
  void silent(const std::string& why, base::MonoTime now);
  // A check failed: a strike where it serves, else a longer cool-down.
  void check_failed(const std::string& why, base::MonoTime now);
  void keep_out(std::string why);
  void mark_busy(base::MonoTime until) { busy_until_ = until; }

 private:
  void cool(const std::string& why, base::MonoTime now);

  const HealthOptions options_;
  base::Random& random_;
  State state_ = State::kUnasked;
  unsigned strikes_ = 0;
  unsigned cooldowns_ = 0;  // since a turn ended well
  Needs needs_ = Needs::kGets;
  base::MonoTime cooled_at_;
  base::MonoTime busy_until_;
  std::string why_ = "it was not asked yet";
};

}  // namespace verbatim::engine::pool
