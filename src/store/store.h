#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/task.h"
#include "trajectory/attach.h"
#include "trajectory/turn.h"

namespace verbatim::store {

using trajectory::Turn;
using trajectory::TurnPtr;

struct SessionInfo {
  std::string id;
  std::int64_t created_ms = 0;
  std::uint64_t version = 0;  // rises with every change, never falls
  std::uint64_t turns = 0;    // committed
};

// Who opened the session a turn belongs to.
enum class SessionUse {
  kExisting,  // POST /sessions made it; a commit fails with kNotFound once it is deleted
  kImplicit,  // a root of stateless chat: the first commit makes it
};

// Keeps sessions and their turns. Asynchronous, and any call can fail with kUnavailable: nothing
// has changed then. Thread-safe. The one place where a conversation changes is commit().
class Store : public trajectory::NodeSource {
 public:
  virtual base::Task<base::Status> create_session(std::string id, std::int64_t now_ms) = 0;
  virtual base::Task<base::Result<std::optional<SessionInfo>>> session(std::string id) = 0;
  // kNotFound when there is no such session. Its turns are gone when this returns.
  virtual base::Task<base::Status> delete_session(std::string id) = 0;
  // Turns of a session in order of their commits; kNotFound.
  virtual base::Task<base::Result<std::vector<TurnPtr>>> turns(std::string session_id) = 0;
  // Adds a turn: all of it, or nothing. Gives it its `seq` and `branch`, joins it to its path
  // (trajectory::join_path), and returns it as recorded. After success the turn is attachable and
  // as durable as the store is. Errors: kNotFound (session or parent deleted meanwhile),
  // kUnavailable.
  virtual base::Task<base::Result<TurnPtr>> commit(std::unique_ptr<Turn> turn, SessionUse use) = 0;

  // All that is kept, as text: equal exactly when nothing changed. For tests and audits; excludes
  // times of use.
  [[nodiscard]] virtual std::string dump() const = 0;
};

}  // namespace verbatim::store
