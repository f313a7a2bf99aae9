#include "store/testing/store_stage.h"

#include <cstdio>
#include <cstdlib>

#include "base/sim/sim_worker.h"
#include "store/sqlite/sqlite_store.h"

namespace verbatim::store::testing {
namespace {

class MemoryStage final : public StoreStage {
 public:
  MemoryStage(std::uint64_t seed, MemoryLimits limits) : StoreStage(seed), store_(limits) {}
  [[nodiscard]] Store& store() override { return store_; }

 private:
  MemoryStore store_;
};

}  // namespace

std::unique_ptr<StoreStage> memory_stage_within(std::uint64_t seed, MemoryLimits limits) {
  return std::make_unique<MemoryStage>(seed, limits);
}

std::unique_ptr<StoreStage> memory_stage(std::uint64_t seed, std::size_t implicit_bytes) {
  return memory_stage_within(seed, {.implicit_bytes = implicit_bytes});
}

SqliteStage::SqliteStage(std::uint64_t seed, sqlite::DatabaseOptions options)
    : StoreStage(seed),
      vfs(seed * 7 + 1),
      files(seed * 7 + 2),
      random_(seed * 7 + 3),
      options_(std::move(options)) {
  options_.path = kPath;
  options_.vfs = vfs.name();
  (void)files.make_directories("data");
  if (const auto status = open(); !status.ok()) {
    std::fprintf(stderr, "a new store can't be opened: %s\n", status.error().message.c_str());
    std::abort();
  }
}

SqliteStage::~SqliteStage() {
  close();
}

base::Status SqliteStage::open(sqlite::Database::Open how) {
  const auto worker = [this] {
    return std::make_unique<base::sim::SimWorker>(executor, random_.next());
  };
  auto opened =
      sqlite::Database::open(files, random_, {worker(), worker(), worker()}, options_, how);
  if (!opened) return std::move(opened).error();
  database_ = std::move(*opened);
  store_ = std::make_unique<sqlite::SqliteStore>(*database_, executor);
  return {};
}

void SqliteStage::close() {
  store_ = nullptr;
  database_ = nullptr;
}

bool SqliteStage::restart() {
  close();
  return open().ok();
}

base::Status SqliteStage::crash() {
  vfs.power_off();
  executor.run_until_idle();
  close();
  vfs.crash();
  files.crash();
  return open();
}

}  // namespace verbatim::store::testing
