#pragma once

#include <optional>
#include <string>

#include "store/sqlite/connection.h"
#include "store/sqlite/exchange_lines.h"
#include "store/sqlite/response_rows.h"
#include "store/sqlite/session_row.h"
#include "store/sqlite/turn_rows.h"

namespace verbatim::store::sqlite {

// The tables of a store as an import fills them, within a transaction of the caller's. Statuses are
// the disk's; whether what is put in may be there, the caller has asked.
class ImportTables {
 public:
  explicit ImportTables(Connection& connection) : connection_(connection) {}
  base::Status prepare();

  // Has the store no session? Else its key has to be that of the export.
  base::Result<bool> empty();
  base::Result<std::string> key();
  // Takes over the key, and the highest numbers that are known.
  base::Status adopt(const StoreLine& store);
  // Numbers of what comes go on behind these.
  struct Last {
    std::uint64_t session = 0, commit = 0;
  };
  base::Result<Last> last();

  base::Result<std::optional<SessionRow>> session(const std::string& id);
  base::Result<bool> secret_taken(const std::string& secret_hash);
  base::Result<bool> turn_taken(std::uint64_t id);
  base::Result<bool> commit_taken(std::uint64_t commit);
  // A turn with the body and the root that it has; none: there is no such turn.
  struct Stored {
    TurnLine turn;  // its root apart
    std::string root;
  };
  base::Result<std::optional<Stored>> turn(std::uint64_t session, std::uint64_t seq);

  base::Status insert(const SessionInfo& session);
  // A root of these bytes, used by the session.
  base::Result<TurnRows::Root> use_root(std::uint64_t session, const std::string& bytes);
  base::Status insert(std::uint64_t session, std::int64_t root, const TurnLine& turn);
  // Null: there is none.
  base::Result<StoredResponsePtr> response(const std::string& id) { return reader_.read(id); }
  base::Status insert(std::uint64_t session, const StoredResponse& response) {
    return responses_.insert(session, response);
  }
  // Behind its turns; `newest` is the commit of the last.
  base::Status update(const SessionInfo& session, std::uint64_t disk, std::uint64_t newest);

 private:
  static base::Result<bool> any(Use& query);

  Connection& connection_;
  Statement find_session_, find_secret_, find_id_, find_turn_, find_body_;
  TurnRows rows_;
  ResponseRows responses_;
  ResponseReader reader_;
  Statement insert_session_, update_session_, set_meta_, set_sequence_, add_sequence_;
};

}  // namespace verbatim::store::sqlite
