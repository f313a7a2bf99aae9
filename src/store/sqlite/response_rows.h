#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/sqlite/connection.h"
#include "store/store.h"

namespace verbatim::store::sqlite {

// Bytes on disk of a response, about.
std::uint64_t disk_bytes(const StoredResponse& response);

// Writes responses that are kept beside their turns. Within a transaction that the caller opens.
class ResponseRows {
 public:
  // `connection` outlives this.
  base::Status prepare(Connection& connection);

  base::Status insert(std::uint64_t session, const StoredResponse& response);
  // Of a response: the session it belongs to, the bytes it takes, whether it is the last there.
  struct Place {
    std::uint64_t session = 0;
    std::uint64_t bytes = 0;
    bool last = false;
  };
  base::Status find(const std::string& id, std::optional<Place>& found);
  base::Status erase(const std::string& id);
  base::Status erase_of(std::uint64_t session);

 private:
  Statement insert_, find_, others_, erase_, erase_of_;
};

// Reads them.
class ResponseReader {
 public:
  base::Status prepare(Connection& connection);
  base::Result<StoredResponsePtr> read(const std::string& id);
  // Those of a session, by their ids.
  base::Result<std::vector<StoredResponsePtr>> of_session(std::uint64_t session);

 private:
  static StoredResponsePtr response_of(const Statement& row);
  Statement by_id_, of_session_;
};

}  // namespace verbatim::store::sqlite
