#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/sim/sim_executor.h"
#include "base/sim/sim_files.h"
#include "store/memory_store.h"
#include "store/sqlite/database.h"
#include "store/store.h"
#include "store/testing/fault_vfs.h"

namespace verbatim::store::testing {

// A store on simulated time, for tests that hold for every kind of it.
class StoreStage {
 public:
  explicit StoreStage(std::uint64_t seed) : executor(seed) {}
  StoreStage(const StoreStage&) = delete;
  StoreStage& operator=(const StoreStage&) = delete;
  virtual ~StoreStage() = default;

  [[nodiscard]] virtual Store& store() = 0;
  // Closes the store in good order and opens it again. False: this kind forgets everything.
  virtual bool restart() { return false; }

  // Until the task has ended; aborts the test when it never does.
  template <class T>
  T run(base::Task<T> task) {
    std::optional<T> result;
    start(std::move(task), result);
    executor.run_until_idle();
    return std::move(result).value();
  }
  // Begins a task; run_until_idle() of the executor ends it.
  template <class T>
  static void start(base::Task<T> task, std::optional<T>& result) {
    base::spawn([](base::Task<T> t, std::optional<T>& out) -> base::Task<void> {
      out.emplace(co_await std::move(t));
    }(std::move(task), result));
  }

  base::sim::SimExecutor executor;
};

// `implicit_bytes`: what a store keeps of sessions of stateless chat, in its own measure.
std::unique_ptr<StoreStage> memory_stage(std::uint64_t seed, std::size_t implicit_bytes);
std::unique_ptr<StoreStage> memory_stage_within(std::uint64_t seed, MemoryLimits limits);

// SQLite on a disk in memory, with its threads simulated.
class SqliteStage final : public StoreStage {
 public:
  static constexpr const char* kPath = "data/store.db";
  explicit SqliteStage(std::uint64_t seed, sqlite::DatabaseOptions options = {});
  ~SqliteStage() override;

  [[nodiscard]] Store& store() override { return *store_; }
  bool restart() override;
  // The power goes and comes back; what the store was asked for before is without an answer.
  base::Status crash();
  base::Status open(sqlite::Database::Open how = sqlite::Database::Open::kServe);
  void close();
  [[nodiscard]] sqlite::Database& database() { return *database_; }

  FaultVfs vfs;
  base::sim::SimFiles files;

 private:
  base::SeededRandom random_;
  sqlite::DatabaseOptions options_;
  std::unique_ptr<sqlite::Database> database_;
  std::unique_ptr<Store> store_;
};

}  // namespace verbatim::store::testing
