#include "store/sqlite/sqlite_store.h"

#include <coroutine>

#include "base/sha256.h"
#include "store/rules.h"
#include "store/sqlite/turn_codec.h"

namespace verbatim::store::sqlite {

using base::ErrorKind;
using base::Result;
using base::Status;
using base::Task;

namespace {

constexpr base::Duration kProbeEach = std::chrono::seconds(1);

// What a coroutine waits for that another thread answers; resumed on its executor.
template <class T>
class Reply {
 public:
  explicit Reply(base::Executor& executor) : executor_(executor) {}
  Reply(const Reply&) = delete;
  Reply& operator=(const Reply&) = delete;

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiter) {
    waiter_ = waiter;
    begin();
  }
  T await_resume() { return std::move(*value_); }

 protected:
  ~Reply() = default;
  // Once; this may be gone when it returns.
  void answer(T value) {
    value_.emplace(std::move(value));
    executor_.post([waiter = waiter_] { waiter.resume(); });
  }

 private:
  virtual void begin() = 0;

  base::Executor& executor_;
  std::coroutine_handle<> waiter_;
  std::optional<T> value_;
};

// co_await Read(...) -> what `read` makes of the reader.
template <class F>
class Read final : public Reply<std::invoke_result_t<F&, Reader&>> {
 public:
  using Value = std::invoke_result_t<F&, Reader&>;
  Read(Database& database, base::Executor& executor, F read)
      : Reply<Value>(executor), database_(database), read_(std::move(read)) {}

 private:
  void begin() override {
    if (database_.read([this](Reader& reader) { this->answer(told(read_(reader))); })) return;
    this->answer(base::error(ErrorKind::kUnavailable,
                             "the store's disk is slower than what is asked of it: " +
                                 std::to_string(database_.queued_reads_limit()) +
                                 " requests wait for it; try again"));
  }

  // Damage is nothing that the request could be blamed for, and stays until somebody mends it.
  Value told(Value read) const {
    if (read.ok() || read.error().kind != ErrorKind::kInternal) return read;
    return base::error(ErrorKind::kUnavailable,
                       "the store can't be read (" + read.error().message +
                           "); stop this gateway and run: verbatim store check --store sqlite:" +
                           database_.path());
  }

  Database& database_;
  F read_;
};

// co_await a change -> T, once its batch is on disk or has failed.
template <class T>
class Change : public Work, public Reply<T> {
 public:
  Change(Database& database, base::Executor& executor) : Reply<T>(executor), database_(database) {}

 protected:
  Database& database_;

 private:
  void begin() override { database_.writer().add(*this); }
};

// Nothing but the word that the disk takes what is written.
class Fence final : public Change<Status> {
 public:
  using Change::Change;
  Status apply(Tables& /*tables*/) override { return {}; }
  void settle(const Status& batch) override { answer(batch); }
};

// A write of its own, that changes nothing which anybody asks for.
class Touch final : public Change<Status> {
 public:
  using Change::Change;
  Status apply(Tables& tables) override { return tables.touch(); }
  void settle(const Status& batch) override { answer(batch); }
};

class Creation final : public Change<Status> {
 public:
  Creation(Database& database, base::Executor& executor, SessionSpec spec)
      : Change(database, executor), spec_(std::make_shared<const SessionSpec>(std::move(spec))) {}
  Status apply(Tables& tables) override { return tables.create(spec_, result_); }
  void settle(const Status& batch) override {
    if (!batch.ok()) return answer(batch);
    if (!*result_) return answer(result_->error());
    database_.cache().committed(**result_);
    answer(Status());
  }

 private:
  const std::shared_ptr<const SessionSpec> spec_;
  Tables::ChangeResult result_;
};

// Bytes of what a change adds.
std::size_t bytes_of(const ConversationChange& change) {
  std::size_t bytes = 0;
  for (const auto& item : change.added) bytes += item.id.size() + item.body.size();
  return bytes;
}

class ConversationCreation final : public Change<Status> {
 public:
  ConversationCreation(Database& database, base::Executor& executor, SessionSpec spec,
                       ConversationChange first)
      : Change(database, executor),
        spec_(std::make_shared<const SessionSpec>(std::move(spec))),
        first_(std::move(first)) {}
  [[nodiscard]] std::size_t bytes() const override { return bytes_of(first_); }
  Status apply(Tables& tables) override {
    return tables.create_conversation(spec_, first_, result_);
  }
  void settle(const Status& batch) override {
    if (!batch.ok()) return answer(batch);
    if (!*result_) return answer(result_->error());
    database_.cache().committed(**result_);
    answer(Status());
  }

 private:
  const std::shared_ptr<const SessionSpec> spec_;
  const ConversationChange first_;
  Tables::ChangeResult result_;
};

class ConversationUpdate final : public Change<Result<Conversation>> {
 public:
  ConversationUpdate(Database& database, base::Executor& executor, ConversationChange change)
      : Change(database, executor), change_(std::move(change)) {}
  [[nodiscard]] bool frees() const override { return !change_.removed.empty(); }
  [[nodiscard]] std::size_t bytes() const override { return bytes_of(change_); }
  Status apply(Tables& tables) override { return tables.change_conversation(change_, result_); }
  void settle(const Status& batch) override {
    if (!batch.ok()) return answer(batch.error());
    if (result_.change) database_.cache().committed(*result_.change);
    answer(std::move(*result_.conversation));
  }

 private:
  const ConversationChange change_;
  Tables::ConversationResult result_;
};

class Deletion final : public Change<Status> {
 public:
  Deletion(Database& database, base::Executor& executor, const std::string& id)
      : Change(database, executor), id_(id), now_ms_(executor.clock().wall_ms()) {}
  [[nodiscard]] bool frees() const override { return true; }
  Status apply(Tables& tables) override { return tables.erase(id_, now_ms_, result_); }
  void settle(const Status& batch) override {
    if (!batch.ok()) return answer(batch);
    if (result_->ok()) database_.cache().deleted(id_);
    answer(*result_);
  }

 private:
  const std::string& id_;
  const std::int64_t now_ms_;
  std::optional<Status> result_;
};

class Expiry final : public Change<Result<bool>> {
 public:
  Expiry(Database& database, base::Executor& executor, const std::string& id,
         std::int64_t before_ms)
      : Change(database, executor),
        id_(id),
        before_ms_(before_ms),
        now_ms_(executor.clock().wall_ms()) {}
  [[nodiscard]] bool frees() const override { return true; }
  Status apply(Tables& tables) override { return tables.expire(id_, before_ms_, now_ms_, result_); }
  void settle(const Status& batch) override {
    if (!batch.ok()) return answer(batch.error());
    if (*result_) database_.cache().deleted(id_);
    answer(*result_);
  }

 private:
  const std::string& id_;
  const std::int64_t before_ms_, now_ms_;
  std::optional<bool> result_;
};

class ResponseDeletion final : public Change<Result<bool>> {
 public:
  ResponseDeletion(Database& database, base::Executor& executor, const std::string& id)
      : Change(database, executor), id_(id) {}
  [[nodiscard]] bool frees() const override { return true; }
  Status apply(Tables& tables) override { return tables.erase_response(id_, erased_); }
  void settle(const Status& batch) override {
    if (!batch.ok()) return answer(batch.error());
    if (erased_.change) database_.cache().committed(*erased_.change);
    if (erased_.found && !erased_.change) database_.cache().deleted(erased_.session);
    answer(erased_.found);
  }

 private:
  const std::string& id_;
  Tables::ErasedResponse erased_;
};

class Commit final : public Change<Result<std::vector<TurnPtr>>> {
 public:
  Commit(Database& database, base::Executor& executor, PreparedTurns prepared)
      : Change(database, executor), prepared_(std::move(prepared)) {
    for (const auto& turn : prepared_.added.turns) names_.push_back({turn->id, turn->digest});
    bytes_ = prepared_.root_bytes.size();
    for (const auto& body : prepared_.bodies) bytes_ += body.size();
    if (const auto& response = prepared_.added.response)
      bytes_ += response->body.size() + response->input.size();
    if (const auto& conversation = prepared_.added.conversation) bytes_ += bytes_of(*conversation);
  }
  [[nodiscard]] std::size_t bytes() const override { return bytes_; }
  [[nodiscard]] std::span<const Name> names() const override { return names_; }
  Status apply(Tables& tables) override {
    auto status = tables.add(prepared_, result_);
    if (!status.ok() || !*result_ || !(*result_)->info.implicit) return status;
    return tables.shrink((*result_)->info.spec->id, dropped_);
  }
  void settle(const Status& batch) override {
    if (!batch.ok()) return answer(batch.error());
    if (!*result_) return answer(result_->error());
    database_.cache().committed(**result_);
    for (const auto& id : dropped_) database_.cache().deleted(id);
    std::vector<TurnPtr> turns;
    for (const auto& added : (*result_)->turns) turns.push_back(added.turn);
    answer(std::move(turns));
  }

 private:
  PreparedTurns prepared_;
  std::vector<Name> names_;
  std::size_t bytes_ = 0;
  Tables::ChangeResult result_;
  std::vector<std::string> dropped_;
};

}  // namespace

Task<Status> SqliteStore::create_session(SessionSpec spec) {
  Creation creation(database_, executor_, std::move(spec));
  co_return co_await creation;
}

Task<Result<std::optional<SessionInfo>>> SqliteStore::session(std::string id) {
  if (auto known = database_.cache().info(id)) co_return known;
  Read read(database_, executor_, [&id](Reader& reader) { return reader.session(id); });
  co_return co_await read;
}

Task<Result<std::optional<SessionInfo>>> SqliteStore::session_of_secret(std::string secret_hash) {
  if (auto known = database_.cache().info_of_secret(secret_hash)) co_return known;
  Read read(database_, executor_,
            [&secret_hash](Reader& reader) { return reader.session_of_secret(secret_hash); });
  co_return co_await read;
}

Task<Result<std::vector<SessionInfo>>> SqliteStore::sessions(SessionQuery query) {
  Read read(database_, executor_, [&query](Reader& reader) { return reader.sessions(query); });
  co_return co_await read;
}

Task<Status> SqliteStore::delete_session(std::string id) {
  Deletion deletion(database_, executor_, id);
  co_return co_await deletion;
}

Task<Result<IdleSessions>> SqliteStore::idle_sessions(IdleQuery query) {
  Read read(database_, executor_, [&query](Reader& reader) { return reader.idle_sessions(query); });
  co_return co_await read;
}

Task<Result<bool>> SqliteStore::expire_session(std::string id, std::int64_t before_ms) {
  Expiry expiry(database_, executor_, id, before_ms);
  co_return co_await expiry;
}

Task<Result<std::vector<TurnPtr>>> SqliteStore::turns(std::string session_id) {
  Read read(database_, executor_,
            [&session_id](Reader& reader) { return reader.turns(session_id); });
  co_return co_await read;
}

Task<Result<TurnPtr>> SqliteStore::last_turn(std::string session_id) {
  if (auto known = database_.cache().last_turn(session_id)) co_return *known;
  Read read(database_, executor_,
            [&session_id](Reader& reader) { return reader.last_turn(session_id); });
  co_return co_await read;
}

Task<Result<StoredResponsePtr>> SqliteStore::response(std::string id) {
  Read read(database_, executor_, [&id](Reader& reader) { return reader.response(id); });
  co_return co_await read;
}

Task<Result<bool>> SqliteStore::delete_response(std::string id) {
  ResponseDeletion deletion(database_, executor_, id);
  co_return co_await deletion;
}

Task<Status> SqliteStore::create_conversation(SessionSpec spec, ConversationChange first) {
  ConversationCreation creation(database_, executor_, std::move(spec), std::move(first));
  co_return co_await creation;
}

Task<Result<std::optional<Conversation>>> SqliteStore::conversation(std::string id) {
  Read read(database_, executor_, [&id](Reader& reader) { return reader.conversation(id); });
  co_return co_await read;
}

Task<Result<Conversation>> SqliteStore::change_conversation(ConversationChange change) {
  ConversationUpdate update(database_, executor_, std::move(change));
  co_return co_await update;
}

Task<Result<ConversationItems>> SqliteStore::conversation_items(ItemQuery query) {
  Read read(database_, executor_, [&query](Reader& reader) { return reader.items(query); });
  co_return co_await read;
}

Task<Result<std::vector<TurnPtr>>> SqliteStore::commit(NewTurns added) {
  PreparedTurns prepared;
  for (const auto& turn : added.turns) {
    join_path(*turn);
    prepared.bodies.push_back(encode(*turn));
  }
  const Turn& first = *added.turns.front();
  if (!first.parent || first.root != first.parent->root) {
    prepared.root_bytes = encode(*first.root);
    prepared.root_hash = base::sha256_hex(prepared.root_bytes);
  }
  prepared.added = std::move(added);
  Commit commit(database_, executor_, std::move(prepared));
  co_return co_await commit;
}

Task<Status> SqliteStore::settled() {
  Fence fence(database_, executor_);
  co_return co_await fence;
}

Task<Status> SqliteStore::takes_turns(std::string session_id, SessionUse use) {
  if (database_.writer().broken()) {
    auto status = co_await settled();
    if (!status.ok()) co_return status;
  }
  if (use == SessionUse::kExisting || session_id.empty()) co_return Status();
  const auto info = co_await session(std::move(session_id));
  if (!info) co_return info.error();
  co_return info->has_value() ? check_implicit(**info, database_.implicit_session_limit())
                              : Status();
}

Task<Status> SqliteStore::probe() {
  const auto now = executor_.clock().now();
  const bool lately = probed_ && now - *probed_ < kProbeEach;
  if (lately && !database_.writer().broken()) co_return Status();
  probed_ = now;
  Touch touch(database_, executor_);
  co_return co_await touch;
}

Task<Result<std::vector<TurnPtr>>> SqliteStore::newest(const trajectory::Digest& root) {
  std::vector<TurnPtr> newest;
  if (auto turn = database_.cache().newest(root)) newest.push_back(std::move(turn));
  co_return newest;
}

// Turns under way are waited for; whether they came to disk is seen by reading.
Task<Result<std::vector<TurnPtr>>> SqliteStore::find(std::span<const trajectory::Digest> digests) {
  const std::vector<trajectory::Digest> wanted(digests.begin(), digests.end());
  if (database_.writer().under_way(wanted)) (void)co_await settled();
  Read read(database_, executor_, [&wanted](Reader& reader) { return reader.find(wanted); });
  co_return co_await read;
}

Task<Result<std::vector<TurnPtr>>> SqliteStore::by_ids(std::span<const std::uint64_t> ids) {
  const std::vector<std::uint64_t> wanted(ids.begin(), ids.end());
  if (database_.writer().under_way(wanted)) (void)co_await settled();
  std::vector<TurnPtr> known;
  for (const auto id : wanted) {
    if (auto turn = database_.cache().turn_with_id(id)) known.push_back(std::move(turn));
  }
  if (known.size() == wanted.size()) co_return known;
  Read read(database_, executor_, [&wanted](Reader& reader) { return reader.by_ids(wanted); });
  co_return co_await read;
}

}  // namespace verbatim::store::sqlite
