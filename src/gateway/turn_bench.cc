// The gateway's own work for one turn of a long session: plan, parse, commit. Reading the agent's
// body and printing and sending ids are not in it: the request is given as messages, made right
// before the clock starts, as a reader leaves them; the engine is one that looks at nothing. What
// the sessions have recorded is cold: they take turns. On SQLite all that the store's threads do is
// in it too, a turn alone in its batch, with the system's part of writing and syncing a real file.
#include <ctime>
#include <filesystem>

#include <benchmark/benchmark.h>

#include "base/sim/sim_worker.h"
#include "chat/testing/toy_chat.h"
#include "gateway/testing/scene.h"
#include "store/sqlite/sqlite_store.h"

namespace verbatim::gateway {
namespace {

using base::Result;
using base::Status;
using base::Task;
using message::Message;
using message::Role;

constexpr std::size_t kSessions = 20;

class Stream final : public engine::TokenStream {
 public:
  explicit Stream(engine::TokenIds answer) : answer_(std::move(answer)) {
    end_.finish.raw = "stop";
  }
  Task<Result<std::optional<engine::TokenChunk>>> next() override {
    if (answer_.empty()) co_return std::optional<engine::TokenChunk>();
    engine::TokenChunk chunk;
    chunk.logprobs.assign(answer_.size(), -0.5);
    chunk.ids = std::exchange(answer_, {});
    co_return std::optional<engine::TokenChunk>(std::move(chunk));
  }
  [[nodiscard]] const engine::TokenEnd& end() const override { return end_; }
  Status cut() override { return {}; }
  void abort() override {}

 private:
  engine::TokenIds answer_;
  engine::TokenEnd end_;
};

// Answers the same to every prompt, and reads none.
class BlindEngine final : public engine::Engine {
 public:
  [[nodiscard]] std::string_view kind() const override { return "blind"; }
  [[nodiscard]] std::string_view mode() const override { return "bench"; }
  [[nodiscard]] Status check(const message::Sampling&) const override { return {}; }
  Task<Result<std::unique_ptr<engine::TokenStream>>> generate(engine::TokenRequest) override {
    co_return std::unique_ptr<engine::TokenStream>(std::make_unique<Stream>(answer_));
  }
  Task<Result<engine::Probe>> probe(base::MonoTime) override { co_return engine::Probe(); }
  Task<Status> ready(base::MonoTime) override { co_return Status(); }
  Task<void> stop() override { co_return; }

 private:
  const engine::TokenIds answer_ = chat::testing::encoded("it is warmer in Rome<|im_end|>");
};

// One session's agent: what it will send next, and what it was answered.
struct Agent {
  std::string session;
  std::vector<Message> history{make(Role::kSystem, "You are a helpful agent.")};

  static Message make(Role role, std::string text) {
    Message message;
    message.role = role;
    message.text = std::move(text);
    return message;
  }
  TurnRequest next() {
    history.push_back(
        make(Role::kUser,
             "what is the weather in Rome and in Paris, and which of them is warmer today?"));
    auto request = testing::Scene::request(history);
    request.session_id = session;
    return request;
  }
};

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

enum class Kind { kMemory, kSqlite };

// SQLite in a folder of its own, its threads on the executor.
class OnDisk {
 public:
  explicit OnDisk(base::sim::SimExecutor& executor) {
    std::string name = (std::filesystem::temp_directory_path() / "turn-bench-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    folder_ = name;
    const auto worker = [&executor] { return std::make_unique<base::sim::SimWorker>(executor, 1); };
    store::sqlite::DatabaseOptions options;
    options.path = name + "/store.db";
    auto opened = store::sqlite::Database::open(*files_, random_, {worker(), worker(), worker()},
                                                std::move(options));
    if (!opened) std::abort();
    database_ = std::move(*opened);
    store_ = std::make_unique<store::sqlite::SqliteStore>(*database_, executor);
  }
  OnDisk(const OnDisk&) = delete;
  OnDisk& operator=(const OnDisk&) = delete;
  ~OnDisk() {
    store_ = nullptr;
    database_ = nullptr;
    std::filesystem::remove_all(folder_);
  }
  [[nodiscard]] store::Store& store() { return *store_; }

 private:
  std::filesystem::path folder_;
  base::SeededRandom random_{1};
  std::unique_ptr<base::Files> files_ = base::system_files();
  std::unique_ptr<store::sqlite::Database> database_;
  std::unique_ptr<store::Store> store_;
};

class Sessions {
 public:
  explicit Sessions(Kind kind) {
    if (kind == Kind::kSqlite) on_disk_.emplace(scene_.world.executor);
    store::Store& store = on_disk_ ? on_disk_->store() : scene_.store;
    runner_.emplace(scene_.world.runtime, *scene_.model, engine_, store, nullptr,
                    testing::Scene::kKey);
    for (std::size_t i = 0; i < kSessions; ++i) {
      agents_.push_back({"bench" + std::to_string(i)});
      scene_.run(create(store, agents_.back().session));
    }
  }

  // A turn of each session. CPU seconds of all of them.
  double round() {
    double seconds = 0;
    for (auto& agent : agents_) {
      auto request = agent.next();
      trajectory::TurnPtr turn;
      const double begin = cpu_seconds();
      scene_.run(run(request, turn));
      seconds += cpu_seconds() - begin;
      if (turn == nullptr) std::abort();
      agent.history.push_back(turn->answer);
    }
    return seconds;
  }

 private:
  static Task<void> create(store::Store& store, std::string id) {
    auto made = co_await store.create_session(store::SessionSpec(std::move(id), 5));
    if (!made.ok()) std::abort();
  }

  Task<void> run(TurnRequest& request, trajectory::TurnPtr& turn) {
    auto result = co_await runner_->run(request, watcher_, scene_.cancel);
    if (result) turn = result->front();
  }

  class Watcher final : public TurnObserver {
   public:
    Task<Status> on_chunk(std::span<const message::Event>, const engine::TokenChunk&) override {
      co_return Status();
    }
  };

  testing::Scene scene_;
  BlindEngine engine_;
  Watcher watcher_;
  std::optional<OnDisk> on_disk_;
  std::optional<TurnRunner> runner_;
  std::vector<Agent> agents_;
};

// Turns at depth `state.range(0)` and a few behind it.
void turn_at_depth(benchmark::State& state, Kind kind) {
  Sessions sessions(kind);
  for (std::int64_t depth = 1; depth < state.range(0); ++depth) sessions.round();
  double seconds = 0;
  for (auto _ : state) {
    const double round = sessions.round();
    state.SetIterationTime(round);
    seconds += round;
  }
  state.counters["us_per_turn"] =
      seconds * 1e6 / static_cast<double>(state.iterations() * kSessions);
}

void depths(benchmark::internal::Benchmark* bench) {
  for (const int depth : {2, 10, 50, 200}) bench->Arg(depth);
  bench->Iterations(10)->Repetitions(7)->UseManualTime()->ReportAggregatesOnly();
}
BENCHMARK_CAPTURE(turn_at_depth, memory, Kind::kMemory)->Apply(depths);
BENCHMARK_CAPTURE(turn_at_depth, sqlite, Kind::kSqlite)->Apply(depths);

}  // namespace
}  // namespace verbatim::gateway
