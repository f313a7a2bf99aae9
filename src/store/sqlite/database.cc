#include "store/sqlite/database.h"

#include <sqlite3.h>

#include "store/sqlite/schema.h"

namespace verbatim::store::sqlite {

using base::ErrorKind;
using base::Result;
using base::Status;

namespace {

// A write-ahead log that was copied back is cut to this.
constexpr const char* kPragmas =
    "PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 16777216; "
    "PRAGMA temp_store = MEMORY;";

Result<std::unique_ptr<base::FileLock>> lock_of(base::Files& files, const std::string& file,
                                                const std::string& path) {
  auto lock = files.lock(file);
  if (lock || lock.error().kind != ErrorKind::kConflict) return lock;
  return base::error(ErrorKind::kConflict, "the store at " + path +
                                               " is in use by another process; stop that, or name "
                                               "another file with --store sqlite:FILE");
}

Status older(const std::string& path, int version) {
  return base::error(
      ErrorKind::kUnsupported,
      path + " has schema version " + std::to_string(version) + ", expected " +
          std::to_string(kSchemaVersion) +
          "; save a copy of it, then run: verbatim store migrate --store sqlite:" + path);
}

}  // namespace

Result<StoreLock> lock_store(base::Files& files, const std::string& path, const std::string& vfs) {
  StoreLock lock;
  auto beside = lock_of(files, path + ".lock", path);
  if (!beside) return std::move(beside).error();
  lock.beside = std::move(*beside);
  if (!vfs.empty()) return lock;
  auto file = lock_of(files, path, path);
  if (!file) return std::move(file).error();
  lock.file = std::move(*file);
  return lock;
}

Result<std::unique_ptr<Database>> Database::open(base::Files& files, base::Random& random,
                                                 DatabaseWorkers workers, DatabaseOptions options,
                                                 Open how) {
  const std::string path = options.path;
  if (how == Open::kMigrate && !files.exists(path))
    return base::error(
        ErrorKind::kNotFound,
        "there is no store at " + path + "; name it with --store sqlite:FILE or --data-dir");
  std::unique_ptr<Database> database(new Database(std::move(workers), std::move(options)));
  auto lock = lock_store(files, path, database->options_.vfs);
  if (!lock) return std::move(lock).error();
  database->lock_ = std::move(*lock);
  if (auto status = database->open_writer(random, how); !status.ok())
    return std::move(status).error();
  if (auto status = database->open_readers(); !status.ok()) return std::move(status).error();
  if (auto status = database->note_places(files); !status.ok()) return std::move(status).error();
  // A new one begins with what is asked of it; its log is copied back for the first time later.
  if (database->schema_found_ != 0 && database->options_.reserve_bytes != 0)
    database->workers_.checkpoint->run([&reserve = database->reserve_] { reserve.take(); });
  return database;
}

Database::Database(DatabaseWorkers workers, DatabaseOptions options)
    : options_(std::move(options)),
      cache_(options_.cache_bytes),
      reserve_(options_.path + "-reserve", options_.vfs, options_.reserve_bytes),
      workers_(std::move(workers)) {}

Result<Connection> Database::connect(Connection::Mode mode) const {
  auto connection = Connection::to(options_.path, mode, options_.vfs);
  if (!connection) return connection;
  if (auto status = connection->run(kPragmas); !status.ok()) return std::move(status).error();
  // In KiB, where it is negative.
  const auto pages = "PRAGMA cache_size = -" + std::to_string(options_.page_bytes >> 10);
  if (auto status = connection->run(pages.c_str()); !status.ok()) return std::move(status).error();
  // In WAL mode the same as FULL. Before, while a new file is brought to it, a removed rollback
  // journal could come back with a loss of power and undo that: the log beside it would be thrown
  // away, with all that was acknowledged.
  const char* synchronous =
      options_.synchronous ? "PRAGMA synchronous = EXTRA" : "PRAGMA synchronous = OFF";
  if (auto status = connection->run(synchronous); !status.ok()) return std::move(status).error();
  return connection;
}

Status Database::open_writer(base::Random& random, Open how) {
  const auto mode = how == Open::kServe ? Connection::Mode::kCreate : Connection::Mode::kWrite;
  auto connection = connect(mode);
  if (!connection) return std::move(connection).error();
  write_connection_ = std::move(*connection);
  const auto version = schema_version(write_connection_, options_.path);
  if (!version) return version.error();
  schema_found_ = *version;
  if (*version != 0 && *version < kSchemaVersion && how == Open::kServe)
    return older(options_.path, *version);
  if (auto status = write_connection_.run("PRAGMA journal_mode = WAL"); !status.ok()) return status;
  if (auto status = migrate(write_connection_, *version, random); !status.ok()) return status;
  auto key = read_key(write_connection_);
  if (!key) return std::move(key).error();
  key_ = std::move(*key);
  auto tables = Tables::of(write_connection_, cache_,
                           {options_.implicit_bytes, options_.owner_sessions,
                            options_.keep_ended ? &ended_noted_ : nullptr});
  if (!tables) return std::move(tables).error();
  writer_ = std::make_unique<Writer>(
      *workers_.write, write_connection_, std::move(*tables), options_.writer,
      Writer::Outside{[this](std::function<void()> done) { checkpoint(std::move(done)); },
                      [this] { return in_place(); }, [this] { return reserve_.give(); },
                      [this](std::uint64_t bytes) {
                        return has_room(options_.path + "-room", options_.vfs, bytes);
                      }});
  return {};
}

Status Database::open_readers() {
  auto reads = connect(Connection::Mode::kRead);
  if (!reads) return std::move(reads).error();
  read_connection_ = std::move(*reads);
  auto reader = Reader::of(read_connection_, &cache_);
  if (!reader) return std::move(reader).error();
  reader_ = std::move(*reader);
  auto dumps = connect(Connection::Mode::kRead);
  if (!dumps) return std::move(dumps).error();
  dump_connection_ = std::move(*dumps);
  auto dumper = Reader::of(dump_connection_, nullptr);
  if (!dumper) return std::move(dumper).error();
  dump_reader_ = std::move(*dumper);
  auto copies = connect(Connection::Mode::kWrite);
  if (!copies) return std::move(copies).error();
  checkpoint_connection_ = std::move(*copies);
  return {};
}

// SQLite goes on writing into files that were removed, and what another program makes in their
// place is not this store. All three are held open, and stay the same for as long.
Status Database::note_places(base::Files& files) {
  if (!options_.vfs.empty()) return {};
  for (const char* suffix : {"", "-wal", "-shm"}) {
    const std::string path = options_.path + suffix;
    auto place = files.place(path);
    if (!place) return std::move(place).error();
    places_.push_back({path, std::move(*place)});
  }
  return {};
}

Status Database::in_place() const {
  for (const auto& [path, place] : places_) {
    if (place->kept()) continue;
    return base::error(ErrorKind::kUnavailable,
                       path +
                           " was removed or replaced since this gateway opened it: put the file "
                           "back, or start the gateway again");
  }
  return {};
}

// The threads end first: they run what is queued. A checkpoint that ends may still queue a batch.
Database::~Database() {
  if (writer_) writer_->close();
  workers_.checkpoint.reset();
  workers_.write.reset();
  workers_.read.reset();
}

bool Database::read(std::function<void(Reader& reader)> read) {
  if (queued_reads_.fetch_add(1) >= options_.queued_reads) {
    --queued_reads_;
    return false;
  }
  workers_.read->run([this, read = std::move(read)] {
    --queued_reads_;
    read(*reader_);
  });
  return true;
}

// Passive: waits for nobody. What it does not get done, the next one does.
void Database::checkpoint(std::function<void()> done) {
  workers_.checkpoint->run([this, done = std::move(done)] {
    sqlite3_wal_checkpoint_v2(checkpoint_connection_.handle(), nullptr, SQLITE_CHECKPOINT_PASSIVE,
                              nullptr, nullptr);
    reserve_.take();
    done();
  });
}

Result<std::unique_ptr<CommitLog>> Database::commit_log() {
  auto connection = connect(Connection::Mode::kRead);
  if (!connection) return std::move(connection).error();
  return sqlite::commit_log(std::move(*connection), key_, ended_noted_);
}

std::string Database::dump() {
  std::lock_guard lock(dump_mutex_);
  auto text = dump_reader_->dump();
  return text ? std::move(*text) : "unreadable: " + text.error().message + "\n";
}

}  // namespace verbatim::store::sqlite
