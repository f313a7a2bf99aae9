#include "store/sqlite/turn_rows.h"

#include "store/sqlite/session_row.h"

namespace verbatim::store::sqlite {

using base::Result;
using base::Status;

Status TurnRows::prepare(Connection& connection) {
  connection_ = &connection;
  return connection.prepare({
      {&insert_turn_,
       "INSERT INTO turn(session, seq, parent, id, branch, root, digest, body) "
       "VALUES(?, ?, ?, ?, ?, ?, ?, ?)"},
      {&continue_parent_,
       "UPDATE turn SET continued = 1 WHERE session = ? AND seq = ? AND continued = 0"},
      {&insert_body_, "INSERT INTO body(number, bytes) VALUES(?, ?)"},
      {&find_root_, "SELECT number FROM root WHERE hash = ?"},
      {&insert_root_, "INSERT INTO root(hash, bytes) VALUES(?, ?)"},
      {&use_root_, "INSERT OR IGNORE INTO root_use(root, session) VALUES(?, ?)"},
  });
}

Status TurnRows::insert(std::uint64_t session, const TurnRow& row, std::string_view body) {
  insert_body_.bind(1, row.body);
  insert_body_.bind_bytes(2, body);
  if (auto status = insert_body_.run(); !status.ok()) return status;
  insert_turn_.bind(1, stored(session));
  insert_turn_.bind(2, stored(row.seq));
  insert_turn_.bind(3, stored(row.parent));
  insert_turn_.bind(4, stored(row.id));
  insert_turn_.bind(5, stored(row.branch));
  insert_turn_.bind(6, row.root);
  insert_turn_.bind_bytes(7, stored(row.digest));
  insert_turn_.bind(8, row.body);
  if (auto status = insert_turn_.run(); !status.ok() || row.parent == 0) return status;
  continue_parent_.bind(1, stored(session));
  continue_parent_.bind(2, stored(row.parent));
  return continue_parent_.run();
}

Result<TurnRows::Root> TurnRows::use_root(std::string_view hash, std::string_view bytes,
                                          std::uint64_t session) {
  Root root;
  {
    Use find(find_root_);
    find->bind_text(1, hash);
    const auto there = find->step();
    if (!there) return there.error();
    if (*there) root.number = find->integer(0);
  }
  if (root.number == 0) {
    insert_root_.bind_text(1, hash);
    insert_root_.bind_bytes(2, bytes);
    if (auto status = insert_root_.run(); !status.ok()) return std::move(status).error();
    root.number = connection_->last_row();
  }
  use_root_.bind(1, root.number);
  use_root_.bind(2, stored(session));
  if (auto status = use_root_.run(); !status.ok()) return std::move(status).error();
  root.fresh = connection_->changed_rows() != 0;
  return root;
}

}  // namespace verbatim::store::sqlite
