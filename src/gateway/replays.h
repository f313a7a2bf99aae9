#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "gateway/doors.h"
#include "gateway/turn_log.h"
#include "net/http_types.h"

namespace verbatim::gateway {

// By what a request says that it may be the repeat of another (docs/guides/sessions.md).
struct RetryKey {
  std::string name;  // of the answer it asks for: owner and door, with the client's key or the body
  std::string body;  // digest
  bool by_key = false;   // Idempotency-Key: an answer that arrived is given again, too
  bool repeats = false;  // it may join another; else it is a new one of its name
};

// The key of a request; nothing where it has none. Error: an Idempotency-Key of the wrong form.
base::Result<std::optional<RetryKey>> retry_key(const net::Request& http, const Door& door);

struct ReplayLimits {
  std::size_t answers = 4096;                        // that are kept
  std::size_t bytes = std::size_t{64} << 20;         // of those that have ended
  base::Duration keeps = std::chrono::seconds(600);  // behind their end
};

// The answers that may be asked for once more: those that run, and those that ended lately. Over
// its limits the oldest that have ended go first. Shared by all executors; outlives them.
class Replays {
 public:
  explicit Replays(ReplayLimits limits = {}) : limits_(limits) {}

  // The answer that a request repeats; where there is none, `own` is one of its key from now on,
  // and comes back. By its Idempotency-Key there is one, for all that come with it; by its body as
  // many as were asked for, and a repeat takes one that no client reads: those of others that asked
  // the same are theirs. The caller reads what it gets. kConflict when the key came with another
  // body.
  base::Result<std::shared_ptr<TurnLog>> claim(const RetryKey& key, std::shared_ptr<TurnLog> own,
                                               base::MonoTime now);
  // `log` has ended. It stays for repeats, unless it failed, or its client has all of it and no
  // key.
  enum class Delivery { kWhole, kNot, kFailed };
  void ended(const RetryKey& key, const std::shared_ptr<TurnLog>& log, Delivery delivery,
             base::MonoTime now);

  // Forgets an answer that runs, so that none joins it any more. False: somebody reads it, or will,
  // or its turns go to the store already: it is kept for those who ask again.
  [[nodiscard]] bool give_up(const RetryKey& key, const std::shared_ptr<TurnLog>& log);

  [[nodiscard]] std::size_t size() const;

 private:
  struct Entry {
    std::shared_ptr<TurnLog> log;
    std::string body;
    std::uint64_t number = 0;
    base::MonoTime until = base::kNever;  // kNever: it runs
    std::size_t bytes = 0;
  };
  using Entries = std::multimap<std::string, Entry>;
  Entries::iterator find(const RetryKey& key, const std::shared_ptr<TurnLog>& log);
  void erase(Entries::iterator it);
  void shrink(base::MonoTime now);

  const ReplayLimits limits_;
  mutable std::mutex mutex_;
  Entries entries_;
  std::map<std::uint64_t, Entries::iterator> ended_;  // in the order of their ends
  std::uint64_t numbers_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace verbatim::gateway
