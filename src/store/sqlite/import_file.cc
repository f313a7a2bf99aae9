#include <unordered_set>

#include "store/rules.h"
#include "store/sqlite/exchange.h"
#include "store/sqlite/import_check.h"
#include "store/sqlite/import_conversation.h"
#include "store/sqlite/import_tables.h"
#include "store/sqlite/turn_codec.h"

namespace verbatim::store::sqlite {

using base::ErrorKind;
using base::Result;
using base::Status;
using trajectory::RootInfo;

namespace {

constexpr std::uint64_t kTellEach = 1000;

Status wrong(const std::string& what) {
  return base::error(ErrorKind::kInvalidRequest, what);
}

struct Session {
  SessionInfo info;  // as its turns make it
  std::uint64_t turns = 0;
  std::uint64_t disk = 0, newest = 0;
  bool known = false;  // in the store already: compared, not put in
  std::vector<TurnPtr> made;
  std::unordered_set<std::uint64_t> continued;  // seqs
  std::unordered_set<std::uint64_t> ids;        // of its turns
  std::string response;                         // the last
};
struct Root {
  std::string bytes;
  std::shared_ptr<const RootInfo> info;
};

class Import {
 public:
  Import(Connection& connection, const Progress& progress)
      : connection_(connection), tables_(connection), progress_(progress) {}

  Result<Exchanged> run(const LineSource& lines) {
    if (auto status = tables_.prepare(); !status.ok()) return std::move(status).error();
    if (auto status = conversation_.prepare(connection_); !status.ok())
      return std::move(status).error();
    if (auto status = connection_.run("BEGIN IMMEDIATE"); !status.ok())
      return std::move(status).error();
    auto status = take_all(lines);
    if (status.ok()) status = connection_.run("COMMIT");
    if (status.ok()) return done_;
    if (connection_.in_transaction()) (void)connection_.run("ROLLBACK");
    return std::move(status).error();
  }

 private:
  Status take_all(const LineSource& lines) {
    ExchangeReader reader;
    for (std::uint64_t number = 1;; ++number) {
      const auto line = lines();
      if (!line) return line.error();
      auto status = *line ? take(reader, **line) : at_end();
      if (!status.ok()) return at_line(number, std::move(status).error());
      if (!*line) return {};
    }
  }

  static base::Error at_line(std::uint64_t number, base::Error error) {
    // What the disk says has no line.
    if (error.kind == ErrorKind::kInvalidRequest || error.kind == ErrorKind::kConflict)
      error.message = "line " + std::to_string(number) + ": " + error.message;
    return error;
  }

  Status at_end() {
    if (ended_) return {};
    return wrong("missing: the file ends before its line of kind end, so it was cut off");
  }

  Status take(ExchangeReader& reader, std::string_view text) {
    if (ended_) return wrong("behind the end of the export");
    const auto line = reader.read(text);
    if (!line) return line.error();
    const bool first = std::holds_alternative<StoreLine>(*line);
    if (first == begun_)
      return wrong(first ? "a second line of kind store" : "expected the line of kind store first");
    return std::visit([this](const auto& each) { return put(each); }, *line);
  }

  Status put(const StoreLine& line) {
    begun_ = true;
    store_ = line;
    const auto empty = tables_.empty();
    if (!empty) return empty.error();
    if (*empty) return tables_.adopt(line);
    const auto key = tables_.key();
    if (!key) return key.error();
    if (*key != line.key)
      return base::error(ErrorKind::kConflict,
                         "the store has sessions and another key than this export, under which "
                         "these would not be found again; import into a file of its own");
    const auto last = tables_.last();
    if (!last) return last.error();
    behind_ = *last;
    return {};
  }

  Status put(const SessionLine& line) {
    if (auto status = finish_session(); !status.ok()) return status;
    if (line.number <= last_number_ || line.number > store_.sessions)
      return wrong("session number " + std::to_string(line.number) +
                   ", expected one behind the session before, up to " +
                   std::to_string(store_.sessions));
    last_number_ = line.number;
    const auto there = tables_.session(line.spec->id);
    if (!there) return there.error();
    Session& session = session_.emplace();
    session.turns = line.turns;
    session.info.spec = line.spec;
    session.info.implicit = line.implicit;
    session.info.last_used_ms = line.spec->created_ms;
    if (*there) {
      session.known = true;
      session.info.number = (*there)->info.number;
      if (same_session((*there)->info, line)) return {};
      return in_store_already(line.spec->id);
    }
    return add_session(session, line);
  }

  Status add_session(Session& session, const SessionLine& line) {
    if (line.spec->id.empty()) return wrong("a session without an id");
    if (line.version <= line.turns)
      return wrong("version " + std::to_string(line.version) + " behind " +
                   std::to_string(line.turns) + " commits");
    const auto taken = tables_.secret_taken(line.spec->secret_hash);
    if (!taken) return taken.error();
    if (*taken)
      return base::error(ErrorKind::kConflict,
                         "session " + line.spec->id + ": another session has its secret already");
    session.info.number = behind_.session + line.number;
    session.info.version = line.version;
    return tables_.insert(session.info);
  }

  static Status in_store_already(const std::string& id) {
    return base::error(ErrorKind::kConflict,
                       "session " + id + " is in the store already, and is not the same there");
  }

  Status put(const RootLine& line) {
    if (line.root != roots_.size() + 1) return wrong("roots that are not in order");
    auto info = decode_root(line.bytes);
    if (!info) return wrong(info.error().message);
    if (encode(**info) != line.bytes) return wrong("a root in another spelling than ours");
    roots_.push_back({line.bytes, std::move(*info)});
    return {};
  }

  Status put(const TurnLine& line) {
    if (!session_) return wrong("a turn without a session");
    Session& session = *session_;
    if (line.seq != session.made.size() + 1 || line.parent >= line.seq)
      return wrong("turn " + std::to_string(line.seq) + " below turn " +
                   std::to_string(line.parent) + ", expected turn " +
                   std::to_string(session.made.size() + 1) + " below one before it");
    if (line.root == 0 || line.root > roots_.size()) return wrong("a root that was not named");
    if (session.known) return compare(line);
    return add_turn(line);
  }

  Status compare(const TurnLine& line) {
    const auto there = tables_.turn(session_->info.number, line.seq);
    if (!there) return there.error();
    if (!*there) return in_store_already(session_->info.spec->id);
    const TurnLine& other = (*there)->turn;
    const bool same = other.parent == line.parent && other.id == line.id &&
                      other.branch == line.branch && other.digest == line.digest &&
                      other.bytes == line.bytes && (*there)->root == roots_[line.root - 1].bytes;
    if (!same) return in_store_already(session_->info.spec->id);
    session_->made.push_back(nullptr);
    return {};
  }

  Status add_turn(const TurnLine& line) {
    Session& session = *session_;
    auto decoded = decode_turn(line.bytes);
    if (!decoded) return wrong(decoded.error().message);
    auto turn = std::move(*decoded);
    if (encode(*turn) != line.bytes) return wrong("a turn in another spelling than ours");
    turn->id = line.id;
    turn->session_id = session.info.spec->id;
    turn->root = roots_[line.root - 1].info;
    turn->digest = line.digest;
    if (line.parent != 0) turn->parent = session.made[line.parent - 1];
    if (auto status = check_imported(*turn); !status.ok()) return status;
    join_path(*turn);
    std::optional<std::uint64_t> goes_on;
    if (turn->parent && session.continued.insert(line.parent).second)
      goes_on = turn->parent->branch;
    const auto version = session.info.version;
    enter(session.info, *turn, goes_on);
    session.info.version = version;
    if (turn->branch != line.branch)
      return wrong("branch " + std::to_string(line.branch) + ", expected " +
                   std::to_string(turn->branch));
    return write_turn(line, std::move(turn));
  }

  Status write_turn(const TurnLine& line, std::unique_ptr<Turn> turn) {
    Session& session = *session_;
    session.ids.insert(line.id);
    TurnLine moved = line;
    moved.commit += behind_.commit;
    if (line.commit == 0 || line.commit > store_.commits || moved.commit <= session.newest)
      return wrong("commit " + std::to_string(line.commit) +
                   ", expected one behind the turn before, up to " +
                   std::to_string(store_.commits));
    const auto before = tables_.commit_taken(moved.commit);
    if (!before) return before.error();
    if (*before) return wrong("a second turn of commit " + std::to_string(line.commit));
    const auto taken = tables_.turn_taken(line.id);
    if (!taken) return taken.error();
    if (*taken)
      return base::error(ErrorKind::kConflict, "turn " + std::to_string(line.id) + " of session " +
                                                   session.info.spec->id +
                                                   " is in the store already");
    const auto root = tables_.use_root(session.info.number, roots_[line.root - 1].bytes);
    if (!root) return root.error();
    session.newest = moved.commit;
    session.disk += line.bytes.size() + kRowBytes;
    if (root->fresh) session.disk += roots_[line.root - 1].bytes.size();
    session.made.emplace_back(std::move(turn));
    ++done_.turns;
    return tables_.insert(session.info.number, root->number, moved);
  }

  Status put(const ResponseLine& line) {
    if (!session_) return wrong("a response without its session");
    Session& session = *session_;
    const StoredResponse& response = *line.response;
    if (session.made.size() != session.turns) return wrong("a response in front of a turn");
    if (response.id.empty() || response.id <= session.response)
      return wrong("responses that are not in order");
    session.response = response.id;
    const auto there = tables_.response(response.id);
    if (!there) return there.error();
    if (*there) {
      if (session.known && same(**there, response, session.info.spec->id)) return {};
      return base::error(ErrorKind::kConflict, "response " + response.id +
                                                   " is in the store already, and is not the same "
                                                   "there");
    }
    if (session.known) return in_store_already(session.info.spec->id);
    if (!session.ids.contains(response.turn))
      return wrong("a response of a turn that is not there");
    session.disk += disk_bytes(response);
    return tables_.insert(session.info.number, response);
  }

  Status put(const ConversationLine& line) {
    if (!session_) return wrong("a conversation without its session");
    const Session& session = *session_;
    if (session.made.size() != session.turns) return wrong("a conversation in front of a turn");
    return conversation_.begin({session.info.number, session.info.spec->id, session.known},
                               line.conversation, session.ids);
  }

  Status put(const ItemLine& line) { return conversation_.add(*line.item); }

  static bool same(const StoredResponse& there, const StoredResponse& response,
                   const std::string& session) {
    return there.session_id == session && there.turn == response.turn &&
           there.instructed == response.instructed && there.created_ms == response.created_ms &&
           there.body == response.body && there.input == response.input;
  }

  Status finish_session() {
    if (!session_) return {};
    Session& session = *session_;
    if (auto status = conversation_.finish(session.disk); !status.ok()) return status;
    if (session.made.size() != session.turns)
      return wrong("session " + session.info.spec->id + " has " +
                   std::to_string(session.made.size()) + " turns here, expected " +
                   std::to_string(session.turns));
    if (!session.known && session.disk != 0) {
      auto status = tables_.update(session.info, session.disk, session.newest);
      if (!status.ok()) return status;
    }
    seen_turns_ += session.turns;
    done_.equal += session.known ? 1 : 0;
    done_.sessions += session.known ? 0 : 1;
    ++seen_sessions_;
    session_.reset();
    if (seen_sessions_ % kTellEach == 0 && progress_) progress_(seen_sessions_);
    return {};
  }

  Status put(const EndLine& line) {
    if (auto status = finish_session(); !status.ok()) return status;
    ended_ = true;
    if (line.sessions == seen_sessions_ && line.turns == seen_turns_) return {};
    return wrong("counts " + std::to_string(line.sessions) + " sessions and " +
                 std::to_string(line.turns) + " turns, found " + std::to_string(seen_sessions_) +
                 " and " + std::to_string(seen_turns_));
  }

  Connection& connection_;
  ImportTables tables_;
  ImportConversation conversation_;
  const Progress& progress_;
  bool begun_ = false, ended_ = false;
  StoreLine store_;
  ImportTables::Last behind_;
  std::uint64_t last_number_ = 0, seen_sessions_ = 0, seen_turns_ = 0;
  std::vector<Root> roots_;
  std::optional<Session> session_;
  Exchanged done_;
};

// A store that was made for nothing goes again.
void remove_new(const ToolTarget& target) {
  for (const char* suffix : {"", "-wal", "-shm"}) {
    const std::string file = target.path + suffix;
    if (target.files.exists(file)) (void)target.files.remove(file);
  }
}

}  // namespace

Result<Exchanged> import_file(const ToolTarget& target, base::Random& random,
                              const LineSource& lines, const Progress& progress) {
  const bool is_new = target.vfs.empty() && !target.files.exists(target.path);
  bool ours = false;
  auto done = [&]() -> Result<Exchanged> {
    auto held = hold_or_make(target, random);
    if (!held) return std::move(held).error();
    ours = is_new;
    for (const char* sql : {"PRAGMA synchronous = EXTRA", "PRAGMA journal_size_limit = 16777216"}) {
      if (auto status = held->connection.run(sql); !status.ok()) return std::move(status).error();
    }
    return Import(held->connection, progress).run(lines);
  }();
  if (!done && ours) remove_new(target);
  return done;
}

}  // namespace verbatim::store::sqlite
