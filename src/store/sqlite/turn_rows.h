#pragma once

#include <string>
#include <string_view>

#include "store/sqlite/connection.h"
#include "trajectory/digest.h"

namespace verbatim::store::sqlite {

// A row of `turn`, its session apart.
struct TurnRow {
  std::uint64_t seq = 0, parent = 0, id = 0, branch = 0;  // parent 0: none
  std::int64_t root = 0, body = 0;
  trajectory::Digest digest;
};

// Writes turns: their bodies, their places in the tree, and what they share. Within a transaction
// that the caller opens.
class TurnRows {
 public:
  // `connection` outlives this.
  base::Status prepare(Connection& connection);

  // Its parent has a child from now on.
  base::Status insert(std::uint64_t session, const TurnRow& row, std::string_view body);

  struct Root {
    std::int64_t number = 0;
    bool fresh = false;  // the session did not use it before
  };
  // The root of these bytes, whose SHA-256 is `hash`, used by the session from now on.
  base::Result<Root> use_root(std::string_view hash, std::string_view bytes, std::uint64_t session);

 private:
  Connection* connection_ = nullptr;
  Statement insert_turn_, continue_parent_, insert_body_, find_root_, insert_root_, use_root_;
};

}  // namespace verbatim::store::sqlite
