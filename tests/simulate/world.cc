#include "simulate/world.h"

#include <functional>

#include "api/instance.h"
#include "base/sim/sim_files.h"
#include "base/sim/sim_network.h"
#include "base/sim/sim_worker.h"
#include "base/timer.h"
#include "engine/engine_metrics.h"
#include "engine/kinds.h"
#include "engine/pool/engine.h"
#include "net/server_metrics.h"
#include "simulate/agent.h"
#include "simulate/author.h"
#include "simulate/broken_store.h"
#include "simulate/deaf_engine.h"
#include "simulate/engines.h"
#include "simulate/faulty_store.h"
#include "simulate/kept_records.h"
#include "simulate/kept_store.h"
#include "simulate/plumbing.h"
#include "simulate/profile.h"

namespace verbatim::simulate {

using base::Task;

namespace {

constexpr std::uint16_t kGatewayPort = 8080;
constexpr std::uint64_t kContext = 8192;
// Far over what turns take, byte by byte and with all their retries.
constexpr std::uint64_t kMaxJobsPerTurn = 20'000;
// Over it a turn is given up; far over what any reply takes.
constexpr base::Duration kTurnTimeout = std::chrono::seconds(90);
constexpr base::Duration kEngineSilence = std::chrono::seconds(20);
// Until the engine has seen a client go: the latencies of two links, timers, abort calls.
constexpr base::Duration kAbortSlack = std::chrono::milliseconds(150);

std::unique_ptr<gateway::Model> model_of(const SharedModel& shared, const Driven& driven) {
  auto model = std::make_unique<gateway::Model>();
  model->name = shared.made->name;
  if (driven.by_messages()) return model;
  model->checkpoint = shared.made->checkpoint;
  model->renderer = shared.made->renderer;
  model->markers = shared.made->markers;
  model->vocab_size = shared.made->vocab_size;
  model->max_model_len.store(kContext);
  return model;
}

sim::SimOptions engine_options(const SharedModel& model, const Profile& profile,
                               std::uint64_t seed) {
  sim::SimOptions options;
  options.face = profile.driven.face();
  options.tokenizer = model.tokenizer;
  options.model = "toy";
  options.max_model_len = kContext;
  options.author = [](const sim::GenerateCall&, base::Random& random) {
    return some_reply(random);
  };
  options.seed = seed;
  options.streaming = profile.streaming;
  options.ids_per_event = profile.ids_per_event;
  options.faults = profile.engine;
  options.keeps_log = true;
  return options;
}

std::string url_of(std::size_t replica) {
  return "http://engine:" + std::to_string(Engines::port(replica));
}

class World {
 public:
  World(const SharedModel& model, std::uint64_t seed, std::uint64_t turns, const Settings& settings,
        Findings& findings);
  Run run();

 private:
  Task<void> live();
  Task<void> close_early();
  Task<void> lose_power_now_and_then();
  Task<void> restart_now_and_then();
  store::Store& seen_store();
  void wrap_store();
  void make_gateway();
  std::unique_ptr<engine::Engine> make_engine(std::size_t replica);
  std::unique_ptr<engine::Engine> make_engines();
  void check_idle();
  void check_records();
  void check_metrics();
  void count_faults(Counts& faults);

  const Profile profile_;
  const std::uint64_t seed_;
  Findings& findings_;
  base::SeededRandom random_;
  base::sim::SimExecutor executor_;
  base::sim::SimNetwork agent_link_;
  base::sim::SimNetwork engine_link_;
  GatewayNetwork network_;
  base::sim::SimFiles files_;
  base::sim::SimWorker worker_;
  base::SeededRandom gateway_random_;
  base::Runtime gateway_runtime_;
  base::Runtime engine_runtime_;
  base::Runtime agent_runtime_;
  Ledger ledger_;
  api::Monitoring monitoring_;  // of all lives of the gateway
  Break broken_;
  bool over_ = false;  // the agents have ended
  KeptStore kept_;
  std::unique_ptr<BrokenStore> store_;      // in memory, the checks see it so
  std::unique_ptr<FaultyStore> far_store_;  // as the gateway sees it
  std::unique_ptr<gateway::Model> model_;
  Engines engines_;
  std::unique_ptr<KeptRecords> records_;
  std::unique_ptr<api::Instance> gateway_;
  Checks checks_;
  Stage stage_;
  std::vector<std::unique_ptr<Agent>> agents_;
};

World::World(const SharedModel& model, std::uint64_t seed, std::uint64_t turns,
             const Settings& settings, Findings& findings)
    : profile_(profile_of(seed, settings)),
      seed_(seed),
      findings_(findings),
      random_(seed * 31 + 7),
      executor_(seed, base::sim::JobOrder::kShuffled),
      agent_link_(executor_, seed * 31 + 1, profile_.agent_link),
      engine_link_(executor_, seed * 31 + 2, profile_.engine_link),
      network_(agent_link_, engine_link_),
      files_(seed * 31 + 3),
      worker_(executor_, seed * 31 + 4),
      gateway_random_(seed * 31 + 5),
      gateway_runtime_{executor_, network_, gateway_random_, files_, worker_},
      engine_runtime_{executor_, engine_link_, gateway_random_, files_, worker_},
      agent_runtime_{executor_, agent_link_, gateway_random_, files_, worker_},
      monitoring_(files_),
      broken_(settings.broken),
      kept_({executor_, files_, seed * 31 + 9, profile_.implicit_bytes, settings.on_disk,
             profile_.disk, settings.broken}),
      model_(model_of(model, profile_.driven)),
      engines_(engine_runtime_, engine_options(model, profile_, seed), profile_.replicas),
      checks_({model, executor_.clock(), seen_store(), engines_, ledger_, findings, profile_.driven,
               seed, profile_.calm, profile_.forgets(), kept_.disk()}),
      stage_{agent_runtime_, kGatewayPort, ledger_, checks_, findings, turns} {
  stage_.forgets = profile_.forgets();
  stage_.by_messages = profile_.driven.by_messages();
  stage_.broken = broken_;
  executor_.set_max_jobs(base::sim::SimExecutor::kMaxJobs + turns * kMaxJobsPerTurn);
  if (profile_.records) {
    records_ = std::make_unique<KeptRecords>(executor_, files_, worker_, seed * 31 + 10);
    records_->begin(kept_, findings_);
    files_.options() = profile_.files;
  }
  make_gateway();
  checks_.set_matches_stop_strings(gateway_->engine().matches_stop_strings());
  for (unsigned i = 0; i < profile_.agents; ++i)
    agents_.push_back(std::make_unique<Agent>(stage_, i, seed * 131 + i));
}

// In memory the checks see what a broken store shows; of the disk they see what is on it.
store::Store& World::seen_store() {
  wrap_store();
  if (kept_.disk() != nullptr) return kept_.view();
  return *store_;
}

void World::wrap_store() {
  const std::uint64_t lives = kept_.disk() != nullptr ? kept_.disk()->faults().crashes : 0;
  const std::uint64_t drawn = seed_ * 31 + lives * 1009;
  store_ = std::make_unique<BrokenStore>(executor_, kept_.store(), broken_, drawn + 6);
  far_store_ =
      std::make_unique<FaultyStore>(executor_, *store_, ledger_, drawn + 8, profile_.store_fails);
}

void World::make_gateway() {
  api::InstanceOptions options;
  options.runner.turn_timeout = kTurnTimeout;
  options.monitoring = &monitoring_;
  gateway_ = std::make_unique<api::Instance>(gateway_runtime_, *model_, make_engines(), *far_store_,
                                             records_ ? records_->recorder() : nullptr,
                                             "key of digests", options);
}

// The power goes in the middle of a write, and comes back; the gateway starts anew.
Task<void> World::lose_power_now_and_then() {
  auto& disk = *kept_.disk();
  while (!over_) {
    co_await base::sleep_for(executor_, std::chrono::milliseconds(200 + random_.below(3000)));
    disk.set_fault(disk.points() + 1 + random_.below(12), store::testing::FaultVfs::At::kCrash);
    while (!over_ && !disk.off()) co_await base::sleep_for(executor_, std::chrono::milliseconds(5));
    if (!disk.off()) {
      disk.clear_faults();
      co_return;
    }
    checks_.set_down();
    co_await gateway_->drain(executor_.clock().now());
    gateway_ = nullptr;
    if (records_) records_->end();
    files_.crash();
    const auto status = kept_.start_again();
    findings_.check(status.ok(), "I9", "a store that opens behind a loss of power",
                    status.ok() ? "" : status.error().message);
    wrap_store();
    checks_.started_again();
    if (records_) records_->begin(kept_, findings_);
    make_gateway();
    (void)gateway_->start("gateway", kGatewayPort, base::Network::PortUse::kExclusive);
  }
}

// The gateway is told to end, and started again: what runs ends in its time, or with an error.
Task<void> World::restart_now_and_then() {
  while (!over_) {
    co_await base::sleep_for(executor_, std::chrono::milliseconds(2000 + random_.below(20'000)));
    if (over_) co_return;
    const auto patience = std::chrono::milliseconds(random_.below(300));
    co_await gateway_->drain(executor_.clock().now() + patience);
    gateway_ = nullptr;
    ++ledger_.life;
    ++ledger_.counts["op: restart, in order"];
    make_gateway();
    (void)gateway_->start("gateway", kGatewayPort, base::Network::PortUse::kExclusive);
  }
}

std::unique_ptr<engine::Engine> World::make_engines() {
  if (profile_.replicas == 1) return make_engine(0);
  std::vector<engine::pool::Member> members;
  for (std::size_t replica = 0; replica < profile_.replicas; ++replica)
    members.push_back({url_of(replica), make_engine(replica)});
  engine::pool::Options options;
  options.metrics = &monitoring_.metrics();
  return std::make_unique<engine::pool::Pool>(gateway_runtime_, std::move(members),
                                              std::move(options));
}

std::unique_ptr<engine::Engine> World::make_engine(std::size_t replica) {
  engine::Choice choice;
  choice.kind = profile_.driven.kind->name;
  choice.mode = profile_.driven.mode->name;
  choice.url = *net::parse_url(url_of(replica));
  choice.vocab_size = model_->vocab_size;
  choice.idle_timeout = kEngineSilence;
  auto engine = std::move(engine::make_engine(gateway_runtime_, choice).value());
  if (broken_ != Break::kNoAbort) return engine;
  return std::make_unique<DeafEngine>(executor_, std::move(engine));
}

Task<void> World::close_early() {
  const auto turns = stage_.turns_left / 2 + random_.below(stage_.turns_left / 2 + 1);
  while (stage_.turns_left > turns)
    co_await base::sleep_for(executor_, std::chrono::milliseconds(1 + random_.below(300)));
  stage_.closing = true;
  checks_.set_closing();
  const auto patience = std::chrono::milliseconds(random_.below(4000));
  co_await gateway_->drain(executor_.clock().now() + patience);
}

Task<void> World::live() {
  engines_.start();
  (void)gateway_->start("gateway", kGatewayPort, base::Network::PortUse::kExclusive);
  Together all(executor_);
  for (const auto& agent : agents_) all.run(agent->run());
  if (profile_.closes_early) all.run(close_early());
  Together deaths(executor_);
  if (profile_.replicas_die) deaths.run(engines_.die_now_and_then(random_));
  Together losses(executor_);
  if (profile_.crashes) losses.run(lose_power_now_and_then());
  if (profile_.restarts) losses.run(restart_now_and_then());
  co_await all.all();
  over_ = true;
  co_await losses.all();
  engines_.end_deaths();
  co_await deaths.all();
  if (!profile_.closes_early)
    co_await gateway_->drain(executor_.clock().now() + std::chrono::seconds(30));
  // What is still on its way to the engine arrives.
  co_await base::sleep_for(executor_, std::chrono::seconds(2));
  check_idle();
  co_await engines_.stop();
}

void World::check_idle() {
  findings_.check(gateway_->connections() == 0, "leak", "no connection to the gateway",
                  std::to_string(gateway_->connections()));
  if (!profile_.aborts_arrive()) return;
  for (const auto& process : engines_.processes()) {
    findings_.check(process.engine->stats().running == 0, "abort", "no generation that still runs",
                    std::to_string(process.engine->stats().running));
  }
}

// Behind a loss of power all lines are there once more when the gateway starts again.
void World::check_records() {
  if (!records_) return;
  files_.options() = {};
  std::optional<std::uint64_t> failed = records_->failed_lines();
  if (profile_.crashes) {
    records_->end();
    records_->begin(kept_, findings_);
    failed.reset();
  }
  checks_.records(files_, KeptRecords::kFolder, failed);
  ledger_.counts["check: record lines repaired"] += records_->repaired_lines();
}

// What the gateway counted is what the store acknowledged, and nothing is under way any more.
void World::check_metrics() {
  const auto& metrics = monitoring_.metrics();
  const auto same = [&](const std::string& what, std::int64_t expected, std::int64_t found) {
    findings_.check(found == expected, "metrics", std::to_string(expected) + " " + what,
                    std::to_string(found));
  };
  same("turns committed", static_cast<std::int64_t>(ledger_.acknowledged),
       metrics.total(gateway::kTurnsCommittedMetric));
  same("turns that attached for a reason without a name", 0,
       metrics.total(gateway::kTurnsCommittedMetric, {{"reason", "other"}}));
  same("requests for turns under way", 0, metrics.total(gateway::kTurnsRunningMetric));
  same("requests to engines under way", 0, metrics.total(engine::kEngineRunningMetric));
  same("connections", 0, metrics.total(net::kHttpConnectionsMetric));
}

Run World::run() {
  const bool ended = executor_.run(live());
  findings_.check(ended, "stuck", "an end of the run", "nothing left to do before it");
  const auto over = executor_.clock().now();
  executor_.run_until_idle();
  findings_.check(executor_.clock().now() - over < std::chrono::minutes(5), "leak",
                  "nothing that waits behind the end", "a timer");
  checks_.at_end({profile_.aborts_arrive(), kAbortSlack});
  check_metrics();
  check_records();
  Run run;
  count_faults(run.faults);
  run.trace = executor_.trace();
  run.store_hash = std::hash<std::string>{}(kept_.view().dump());
  run.jobs = executor_.jobs_run();
  run.kind = profile_.driven.name();
  run.counts = ledger_.counts;
  return run;
}

void World::count_faults(Counts& faults) {
  auto& struck = ledger_.counts["op: fault of the store"];
  for (auto it = ledger_.counts.lower_bound("store "); it != ledger_.counts.end(); ++it) {
    if (!it->first.starts_with("store ")) continue;
    faults[it->first] += it->second;
    struck += it->second;
  }
  for (const auto* link : {&agent_link_, &engine_link_}) {
    const std::string name = link == &agent_link_ ? "agent link: " : "engine link: ";
    const auto& seen = link->faults();
    faults[name + "refused"] += seen.refused;
    faults[name + "no answer to connect"] += seen.blackholed;
    faults[name + "cut, orderly"] += seen.cut_by_end;
    faults[name + "cut, reset"] += seen.cut_by_reset;
    faults[name + "stalled"] += seen.stalled;
    faults[name + "fragments"] += seen.fragments;
  }
  faults["disk: open"] += files_.faults().open;
  faults["disk: append"] += files_.faults().append;
  for (const auto& process : engines_.processes()) {
    for (std::size_t i = 0; i < sim::kFaults; ++i)
      faults["engine " + profile_.driven.name() + ": " +
             std::string(sim::name(static_cast<sim::Fault>(i)))] +=
          process.engine->stats().faults[i];
  }
  faults["replica: died"] += engines_.deaths();
  if (kept_.disk() == nullptr) return;
  const auto& disk = kept_.disk()->faults();
  struck += disk.write_eio + disk.write_full + disk.sync;
  ledger_.counts["op: restart, behind a loss of power"] += disk.crashes;
  faults["store disk: EIO at a write"] += disk.write_eio;
  faults["store disk: ENOSPC at a write"] += disk.write_full;
  faults["store disk: EIO at a sync"] += disk.sync;
  faults["store disk: loss of power"] += disk.crashes;
  faults["store disk: unsynced write lost"] += disk.lost_writes;
  faults["store disk: unsynced write torn"] += disk.torn_writes;
  faults["store: batches"] += kept_.stats().batches;
  faults["store: changes in batches"] += kept_.stats().works;
  faults["store: failed batches"] += kept_.stats().failed_batches;
}

}  // namespace

Run run_world(const SharedModel& model, std::uint64_t seed, std::uint64_t turns,
              const Settings& settings, Findings& findings) {
  World world(model, seed, turns, settings, findings);
  return world.run();
}

}  // namespace verbatim::simulate
