#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/random.h"
#include "base/worker.h"
#include "store/commit_log.h"
#include "store/sqlite/commit_log.h"
#include "store/sqlite/reader.h"
#include "store/sqlite/reserve.h"
#include "store/sqlite/writer.h"

namespace verbatim::store::sqlite {

struct DatabaseOptions {
  std::string path;
  std::string vfs;                                   // SQLite's name; empty: the system's
  std::size_t cache_bytes = std::size_t{256} << 20;  // of turns in memory
  std::size_t page_bytes = std::size_t{16} << 20;    // of the file's pages, for each connection
  // Of sessions of stateless chat on disk; over it, of the owner who has most, the one that
  // committed longest ago goes.
  std::uint64_t implicit_bytes = std::uint64_t{4} << 30;
  std::uint64_t owner_sessions = 0;  // created by one owner; more are refused; 0: any number
  // Of one of them, as SessionInfo counts them: more turns are refused.
  std::uint64_t implicit_session_bytes = std::uint64_t{512} << 20;
  // Sessions that end are kept for the commit log until it is told to forget them.
  bool keep_ended = false;
  // Of the disk, kept so that sessions can be deleted when it is full.
  std::uint64_t reserve_bytes = 0;
  std::size_t queued_reads = 8192;  // more are refused with kUnavailable
  WriterOptions writer;
  // Tests alone turn it off, to see that they would notice.
  bool synchronous = true;
};

// What keeps other processes away from a store, by whatever name they call it. Goes with the
// process, however that ends. Must outlive the connections: with the last descriptor of the file
// that a process closes, the locks of SQLite on it go.
struct StoreLock {
  std::unique_ptr<base::FileLock> beside;  // <path>.lock: of the name, also while the file is made
  std::unique_ptr<base::FileLock> file;    // of the file itself: links to it are no other store
};
// Makes the file where it is missing (SQLite would make one that others may read). With a `vfs` of
// its own a store has no file, and the first lock alone. kConflict says who to stop.
base::Result<StoreLock> lock_store(base::Files& files, const std::string& path,
                                   const std::string& vfs);

// The threads of a store: one for changes, one for what has to be read from disk, one that copies
// the log back.
struct DatabaseWorkers {
  std::unique_ptr<base::Worker> write, read, checkpoint;
};

// An open store: a SQLite file in WAL mode, synchronous FULL. Shared by the threads of a gateway,
// each of which has a SqliteStore on it. No other process has it meanwhile.
//
// Life: opened at start-up, destroyed when nobody waits for it any more and before the executors.
class Database {
 public:
  enum class Open {
    kServe,    // made where it is missing; an older schema is refused
    kMigrate,  // must be there; an older schema is brought up
  };
  // Errors say what to do: kNotFound, kConflict (another process has it), kUnsupported (another
  // program's, newer or older), kInternal (damaged), kUnavailable (the disk).
  static base::Result<std::unique_ptr<Database>> open(base::Files& files, base::Random& random,
                                                      DatabaseWorkers workers,
                                                      DatabaseOptions options,
                                                      Open how = Open::kServe);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  // The secret under which digests are made: as old as the store.
  [[nodiscard]] const std::string& key() const { return key_; }
  [[nodiscard]] PathCache& cache() { return cache_; }
  [[nodiscard]] Writer& writer() { return *writer_; }
  // Runs `read` on the reader's thread. False: too much waits there already.
  [[nodiscard]] bool read(std::function<void(Reader& reader)> read);
  [[nodiscard]] std::size_t queued_reads_limit() const { return options_.queued_reads; }
  [[nodiscard]] std::uint64_t implicit_session_limit() const {
    return options_.implicit_session_bytes;
  }
  [[nodiscard]] std::string dump();
  [[nodiscard]] const std::string& path() const { return options_.path; }
  [[nodiscard]] int schema_found() const { return schema_found_; }
  // Reads on a connection of its own. Ends before this.
  [[nodiscard]] base::Result<std::unique_ptr<CommitLog>> commit_log();

 private:
  Database(DatabaseWorkers workers, DatabaseOptions options);
  base::Status open_writer(base::Random& random, Open how);
  base::Status open_readers();
  base::Result<Connection> connect(Connection::Mode mode) const;
  // From here on the files are looked for before each write.
  base::Status note_places(base::Files& files);
  [[nodiscard]] base::Status in_place() const;
  void checkpoint(std::function<void()> done);

  const DatabaseOptions options_;
  StoreLock lock_;
  struct Place {
    std::string path;
    std::unique_ptr<base::FilePlace> place;
  };
  std::vector<Place> places_;  // set before anything is written
  EndedNoted ended_noted_ = 0;
  std::string key_;
  int schema_found_ = 0;
  PathCache cache_;
  Connection write_connection_, read_connection_, checkpoint_connection_, dump_connection_;
  std::mutex dump_mutex_;
  Reserve reserve_;
  std::unique_ptr<Reader> reader_, dump_reader_;
  std::unique_ptr<Writer> writer_;
  std::atomic<std::size_t> queued_reads_ = 0;
  DatabaseWorkers workers_;
};

}  // namespace verbatim::store::sqlite
