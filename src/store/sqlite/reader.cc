#include "store/sqlite/reader.h"

#include <algorithm>

#include "store/dump.h"
#include "store/rules.h"
#include "store/sqlite/turn_codec.h"

namespace verbatim::store::sqlite {

using base::ErrorKind;
using base::Result;
using base::Status;
using trajectory::Digest;

namespace {

// Of turns nobody holds any more, roots are forgotten when this many are known.
constexpr std::size_t kManyRoots = 4096;

#define VERBATIM_INFO_COLUMNS VERBATIM_SESSION_COLUMNS ", " VERBATIM_SPEC_COLUMNS
#define VERBATIM_LIST \
  "SELECT " VERBATIM_INFO_COLUMNS " FROM session WHERE owner = ? AND number > ? "
#define VERBATIM_TURN_COLUMNS "seq, parent, id, branch, root, body, digest"
#define VERBATIM_PLACES                                               \
  "SELECT turn.session, turn.seq, session.id FROM turn JOIN session " \
  "ON session.number = turn.session "

base::Error damaged(const std::string& session, std::uint64_t seq, const std::string& what) {
  return base::error(ErrorKind::kInternal, "turn " + std::to_string(seq) + " of session " +
                                               session + " can't be read from the store: " + what +
                                               "; the file is damaged");
}

}  // namespace

Result<std::unique_ptr<Reader>> Reader::of(Connection& connection, PathCache* cache) {
  std::unique_ptr<Reader> reader(new Reader(connection, cache));
  if (auto status = reader->prepare(); !status.ok()) return std::move(status).error();
  return reader;
}

Status Reader::prepare() {
  if (auto status = responses_.prepare(connection_); !status.ok()) return status;
  if (auto status = conversations_.prepare(connection_); !status.ok()) return status;
  return connection_.prepare({
      {&find_session_, "SELECT " VERBATIM_INFO_COLUMNS " FROM session WHERE id = ?"},
      {&find_secret_,
       "SELECT " VERBATIM_INFO_COLUMNS " FROM session WHERE secret_hash = ? AND secret_hash <> ''"},
      {&list_, VERBATIM_LIST "ORDER BY number LIMIT ?"},
      {&list_created_, VERBATIM_LIST "AND implicit = 0 ORDER BY number LIMIT ?"},
      {&idle_, "SELECT id, used_ms FROM session WHERE id > ? ORDER BY id LIMIT ?"},
      {&next_session_,
       "SELECT " VERBATIM_INFO_COLUMNS " FROM session WHERE id > ? ORDER BY id LIMIT 1"},
      {&rows_of_, "SELECT " VERBATIM_TURN_COLUMNS " FROM turn WHERE session = ? ORDER BY seq"},
      {&row_, "SELECT " VERBATIM_TURN_COLUMNS " FROM turn WHERE session = ? AND seq = ?"},
      {&by_digest_,
       VERBATIM_PLACES "WHERE turn.digest = ? ORDER BY turn.session DESC, turn.seq DESC LIMIT ?"},
      {&by_id_, VERBATIM_PLACES "WHERE turn.id = ?"},
      {&last_turn_, VERBATIM_PLACES "WHERE session.id = ? AND turn.seq = session.turns"},
      {&body_, "SELECT bytes FROM body WHERE number = ?"},
      {&root_, "SELECT bytes FROM root WHERE number = ?"},
  });
}

// One read transaction around all of a call, so that a deletion between two statements is not seen
// by half.
template <class F>
auto Reader::at_one_moment(F&& read) -> decltype(read()) {
  if (auto status = connection_.run("BEGIN"); !status.ok()) return std::move(status).error();
  auto result = read();
  auto end = connection_.run("COMMIT");
  if (!end.ok() && connection_.in_transaction()) (void)connection_.run("ROLLBACK");
  return result;
}

SessionInfo Reader::info_of(const Statement& statement) {
  SessionInfo info = session_of(statement, 0).info;
  info.spec = spec_of(statement, 8);
  return info;
}

Result<std::optional<SessionInfo>> Reader::find_session(Statement& query, std::string_view value) {
  Use find(query);
  find->bind_text(1, value);
  const auto there = find->step();
  if (!there) return there.error();
  if (!*there) return std::optional<SessionInfo>();
  return std::optional(info_of(*find));
}

Result<std::optional<SessionInfo>> Reader::session(const std::string& id) {
  return find_session(find_session_, id);
}

Result<std::optional<SessionInfo>> Reader::session_of_secret(const std::string& secret_hash) {
  return find_session(find_secret_, secret_hash);
}

Result<std::vector<SessionInfo>> Reader::sessions(const SessionQuery& query) {
  std::vector<SessionInfo> found;
  Use list(query.implicit ? list_ : list_created_);
  list->bind_text(1, query.owner);
  list->bind(2, stored(query.after));
  list->bind(3, static_cast<std::int64_t>(std::min<std::size_t>(query.limit, INT64_MAX)));
  for (;;) {
    const auto there = list->step();
    if (!there) return there.error();
    if (!*there) return found;
    found.push_back(info_of(*list));
  }
}

Result<IdleSessions> Reader::idle_sessions(const IdleQuery& query) {
  IdleSessions found;
  Use list(idle_);
  list->bind_text(1, query.after);
  list->bind(2, static_cast<std::int64_t>(query.limit));
  for (std::size_t seen = 1;; ++seen) {
    const auto there = list->step();
    if (!there) return there.error();
    if (!*there) return found;
    std::string id(list->bytes(0));
    if (list->integer(1) < query.before_ms) found.ids.push_back(id);
    if (seen == query.limit) found.last = std::move(id);
  }
}

Result<StoredResponsePtr> Reader::response(const std::string& id) {
  return responses_.read(id);
}

Result<ConversationItems> Reader::items(const ItemQuery& query) {
  return at_one_moment([&] { return conversations_.items(query); });
}

Result<std::vector<TurnPtr>> Reader::turns(const std::string& id) {
  return at_one_moment([&]() -> Result<std::vector<TurnPtr>> {
    const auto found = find_session(find_session_, id);
    if (!found) return found.error();
    if (!*found) return no_session(id);
    return read_turns(**found);
  });
}

Result<std::vector<TurnPtr>> Reader::read_turns(const SessionInfo& session) {
  std::vector<TurnPtr> turns;
  Use rows(rows_of_);
  rows->bind(1, stored(session.number));
  for (;;) {
    const auto there = rows->step();
    if (!there) return there.error();
    if (!*there) return turns;
    const Row row = row_of(*rows);
    if (row.seq != turns.size() + 1 || row.parent >= row.seq)
      return damaged(session.spec->id, row.seq,
                     "its place is not that of a turn behind its parent");
    auto turn = cached(session.number, row.seq);
    if (!turn) {
      auto made = make(session.spec->id, row, row.parent == 0 ? nullptr : turns[row.parent - 1]);
      if (!made) return std::move(made).error();
      turn = std::move(*made);
    }
    turns.push_back(std::move(turn));
  }
}

Status Reader::load_rows(Use& rows, std::vector<TurnPtr>& found) {
  for (;;) {
    const auto there = rows->step();
    if (!there) return there.error();
    if (!*there) return {};
    auto turn =
        load(unstored(rows->integer(0)), std::string(rows->bytes(2)), unstored(rows->integer(1)));
    if (!turn) return std::move(turn).error();
    found.push_back(std::move(*turn));
  }
}

Result<std::vector<TurnPtr>> Reader::find(const std::vector<Digest>& digests) {
  note_deletions();
  return at_one_moment([&]() -> Result<std::vector<TurnPtr>> {
    std::vector<TurnPtr> found;
    for (const auto& digest : digests) {
      if (found.size() >= trajectory::kMostFound) break;
      Use rows(by_digest_);
      rows->bind_bytes(1, stored(digest));
      rows->bind(2, trajectory::kMostAlike);
      if (auto status = load_rows(rows, found); !status.ok()) return std::move(status).error();
    }
    return found;
  });
}

Result<std::vector<TurnPtr>> Reader::by_ids(const std::vector<std::uint64_t>& ids) {
  note_deletions();
  return at_one_moment([&]() -> Result<std::vector<TurnPtr>> {
    std::vector<TurnPtr> found;
    for (const auto id : ids) {
      Use rows(by_id_);
      rows->bind(1, stored(id));
      if (auto status = load_rows(rows, found); !status.ok()) return std::move(status).error();
    }
    return found;
  });
}

Result<TurnPtr> Reader::last_turn(const std::string& session_id) {
  note_deletions();
  return at_one_moment([&]() -> Result<TurnPtr> {
    std::vector<TurnPtr> found;
    Use rows(last_turn_);
    rows->bind_text(1, session_id);
    if (auto status = load_rows(rows, found); !status.ok()) return std::move(status).error();
    return found.empty() ? nullptr : found.front();
  });
}

void Reader::note_deletions() {
  deletions_ = cache_ == nullptr ? 0 : cache_->deletions();
}

Result<TurnPtr> Reader::load(std::uint64_t session, const std::string& id, std::uint64_t seq) {
  TurnPtr turn;
  std::vector<Row> missing;
  for (auto at = seq; at != 0;) {
    turn = cached(session, at);
    if (turn) break;
    auto found = row(session, at);
    if (!found) return std::move(found).error();
    if (found->seq != at || found->parent >= at)
      return damaged(id, at, "its row is not there, or its parent is behind it");
    at = found->parent;
    missing.push_back(*found);
  }
  std::vector<TurnPtr> made;
  for (auto it = missing.rbegin(); it != missing.rend(); ++it) {
    auto next = make(id, *it, std::move(turn));
    if (!next) return std::move(next).error();
    turn = std::move(*next);
    made.push_back(turn);
  }
  if (cache_ != nullptr) cache_->add(session, made, deletions_);
  return turn;
}

Result<Reader::Row> Reader::row(std::uint64_t session, std::uint64_t seq) {
  Use find(row_);
  find->bind(1, stored(session));
  find->bind(2, stored(seq));
  const auto there = find->step();
  if (!there) return there.error();
  return *there ? row_of(*find) : Row{};
}

Reader::Row Reader::row_of(const Statement& statement) {
  Row row;
  row.seq = unstored(statement.integer(0));
  row.parent = unstored(statement.integer(1));
  row.id = unstored(statement.integer(2));
  row.branch = unstored(statement.integer(3));
  row.root = statement.integer(4);
  row.body = statement.integer(5);
  row.digest = digest_of(statement.bytes(6));
  return row;
}

Result<TurnPtr> Reader::make(const std::string& session_id, const Row& row, TurnPtr parent) {
  auto shared = root(row.root);
  if (!shared) return damaged(session_id, row.seq, shared.error().message);
  Use body(body_);
  body->bind(1, row.body);
  const auto there = body->step();
  if (!there) return there.error();
  if (!*there) return damaged(session_id, row.seq, "its body is not there");
  auto turn = decode_turn(body->bytes(0));
  if (!turn) return damaged(session_id, row.seq, turn.error().message);
  if (parent && (*turn)->parent_trim > parent->completion.size())
    return damaged(session_id, row.seq, "it cuts more than its parent's completion");
  (*turn)->id = row.id;
  (*turn)->seq = row.seq;
  (*turn)->branch = row.branch;
  (*turn)->session_id = session_id;
  (*turn)->parent = std::move(parent);
  (*turn)->root = std::move(*shared);
  (*turn)->digest = row.digest;
  join_path(**turn);
  return TurnPtr(std::move(*turn));
}

Result<Reader::RootPtr> Reader::root(std::int64_t number) {
  if (roots_.size() >= kManyRoots)
    std::erase_if(roots_, [](const auto& entry) { return entry.second.expired(); });
  auto& kept = roots_[number];
  if (auto known = kept.lock()) return known;
  Use find(root_);
  find->bind(1, number);
  const auto there = find->step();
  if (!there) return there.error();
  if (!*there) return base::error(ErrorKind::kInternal, "its root is not there");
  auto decoded = decode_root(find->bytes(0));
  if (decoded) kept = *decoded;
  return decoded;
}

Result<Reader::Parts> Reader::read_parts(const SessionInfo& session) {
  Parts parts;
  auto turns = read_turns(session);
  if (!turns) return std::move(turns).error();
  parts.turns = std::move(*turns);
  auto responses = responses_.of_session(session.number);
  if (!responses) return std::move(responses).error();
  parts.responses = std::move(*responses);
  auto conversation = conversations_.of_session(session.number);
  if (!conversation) return std::move(conversation).error();
  parts.conversation = std::move(*conversation);
  auto status = conversations_.each_item(session.number, [&parts](const auto& item) {
    parts.items.push_back(item);
    return Status();
  });
  if (!status.ok()) return std::move(status).error();
  return parts;
}

Status Reader::each_session(const Visit& visit) {
  std::string last;
  for (;;) {
    const auto more = at_one_moment([&]() -> Result<bool> {
      const auto session = find_session(next_session_, last);
      if (!session) return session.error();
      if (!*session) return false;
      const auto parts = read_parts(**session);
      if (!parts) return parts.error();
      last = (*session)->spec->id;
      auto visited = visit(**session, *parts);
      if (!visited.ok()) return visited.error();
      return true;
    });
    if (!more) return more.error();
    if (!*more) return {};
  }
}

Result<std::string> Reader::dump() {
  std::string out;
  auto status = each_session([&](const SessionInfo& info, const Parts& parts) {
    append_dump(out, info);
    for (const auto& turn : parts.turns) append_dump(out, *turn);
    if (parts.conversation) append_dump(out, *parts.conversation);
    for (const auto& item : parts.items) append_dump(out, *item);
    for (const auto& response : parts.responses) append_dump(out, *response);
    return Status();
  });
  if (!status.ok()) return std::move(status).error();
  return out;
}

}  // namespace verbatim::store::sqlite
