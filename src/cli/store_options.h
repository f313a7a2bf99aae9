#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/files.h"
#include "base/result.h"
#include "store/sqlite/database.h"
#include "store/store.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}

namespace verbatim::cli {

// Where conversations are kept.
struct StoreOptions {
  std::string store;                 // memory, sqlite, sqlite:FILE; empty: sqlite
  std::string data_dir;              // of a store without a FILE; empty: the user's state directory
  std::uint64_t owner_sessions = 0;  // that one owner may have created; 0: any number
  std::uint64_t memory_mb = 0;       // of a file's turns in memory; 0: as the store likes
  std::size_t owners = 1;            // among whom a store in memory is shared out
  bool keep_ended = false;           // of what is made from the store: see DatabaseOptions

  void add(CLI::App& command);
  // The option that was given, for whom it can't mean anything; null: none.
  [[nodiscard]] const char* given() const;
};

// The file of a SQLite store; empty: the store is in memory. Errors name the option.
base::Result<std::string> store_path(const StoreOptions& options);

// In which a file lies.
std::string directory_of(const std::string& path);

// The store of a command: opened once, with one `Store` for each executor. Destroyed before these,
// when nobody waits for it any more.
class StoreHome {
 public:
  using Open = store::sqlite::Database::Open;
  static base::Result<std::unique_ptr<StoreHome>> open(base::Files& files,
                                                       const StoreOptions& options,
                                                       Open how = Open::kServe);

  // Lives as long as this does.
  [[nodiscard]] store::Store& on(base::Executor& executor);
  // The secret under which digests are made.
  [[nodiscard]] const std::string& key() const { return key_; }
  [[nodiscard]] std::string describe() const;
  // Null: in memory.
  [[nodiscard]] store::sqlite::Database* database() { return database_.get(); }

 private:
  std::string path_;
  std::string key_;
  std::unique_ptr<store::sqlite::Database> database_;
  std::vector<std::unique_ptr<store::Store>> stores_;
};

}  // namespace verbatim::cli
