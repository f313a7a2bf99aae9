#include <unordered_map>

#include "store/sqlite/commit_log.h"
#include "store/sqlite/conversation_rows.h"
#include "store/sqlite/exchange.h"
#include "store/sqlite/exchange_lines.h"
#include "store/sqlite/response_rows.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/session_row.h"
#include "store/sqlite/turn_codec.h"

namespace verbatim::store::sqlite {

using base::Result;
using base::Status;

namespace {

constexpr std::uint64_t kTellEach = 1000;

class Export {
 public:
  Export(Connection& connection, const LineSink& sink, const Progress& progress)
      : connection_(connection), sink_(sink), progress_(progress) {}

  Result<Exchanged> run() {
    if (auto status = prepare(); !status.ok()) return std::move(status).error();
    if (auto status = connection_.run("BEGIN"); !status.ok()) return std::move(status).error();
    auto status = write_all();
    (void)connection_.run("COMMIT");
    if (!status.ok()) return std::move(status).error();
    return done_;
  }

 private:
  Status prepare() {
    if (auto status = responses_.prepare(connection_); !status.ok()) return status;
    if (auto status = conversations_.prepare(connection_); !status.ok()) return status;
    return connection_.prepare({
        {&sessions_, "SELECT " VERBATIM_SESSION_COLUMNS ", " VERBATIM_SPEC_COLUMNS
                     " FROM session ORDER BY number"},
        {&turns_,
         "SELECT turn.seq, turn.parent, turn.id, turn.branch, turn.root, turn.body, turn.digest, "
         "body.bytes FROM turn LEFT JOIN body ON body.number = turn.body "
         "WHERE turn.session = ? ORDER BY turn.seq"},
        {&root_, "SELECT bytes FROM root WHERE number = ?"},
    });
  }

  Status write_all() {
    StoreLine store;
    auto key = read_key(connection_);
    if (!key) return std::move(key).error();
    store.key = std::move(*key);
    const auto sessions = connection_.integer(kLastSession);
    if (!sessions) return sessions.error();
    const auto commits = connection_.integer(kLastCommit);
    if (!commits) return commits.error();
    store.sessions = unstored(*sessions);
    store.commits = unstored(*commits);
    if (auto status = write(std::move(store)); !status.ok()) return status;
    if (auto status = write_sessions(); !status.ok()) return status;
    return write(EndLine{done_.sessions, done_.turns});
  }

  Status write_sessions() {
    Use rows(sessions_);
    for (;;) {
      const auto there = rows->step();
      if (!there) return there.error();
      if (!*there) return {};
      const SessionInfo info = session_of(*rows, 0).info;
      SessionLine line{spec_of(*rows, 8), info.number, info.version, info.turns, info.implicit};
      const std::string id = line.spec->id;
      if (auto status = write(std::move(line)); !status.ok()) return status;
      if (auto status = write_turns(info, id); !status.ok()) return status;
      if (auto status = write_responses(info); !status.ok()) return status;
      if (auto status = write_conversation(info); !status.ok()) return status;
      if (++done_.sessions % kTellEach == 0 && progress_) progress_(done_.sessions);
    }
  }

  Status write_turns(const SessionInfo& session, const std::string& id) {
    Use rows(turns_);
    rows->bind(1, stored(session.number));
    for (std::uint64_t seq = 1;; ++seq) {
      const auto there = rows->step();
      if (!there) return there.error();
      if (!*there && seq == session.turns + 1) return {};
      if (!*there || unstored(rows->integer(0)) != seq)
        return damaged(id, seq, "it is not there, though the session counts it");
      auto line = read_turn(*rows);
      if (!line) return damaged(id, seq, line.error().message);
      if (auto status = write(std::move(*line)); !status.ok()) return status;
      ++done_.turns;
    }
  }

  Status write_responses(const SessionInfo& session) {
    const auto responses = responses_.of_session(session.number);
    if (!responses) return responses.error();
    for (const auto& response : *responses) {
      if (auto status = write(ResponseLine{response}); !status.ok()) return status;
    }
    return {};
  }

  Status write_conversation(const SessionInfo& session) {
    auto conversation = conversations_.of_session(session.number);
    if (!conversation) return std::move(conversation).error();
    if (!*conversation) return {};
    auto status = write(ConversationLine{std::move(**conversation)});
    if (!status.ok()) return status;
    return conversations_.each_item(session.number,
                                    [this](const auto& item) { return write(ItemLine{item}); });
  }

  Result<TurnLine> read_turn(const Statement& row) {
    TurnLine line;
    line.seq = unstored(row.integer(0));
    line.parent = unstored(row.integer(1));
    line.id = unstored(row.integer(2));
    line.branch = unstored(row.integer(3));
    line.commit = unstored(row.integer(5));
    line.digest = digest_of(row.bytes(6));
    line.bytes = row.bytes(7);
    const auto turn = decode_turn(line.bytes);
    if (!turn) return turn.error();
    const auto root = name_root(row.integer(4));
    if (!root) return root.error();
    line.root = *root;
    return line;
  }

  // Numbered as they are first named, so that the same store gives the same bytes.
  Result<std::uint64_t> name_root(std::int64_t number) {
    const auto [it, fresh] = roots_.try_emplace(number, roots_.size() + 1);
    if (!fresh) return it->second;
    RootLine line;
    line.root = it->second;
    {
      Use root(root_);
      root->bind(1, number);
      const auto there = root->step();
      if (!there) return there.error();
      line.bytes = *there ? root->bytes(0) : "";
    }
    const auto decoded = decode_root(line.bytes);
    if (!decoded) return decoded.error();
    if (auto status = write(std::move(line)); !status.ok()) return std::move(status).error();
    return it->second;
  }

  Status write(ExchangeLine line) { return sink_(writer_.line(line)); }

  static base::Error damaged(const std::string& session, std::uint64_t seq,
                             const std::string& what) {
    return base::error(base::ErrorKind::kInternal, "turn " + std::to_string(seq) + " of session " +
                                                       session + " can't be exported: " + what +
                                                       "; verbatim store check says more");
  }

  Connection& connection_;
  const LineSink& sink_;
  const Progress& progress_;
  ExchangeWriter writer_;
  Exchanged done_;
  std::unordered_map<std::int64_t, std::uint64_t> roots_;
  Statement sessions_, turns_, root_;
  ResponseReader responses_;
  ConversationReader conversations_;
};

}  // namespace

Result<Exchanged> export_file(const ToolTarget& target, const LineSink& sink,
                              const Progress& progress) {
  auto held = hold(target);
  if (!held) return std::move(held).error();
  return Export(held->connection, sink, progress).run();
}

}  // namespace verbatim::store::sqlite
