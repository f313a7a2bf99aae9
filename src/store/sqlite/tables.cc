#include "store/sqlite/tables.h"

#include <algorithm>
#include <utility>

#include "store/rules.h"

namespace verbatim::store::sqlite {

using base::Result;
using base::Status;

Result<Tables> Tables::of(Connection& connection, PathCache& cache, Limits limits) {
  Tables tables(connection, cache);
  tables.limits_ = limits;
  if (auto status = tables.prepare(); !status.ok()) return std::move(status).error();
  const auto last = connection.integer(kLastCommit);
  if (!last) return last.error();
  tables.last_commit_ = *last;
  auto owners =
      connection.prepare("SELECT owner, sum(disk) FROM session WHERE implicit = 1 GROUP BY owner");
  if (!owners) return std::move(owners).error();
  for (;;) {
    const auto row = owners->step();
    if (!row) return row.error();
    if (!*row) return tables;
    tables.implicit_bytes_.add(std::string(owners->bytes(0)), unstored(owners->integer(1)));
  }
}

void Tables::count(Counted counted) {
  counted.added ? implicit_bytes_.add(counted.owner, counted.bytes)
                : implicit_bytes_.remove(counted.owner, counted.bytes);
  counted_.push_back(std::move(counted));
}

void Tables::given_up() {
  for (auto it = counted_.rbegin(); it != counted_.rend(); ++it) {
    it->added ? implicit_bytes_.remove(it->owner, it->bytes)
              : implicit_bytes_.add(it->owner, it->bytes);
  }
  counted_.clear();
  noted_commit_ = 0;
  created_by_.clear();
}

void Tables::grow(SessionRow& session, std::uint64_t bytes) {
  session.disk += bytes;
  if (session.info.implicit) count({session.info.spec->owner, bytes, true});
}

Status Tables::prepare() {
  if (auto status = rows_.prepare(*connection_); !status.ok()) return status;
  if (auto status = responses_.prepare(*connection_); !status.ok()) return status;
  if (auto status = conversations_.prepare(*connection_); !status.ok()) return status;
  return connection_->prepare({
      {&find_session_, "SELECT " VERBATIM_SESSION_COLUMNS " FROM session WHERE id = ?"},
      {&find_session_id_, "SELECT id FROM session WHERE number = ?"},
      {&find_spec_, "SELECT " VERBATIM_SPEC_COLUMNS " FROM session WHERE number = ?"},
      {&find_secret_, "SELECT 1 FROM session WHERE secret_hash = ? AND secret_hash <> ''"},
      {&count_created_, "SELECT count(*) FROM session WHERE owner = ? AND implicit = 0"},
      {&insert_session_, "INSERT INTO session(" VERBATIM_SPEC_COLUMNS
                         ", implicit, version, turns, tokens, bytes, used_ms, disk, newest) "
                         "VALUES(?, ?, ?, ?, ?, ?6, ?7, 1, 0, 0, 0, ?6, 0, 0)"},
      {&update_session_,
       "UPDATE session SET version = ?2, turns = ?3, tokens = ?4, bytes = ?5, used_ms = ?6, "
       "disk = ?7, newest = ?8 WHERE number = ?1"},
      {&shrink_session_, "UPDATE session SET version = ?2, disk = ?3 WHERE number = ?1"},
      {&use_session_, "UPDATE session SET version = ?2, used_ms = ?3, disk = ?4 WHERE number = ?1"},
      {&erase_session_, "DELETE FROM session WHERE number = ?"},
      {&oldest_implicit_,
       "SELECT id FROM session WHERE implicit = 1 AND owner = ? ORDER BY newest, number LIMIT 1"},
      {&find_parent_, "SELECT id, branch, root, continued FROM turn WHERE session = ? AND seq = ?"},
      {&find_id_, "SELECT 1 FROM turn WHERE id = ?"},
      {&same_digest_, "SELECT 1 FROM turn WHERE digest = ? LIMIT 1"},
      {&roots_of_, "SELECT DISTINCT root FROM turn WHERE session = ?"},
      {&unuse_root_, "DELETE FROM root_use WHERE root = ? AND session = ?"},
      {&root_used_, "SELECT 1 FROM root_use WHERE root = ? LIMIT 1"},
      {&erase_root_, "DELETE FROM root WHERE number = ?"},
      {&erase_bodies_,
       "DELETE FROM body WHERE number IN (SELECT body FROM turn WHERE session = ?)"},
      {&erase_turns_, "DELETE FROM turn WHERE session = ?"},
      {&last_body_, "SELECT coalesce(max(number), 0) FROM body"},
      {&note_commit_,
       "INSERT INTO meta VALUES('commits', ?) ON CONFLICT(name) DO UPDATE SET value = "
       "excluded.value"},
      {&note_end_, "INSERT INTO ended(session, turns, why, at_ms) VALUES(?, ?, ?, ?)"},
      {&forget_ends_, "DELETE FROM ended WHERE number <= ?"},
  });
}

Status Tables::touch() {
  return connection_->run("UPDATE meta SET value = value + 1 WHERE name = 'probe'");
}

Status Tables::any(Use& query, bool& found) {
  const auto row = query->step();
  if (!row) return row.error();
  found = *row;
  return {};
}

Status Tables::find_session(const std::string& id, std::optional<SessionRow>& found) {
  Use find(find_session_);
  find->bind_text(1, id);
  bool there = false;
  if (auto status = any(find, there); !status.ok() || !there) return status;
  found = session_of(*find, 0);
  found->info.spec = cache_->spec(found->info.number);
  if (found->info.spec) return {};
  Use spec(find_spec_);
  spec->bind(1, stored(found->info.number));
  if (auto status = any(spec, there); !status.ok()) return status;
  found->info.spec = spec_of(*spec, 0);
  return {};
}

Status Tables::insert_session(const std::shared_ptr<const SessionSpec>& spec, bool implicit,
                              SessionRow& made) {
  insert_session_.bind_text(1, spec->id);
  insert_session_.bind_text(2, spec->owner);
  insert_session_.bind_text(3, spec->options);
  insert_session_.bind_text(4, spec->metadata);
  insert_session_.bind_text(5, spec->secret_hash);
  insert_session_.bind(6, spec->created_ms);
  insert_session_.bind(7, implicit ? 1 : 0);
  if (auto status = insert_session_.run(); !status.ok()) return status;
  made.info.spec = spec;
  made.info.number = unstored(connection_->last_row());
  made.info.implicit = implicit;
  made.info.version = 1;
  made.info.last_used_ms = spec->created_ms;
  return {};
}

Status Tables::create(const std::shared_ptr<const SessionSpec>& spec, ChangeResult& result) {
  std::optional<SessionRow> other;
  if (auto status = find_session(spec->id, other); !status.ok()) return status;
  if (other) {
    result = session_exists(spec->id);
    return {};
  }
  bool other_has_it = false;
  {
    Use find(find_secret_);
    find->bind_text(1, spec->secret_hash);
    if (auto status = any(find, other_has_it); !status.ok()) return status;
  }
  if (other_has_it) {
    result = secret_taken();
    return {};
  }
  std::uint64_t* created = nullptr;
  if (auto status = created_by(spec->owner, created); !status.ok()) return status;
  if (created != nullptr && *created >= limits_.owner_sessions) {
    result = owner_is_full(limits_.owner_sessions);
    return {};
  }
  SessionRow made;
  if (auto status = insert_session(spec, false, made); !status.ok()) return status;
  if (created != nullptr) ++*created;
  result = Change{std::move(made.info), {}};
  return {};
}

// Null: nobody asks.
Status Tables::created_by(const std::string& owner, std::uint64_t*& count) {
  if (limits_.owner_sessions == 0) return {};
  const auto it = created_by_.find(owner);
  if (it != created_by_.end()) {
    count = &it->second;
    return {};
  }
  Use query(count_created_);
  query->bind_text(1, owner);
  bool there = false;
  if (auto status = any(query, there); !status.ok()) return status;
  count = &created_by_.emplace(owner, unstored(query->integer(0))).first->second;
  return {};
}

Status Tables::find_parent(std::uint64_t session, const Turn& parent,
                           std::optional<Parent>& found) {
  Use find(find_parent_);
  find->bind(1, stored(session));
  find->bind(2, stored(parent.seq));
  bool there = false;
  if (auto status = any(find, there); !status.ok()) return status;
  // A session that was deleted and made again has other turns under the same numbers.
  if (!there || unstored(find->integer(0)) != parent.id) return {};
  found = Parent{unstored(find->integer(1)), find->integer(2), find->integer(3) != 0};
  return {};
}

Status Tables::find_root(const PreparedTurns& prepared, SessionRow& session, std::int64_t& root) {
  const auto used = rows_.use_root(prepared.root_hash, prepared.root_bytes, session.info.number);
  if (!used) return used.error();
  root = used->number;
  // Counted for each session that uses it: else a dropped one could leave it to nobody's count.
  if (used->fresh) grow(session, prepared.root_bytes.size());
  return {};
}

Status Tables::insert_turn(const Turn& turn, std::uint64_t session, std::int64_t root,
                           const std::string& body) {
  const std::uint64_t parent = turn.parent ? turn.parent->seq : 0;
  return rows_.insert(
      session, {turn.seq, parent, turn.id, turn.branch, root, ++last_commit_, turn.digest}, body);
}

Status Tables::update_session(const SessionRow& session) {
  update_session_.bind(1, stored(session.info.number));
  update_session_.bind(2, stored(session.info.version));
  update_session_.bind(3, stored(session.info.turns));
  update_session_.bind(4, stored(session.info.tokens));
  update_session_.bind(5, stored(session.info.bytes));
  update_session_.bind(6, session.info.last_used_ms);
  update_session_.bind(7, stored(session.disk));
  update_session_.bind(8, last_commit_);
  return update_session_.run();
}

Status Tables::taken(const NewTurns& added, bool& taken) {
  for (std::size_t i = 0; i < added.turns.size() && !taken; ++i) {
    const auto id = added.turns[i]->id;
    for (std::size_t before = 0; before < i; ++before)
      taken = taken || added.turns[before]->id == id;
    Use find(find_id_);
    find->bind(1, stored(id));
    bool there = false;
    if (auto status = any(find, there); !status.ok()) return status;
    taken = taken || there;
  }
  return {};
}

Status Tables::find_place(const NewTurns& added, std::optional<SessionRow>& session,
                          std::optional<Parent>& parent) {
  const Turn& turn = *added.turns.front();
  if (auto status = find_session(turn.session_id, session); !status.ok()) return status;
  if (!session || !turn.parent) return {};
  return find_parent(session->info.number, *turn.parent, parent);
}

Status Tables::add(PreparedTurns& prepared, ChangeResult& result) {
  const NewTurns& added = prepared.added;
  const Turn& first = *added.turns.front();
  bool exists = false;
  if (auto status = taken(added, exists); !status.ok()) return status;
  if (exists) {
    result = turn_exists();
    return {};
  }
  std::optional<SessionRow> session;
  std::optional<Parent> parent;
  if (auto status = find_place(added, session, parent); !status.ok()) return status;
  // A parent that is gone took its session with it.
  const bool makes = !session && added.use == SessionUse::kImplicit && !first.parent &&
                     added.conversation == nullptr;
  if ((!session && !makes) || (first.parent && !parent)) {
    result = no_session(first.session_id);
    return {};
  }
  if (added.conversation) {
    std::optional<base::Error> refused;
    if (auto status = advance(*added.conversation, *session, refused); !status.ok()) return status;
    if (refused) {
      result = *refused;
      return {};
    }
  }
  if (makes) {
    session.emplace();
    auto status = insert_session(implicit_spec(added), true, *session);
    if (!status.ok()) return status;
  }
  Change change;
  if (auto status = insert_turns(prepared, *session, parent, change); !status.ok()) return status;
  change.info = std::move(session->info);
  result = std::move(change);
  return {};
}

Status Tables::insert_turns(PreparedTurns& prepared, SessionRow& session,
                            std::optional<Parent>& parent, Change& change) {
  std::int64_t root = parent ? parent->root : 0;
  if (!prepared.root_bytes.empty()) {
    if (auto status = find_root(prepared, session, root); !status.ok()) return status;
  }
  for (std::size_t i = 0; i < prepared.added.turns.size(); ++i) {
    auto& turn = prepared.added.turns[i];
    bool shared_digest = false;
    {
      Use same(same_digest_);
      same->bind_bytes(1, stored(turn->digest));
      if (auto status = any(same, shared_digest); !status.ok()) return status;
    }
    std::optional<std::uint64_t> goes_on;
    if (parent && !std::exchange(parent->continued, true)) goes_on = parent->branch;
    enter(session.info, *turn, goes_on);
    grow(session, prepared.bodies[i].size() + kRowBytes);
    auto status = insert_turn(*turn, session.info.number, root, prepared.bodies[i]);
    if (!status.ok()) return status;
    change.turns.push_back({TurnPtr(std::move(turn)), !shared_digest});
  }
  if (const auto& response = prepared.added.response) {
    grow(session, disk_bytes(*response));
    auto status = responses_.insert(session.info.number, *response);
    if (!status.ok()) return status;
  }
  return update_session(session);
}

}  // namespace verbatim::store::sqlite
