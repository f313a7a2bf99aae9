#include "cli/serve_turns.h"

#include <mutex>
#include <utility>

#include "api/instance.h"
#include "base/pause.h"
#include "cli/exposure.h"
#include "cli/parts_end.h"
#include "cli/serve_records.h"
#include "cli/serve_relay.h"
#include "engine/background.h"
#include "engine/late_engine.h"
#include "engine/pool/engine.h"
#include "gateway/session_expiry.h"
#include "net/asio_network.h"
#include "net/asio_threads.h"

namespace verbatim::cli {
namespace {

using base::Task;

constexpr base::Duration kProbeTimeout = std::chrono::seconds(5);
constexpr base::Duration kProbeAgain = std::chrono::seconds(2);

// One thread's part of the gateway.
struct Part {
  Part(net::AsioLoop& loop, base::Files& files, base::Worker& worker)
      : network(net::asio_network(loop)),
        runtime{loop, *network, *random, files, worker},
        learning(loop) {}
  std::unique_ptr<base::Random> random = base::system_random();
  std::unique_ptr<base::Network> network;
  base::Runtime runtime;
  std::optional<engine::EngineMetrics> engine_metrics;  // of the one engine there is
  std::unique_ptr<api::Instance> instance;
  base::CancelSignal stop_learning;
  engine::Background learning;
};

enum class Talk { kTell, kQuiet };

void say_found(Log& log, const std::string& engine, const engine::Probe& probe,
               const gateway::Model& model) {
  const std::string& version = probe.engine_version;
  const auto context = model.max_model_len.load();
  log.notice("engine " + engine + " answers" + (version.empty() ? "" : ", version " + version) +
             ", context " + (context == 0 ? "not said" : std::to_string(context) + " tokens"));
}

// Until the engine has answered once; it may start after the gateway. Each part asks for itself:
// what an engine says of itself decides how its streams are read.
Task<void> learn(Part& part, const std::string& engine, gateway::Model& model, Log& log,
                 Talk talk) {
  bool told = talk == Talk::kQuiet;
  while (!part.stop_learning.fired()) {
    const auto probe = co_await part.instance->learn(part.runtime.clock().now() + kProbeTimeout);
    if (probe) {
      if (talk == Talk::kQuiet) co_return;
      say_found(log, engine, *probe, model);
      co_return;
    }
    if (!told)
      log.tell(LogLevel::kWarn, "engine " + engine + " does not answer yet (" +
                                    probe.error().message + "); trying again");
    told = true;
    base::Pause pause(part.runtime.executor, kProbeAgain, part.stop_learning);
    (void)co_await pause;
  }
}

Task<void> shut_down(Part& part) {
  part.stop_learning.fire("shutting down");
  co_await part.learning.idle();
  co_await part.instance->drain(part.runtime.clock().now() + kDrainTime);
}

// What becomes of replicas, for operators. Each thread finds it out for itself; it is told once.
class Notices {
 public:
  explicit Notices(Log& log) : log_(log) {}

  void tell(const std::string& line) {
    const std::lock_guard lock(mutex_);
    if (line == last_) return;
    log_.tell(LogLevel::kWarn, line);
    last_ = line;
  }

 private:
  Log& log_;
  std::mutex mutex_;
  std::string last_;
};

std::string names_of(const std::vector<Chosen>& engines) {
  std::string names;
  for (const auto& each : engines) {
    names.append(names.empty() ? "" : ", ");
    names.append(address_of(each.choice));
  }
  return names;
}

class Serving {
 public:
  Serving(const ServeOptions& options, std::shared_ptr<gateway::Model> model,
          std::vector<Chosen> chosen, gateway::ApiKeys keys, std::unique_ptr<StoreHome> store,
          Log& log)
      : options_(options),
        model_(std::move(model)),
        keys_(std::move(keys)),
        chosen_(std::move(chosen)),
        engine_name_(names_of(chosen_)),
        log_(log),
        notices_(log),
        loops_(options.threads == 0 ? net::usable_cores() : options.threads),
        store_(std::move(store)) {}

  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;
  ~Serving() { log_.stop_counting(); }

  base::Status start() {
    monitoring_.set_version(options_.version);
    log_.count_in(monitoring_.metrics());
    if (auto* database = store_->database())
      database->writer().count_in(monitoring_.metrics(), loops_[0].clock());
    for (std::size_t i = 0; i < loops_.size(); ++i)
      parts_.push_back(std::make_unique<Part>(loops_[i], *files_, *worker_));
    if (!options_.record_dir.empty()) {
      auto records = Records::open(*files_, options_.record_dir, model_->checkpoint, *store_, log_);
      if (!records) return std::move(records).error().within("--record-dir");
      records_ = std::move(*records);
      records_->recorder().count_in(monitoring_.metrics());
    }
    if (auto status = check_port(); !status.ok()) return status;
    std::uint16_t port = options_.port;
    api::InstanceOptions instance;
    instance.running = &running_;
    instance.replays = &replays_;
    instance.keys = &keys_;
    instance.session_header = options_.session_header;
    if (options_.session_ttl != 0) instance.runner.in_use = &in_use_;
    instance.monitoring = &monitoring_;
    instance.tell = [this](const gateway::TurnReport& report) { log_.turn(report); };
    for (const auto& part : parts_) {
      auto engine = make_engines(part->runtime);
      if (!engine.ok()) return std::move(engine).error();
      instance.runner.engine = nullptr;
      if (chosen_.size() == 1) {
        instance.runner.engine = &part->engine_metrics.emplace(
            monitoring_.metrics(), net::url_text(chosen_.front().choice.url));
      }
      part->instance = std::make_unique<api::Instance>(
          part->runtime, *model_, std::move(*engine), store_->on(part->runtime.executor),
          records_ ? &records_->recorder() : nullptr, store_->key(), instance);
      const auto use =
          parts_.size() == 1 ? base::Network::PortUse::kExclusive : base::Network::PortUse::kShared;
      const auto bound = part->instance->start(options_.host, port, use);
      if (!bound) return cannot_listen(bound.error());
      port = *bound;
    }
    expire_sessions();
    const auto& first = chosen_.front().choice;
    const std::string how = by_messages(first) ? " by messages (" + first.mode + ")" : "";
    log_.flush();
    announce("serving " + model_->name + " on http://" + options_.host + ":" +
             std::to_string(port) + " (engine " + engine_name_ + ", " + first.kind + how + ", " +
             std::to_string(parts_.size()) + " threads)");
    return {};
  }

  void run() {
    model_->max_model_len.store(options_.max_model_len);
    // Replicas have to agree, so a pool asks them all itself.
    const auto& known = chosen_.front().probe;
    if (chosen_.size() == 1 && known) {
      for (const auto& part : parts_) part->instance->adopt(*known);
      say_found(log_, engine_name_, *known, *model_);
      return loop();
    }
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      loops_[i].post([this, i] {
        parts_[i]->learning.run(
            learn(*parts_[i], engine_name_, *model_, log_, i == 0 ? Talk::kTell : Talk::kQuiet));
      });
    }
    loop();
  }

 private:
  void loop() {
    loops_[0].on_terminate([this](int) { end_.signalled(); });
    loops_.run();
    if (records_) records_->close();
  }

  // On the first loop, beside its turns.
  void expire_sessions() {
    if (options_.session_ttl == 0) return;
    auto& executor = parts_[0]->runtime.executor;
    expiry_ = std::make_unique<gateway::SessionExpiry>(executor, store_->on(executor), in_use_,
                                                       records_ ? &records_->recorder() : nullptr,
                                                       std::chrono::seconds(options_.session_ttl));
    loops_[0].post([this] { parts_[0]->learning.run(expiry_->run(parts_[0]->stop_learning)); });
  }

  using Made = base::Result<std::unique_ptr<engine::Engine>>;

  static Made make_engine(base::Runtime& runtime, const Chosen& chosen) {
    if (chosen.reached) return engine::make_engine(runtime, chosen.choice);
    return std::unique_ptr<engine::Engine>(
        std::make_unique<engine::LateEngine>(runtime, chosen.choice));
  }

  // One engine is driven directly, several as the replicas of one.
  Made make_engines(base::Runtime& runtime) {
    if (chosen_.size() == 1) return make_engine(runtime, chosen_.front());
    std::vector<engine::pool::Member> replicas;
    for (const auto& chosen : chosen_) {
      auto engine = make_engine(runtime, chosen);
      if (!engine.ok()) return std::move(engine).error();
      replicas.push_back({net::url_text(chosen.choice.url), std::move(*engine)});
    }
    engine::pool::Options pool;
    pool.tell = [this](const std::string& line) { notices_.tell(line); };
    pool.metrics = &monitoring_.metrics();
    return std::unique_ptr<engine::Engine>(
        std::make_unique<engine::pool::Pool>(runtime, std::move(replicas), std::move(pool)));
  }

  base::Status check_port() {
    if (parts_.size() == 1 || options_.port == 0) return {};
    return cli::check_port(*parts_[0]->network, options_.host, options_.port);
  }

  const ServeOptions& options_;
  std::shared_ptr<gateway::Model> model_;
  const gateway::ApiKeys keys_;
  const std::vector<Chosen> chosen_;
  const std::string engine_name_;
  Log& log_;
  Notices notices_;
  std::unique_ptr<base::Files> files_ = base::system_files();
  api::Monitoring monitoring_{*files_};
  gateway::RunningTurns running_;
  gateway::Replays replays_;
  gateway::SessionsInUse in_use_;
  net::LoopThreads loops_;
  std::vector<std::unique_ptr<Part>> parts_;
  PartsEnd end_{loops_, log_, "running turns",
                [this](std::size_t i) { return shut_down(*parts_[i]); },
                [this](std::size_t i) { parts_[i]->instance->hurry(); }};
  std::unique_ptr<StoreHome> store_;  // ends before the loops that it answers on
  std::unique_ptr<base::Worker> worker_ = base::thread_worker("files");
  std::unique_ptr<Records> records_;
  std::unique_ptr<gateway::SessionExpiry> expiry_;
};

}  // namespace

Exit serve_turns(const ServeOptions& options, std::shared_ptr<gateway::Model> model,
                 std::vector<Chosen> chosen, gateway::ApiKeys keys, Log& log) {
  StoreOptions kept = options.store;
  kept.owners = keys.owners();
  kept.keep_ended = !options.record_dir.empty();
  auto store = StoreHome::open(*base::system_files(), kept);
  if (!store.ok()) return log.fail(store.error(), Exit::kUsage);
  log.notice("conversations are kept in " + (*store)->describe());
  Serving serving(options, std::move(model), std::move(chosen), std::move(keys), std::move(*store),
                  log);
  if (auto status = serving.start(); !status.ok()) return log.fail(status.error());
  serving.run();
  return Exit::kOk;
}

}  // namespace verbatim::cli
