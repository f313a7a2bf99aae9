#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace verbatim::store {

// A place in the order in which a store's turns were committed.
struct CommitPoint {
  std::uint64_t number = 0;  // of a turn, over all sessions, from 1; 0: in front of all
  std::string proof;         // of what that turn holds
  std::uint64_t ended = 0;   // of the session that was ended last, see Ended; 0: in front of all
  bool operator==(const CommitPoint&) const = default;
};

// What a durable store holds, in the order of commits: for what is made from it and has to know how
// far it is (record files). Numbers rise with each commit and are never used again. Sees what is
// acknowledged, and possibly more that will be. Blocking; one thread at a time. Errors as of Store.
class CommitLog {
 public:
  virtual ~CommitLog() = default;

  // Names the store among all there are; tells nothing of its key.
  [[nodiscard]] virtual std::string store_id() const = 0;
  virtual base::Result<CommitPoint> newest() = 0;
  // Has this store gone on behind `point`? False: it is another, or an older copy of it.
  virtual base::Result<bool> follows(const CommitPoint& point) = 0;

  struct Place {
    std::uint64_t seq = 0;
    std::uint64_t parent = 0;  // seq; 0: a root
    std::uint64_t id = 0;
  };
  // A session with turns behind a point.
  struct Changed {
    std::string session;
    std::vector<Place> turns;     // all that it has, by seq
    std::uint64_t first_new = 0;  // seq; from here on they are behind the point
  };
  using Visit = std::function<base::Status(const Changed& changed)>;
  // In order of their creation. `visit` may ask the log.
  virtual base::Status each_changed(std::uint64_t number, const Visit& visit) = 0;

  // A session with turns that was deleted, or has expired. Its name may have come to another since.
  struct Ended {
    enum class Why { kDeleted, kExpired };
    std::uint64_t number = 0;  // in the order in which they ended, from 1
    std::string session;
    std::uint64_t turns = 0;
    Why why = Why::kDeleted;
    std::int64_t at_ms = 0;
  };
  using VisitEnded = std::function<base::Status(const Ended& ended)>;
  // Those behind `number`, in their order, where the store was told to keep them.
  virtual base::Status each_ended(std::uint64_t number, const VisitEnded& visit) = 0;
  // Nobody will ask for those up to `number` any more. Thread-safe.
  virtual void forget_ended(std::uint64_t number) = 0;

  // As of Store.
  virtual base::Result<std::vector<TurnPtr>> turns(const std::string& session) = 0;
  virtual base::Result<bool> has_session(const std::string& session) = 0;
};

}  // namespace verbatim::store
