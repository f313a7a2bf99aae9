#include "store/sqlite/response_rows.h"

#include "store/sqlite/session_row.h"

namespace verbatim::store::sqlite {

using base::Result;
using base::Status;

#define VERBATIM_RESPONSE                                                                        \
  "SELECT response.id, session.owner, session.id, turn, instructed, response.created_ms, body, " \
  "input FROM response JOIN session ON session.number = response.session "

std::uint64_t disk_bytes(const StoredResponse& response) {
  return response.body.size() + response.input.size() + 2 * response.id.size() + kRowBytes;
}

Status ResponseRows::prepare(Connection& connection) {
  return connection.prepare({
      {&insert_,
       "INSERT INTO response(id, session, turn, instructed, created_ms, body, input) "
       "VALUES(?, ?, ?, ?, ?, ?, ?)"},
      {&find_, "SELECT session, length(body) + length(input) FROM response WHERE id = ?"},
      {&others_, "SELECT 1 FROM response WHERE session = ? AND id <> ? LIMIT 1"},
      {&erase_, "DELETE FROM response WHERE id = ?"},
      {&erase_of_, "DELETE FROM response WHERE session = ?"},
  });
}

Status ResponseRows::insert(std::uint64_t session, const StoredResponse& response) {
  insert_.bind_text(1, response.id);
  insert_.bind(2, stored(session));
  insert_.bind(3, stored(response.turn));
  insert_.bind(4, response.instructed ? 1 : 0);
  insert_.bind(5, response.created_ms);
  insert_.bind_bytes(6, response.body);
  insert_.bind_bytes(7, response.input);
  return insert_.run();
}

Status ResponseRows::find(const std::string& id, std::optional<Place>& found) {
  Place place;
  {
    Use query(find_);
    query->bind_text(1, id);
    const auto there = query->step();
    if (!there) return there.error();
    if (!*there) return {};
    place.session = unstored(query->integer(0));
    place.bytes = unstored(query->integer(1)) + 2 * id.size() + kRowBytes;
  }
  Use others(others_);
  others->bind(1, stored(place.session));
  others->bind_text(2, id);
  const auto there = others->step();
  if (!there) return there.error();
  place.last = !*there;
  found = place;
  return {};
}

Status ResponseRows::erase(const std::string& id) {
  erase_.bind_text(1, id);
  return erase_.run();
}

Status ResponseRows::erase_of(std::uint64_t session) {
  erase_of_.bind(1, stored(session));
  return erase_of_.run();
}

Status ResponseReader::prepare(Connection& connection) {
  return connection.prepare({
      {&by_id_, VERBATIM_RESPONSE "WHERE response.id = ?"},
      {&of_session_, VERBATIM_RESPONSE "WHERE response.session = ? ORDER BY response.id"},
  });
}

StoredResponsePtr ResponseReader::response_of(const Statement& row) {
  auto response = std::make_shared<StoredResponse>();
  response->id = row.bytes(0);
  response->owner = row.bytes(1);
  response->session_id = row.bytes(2);
  response->turn = unstored(row.integer(3));
  response->instructed = row.integer(4) != 0;
  response->created_ms = row.integer(5);
  response->body = row.bytes(6);
  response->input = row.bytes(7);
  return response;
}

Result<StoredResponsePtr> ResponseReader::read(const std::string& id) {
  Use query(by_id_);
  query->bind_text(1, id);
  const auto there = query->step();
  if (!there) return there.error();
  return *there ? response_of(*query) : StoredResponsePtr();
}

Result<std::vector<StoredResponsePtr>> ResponseReader::of_session(std::uint64_t session) {
  std::vector<StoredResponsePtr> found;
  Use query(of_session_);
  query->bind(1, stored(session));
  for (;;) {
    const auto there = query->step();
    if (!there) return there.error();
    if (!*there) return found;
    found.push_back(response_of(*query));
  }
}

}  // namespace verbatim::store::sqlite
