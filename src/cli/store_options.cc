#include "cli/store_options.h"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "base/random.h"
#include "cli/engine_options.h"
#include "store/memory_store.h"
#include "store/sqlite/sqlite_store.h"

namespace verbatim::cli {

using base::invalid;
using base::Result;

namespace {

constexpr std::string_view kSqlite = "sqlite:";
constexpr const char* kFile = "store.db";
// Enough to delete a session of a thousand turns from a full disk.
constexpr std::uint64_t kReserve = std::uint64_t{16} << 20;
// Of the file in each connection's memory: enough for the pages of a batch.
constexpr std::size_t kLeastPages = std::size_t{1} << 20;

// As the XDG base directory specification has it.
Result<std::string> state_directory() {
  if (const auto state = environment("XDG_STATE_HOME"); state.starts_with('/'))
    return state + "/verbatim";
  if (const auto home = environment("HOME"); !home.empty()) return home + "/.local/state/verbatim";
  return invalid("--data-dir",
                 "neither XDG_STATE_HOME nor HOME is set, so there is no directory to keep "
                 "conversations in: name one with --data-dir, or use --store memory");
}

// What to do about an error of Database::open().
base::Error with_remedy(base::Error error, const std::string& path) {
  if (error.kind == base::ErrorKind::kInternal)
    error.message += "; verbatim store check --store sqlite:" + path + " says where";
  return error;
}

}  // namespace

std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

void StoreOptions::add(CLI::App& command) {
  command
      .add_option("--store", store,
                  "where conversations are kept: sqlite (in --data-dir), sqlite:FILE, memory (gone "
                  "at exit) (default: sqlite)")
      ->envname("VERBATIM_STORE");
  command
      .add_option("--data-dir", data_dir,
                  "directory of the store (default: verbatim in $XDG_STATE_HOME, or in "
                  "~/.local/state)")
      ->envname("VERBATIM_DATA_DIR");
}

const char* StoreOptions::given() const {
  if (!store.empty()) return "--store";
  return data_dir.empty() ? nullptr : "--data-dir";
}

Result<std::string> store_path(const StoreOptions& options) {
  const bool memory = options.store == "memory";
  const bool file = options.store.starts_with(kSqlite) && options.store.size() > kSqlite.size();
  if ((memory || file) && !options.data_dir.empty())
    return invalid("--data-dir", "only for --store sqlite, found --store " + options.store +
                                     "; leave one of them out");
  if (memory) return std::string();
  if (file) return options.store.substr(kSqlite.size());
  if (!options.store.empty() && options.store != "sqlite")
    return invalid("--store", "found \"" + options.store +
                                  "\", expected memory, sqlite or sqlite:FILE, such as "
                                  "sqlite:conversations.db");
  if (!options.data_dir.empty()) return options.data_dir + "/" + kFile;
  auto state = state_directory();
  if (!state) return state;
  return *state + "/" + kFile;
}

Result<std::unique_ptr<StoreHome>> StoreHome::open(base::Files& files, const StoreOptions& options,
                                                   Open how) {
  auto path = store_path(options);
  if (!path) return std::move(path).error();
  const auto random = base::system_random();
  auto home = std::make_unique<StoreHome>();
  if (path->empty()) {
    if (options.memory_mb != 0)
      return invalid("--store-memory",
                     "only for --store sqlite, of which the file holds what memory does not; leave "
                     "it out, or the store in memory");
    home->key_ = base::new_hex_id(*random);
    store::MemoryLimits limits;
    limits.owner_sessions = options.owner_sessions;
    limits.owners = options.owners;
    home->stores_.push_back(std::make_unique<store::MemoryStore>(limits));
    return home;
  }
  home->path_ = *path;
  if (how == Open::kServe) {
    if (auto status = files.make_private_directories(directory_of(*path)); !status.ok())
      return std::move(status).error().within("--store");
  }
  store::sqlite::DatabaseOptions database;
  database.path = *path;
  database.owner_sessions = options.owner_sessions;
  database.keep_ended = options.keep_ended;
  if (options.memory_mb != 0) {
    database.cache_bytes = std::size_t{options.memory_mb} << 20;
    database.page_bytes = std::clamp(database.cache_bytes / 16, kLeastPages, database.page_bytes);
  }
  if (how == Open::kServe) database.reserve_bytes = kReserve;
  auto opened = store::sqlite::Database::open(
      files, *random,
      {base::thread_worker("store-write"), base::thread_worker("store-read"),
       base::thread_worker("store-copy")},
      std::move(database), how);
  if (!opened) return with_remedy(std::move(opened).error(), *path).within("--store");
  home->database_ = std::move(*opened);
  home->key_ = home->database_->key();
  return home;
}

store::Store& StoreHome::on(base::Executor& executor) {
  if (database_)
    stores_.push_back(std::make_unique<store::sqlite::SqliteStore>(*database_, executor));
  return *stores_.back();
}

std::string StoreHome::describe() const {
  return database_ ? path_ : "memory, gone at exit";
}

}  // namespace verbatim::cli
