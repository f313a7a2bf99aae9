// The SGLang client against the simulated SGLang on a simulated network: what arrives is what was
// sampled, or an error; never something else, never silently short.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/sim/sim_world.h"
#include "engine/sglang/engine.h"
#include "engine/testing/proofs.h"
#include "gtest/gtest.h"
#include "json/writer.h"
#include "sim/sim_engine.h"
#include "sim/testing/toy_tokenizer.h"

namespace verbatim::engine::sglang {
namespace {

using base::ErrorKind;
using base::Task;
using Verdict = engine::testing::Proof::Verdict;
using sim::Fault;
using sim::FaultCounts;
using sim::FaultRates;
using sim::kFaults;
using sim::SimEngine;
using sim::SimStats;
using std::chrono::milliseconds;
using std::chrono::seconds;

struct Truth {
  TokenIds prompt;
  TokenIds ids;
  std::vector<double> logprobs;
};

struct Outcome {
  TokenIds ids;
  std::vector<double> logprobs;
  std::optional<TokenEnd> end;
  std::optional<base::Error> error;
};

// After these an answer is still good.
bool is_harmless(Fault fault) {
  const engine::testing::Driven driven{find_kind("sglang"), find_mode(*find_kind("sglang"), "")};
  const auto* proof = proof_of(driven, fault);
  return proof == nullptr || proof->verdict == Verdict::kGood;
}

std::vector<Truth> random_truths(base::Random& random, std::size_t count, std::size_t vocab) {
  std::vector<Truth> truths(count);
  for (std::size_t t = 0; t < count; ++t) {
    truths[t].prompt.push_back(static_cast<TokenId>(t));
    for (auto n = random.below(30); n > 0; --n)
      truths[t].prompt.push_back(static_cast<TokenId>(random.below(vocab)));
    for (auto n = random.below(random.chance(100) ? 300 : 20); n > 0; --n) {
      truths[t].ids.push_back(static_cast<TokenId>(random.below(random.chance(500) ? 4 : vocab)));
      truths[t].logprobs.push_back(-static_cast<double>(random.next() >> 12) / 1e13);
    }
  }
  return truths;
}

sim::Script script_of(const std::vector<Truth>& truths) {
  json::Writer w;
  w.begin_object().key("steps").begin_array();
  for (const auto& truth : truths) {
    w.begin_object().key("when").begin_object().key("prompt_ids").begin_array();
    for (const TokenId id : truth.prompt) w.unsigned_integer(id);
    w.end_array().end_object().field("repeat", true).field("finish", "stop");
    w.key("output_ids").begin_array();
    for (const TokenId id : truth.ids) w.unsigned_integer(id);
    w.end_array().key("logprobs").begin_array();
    for (const double logprob : truth.logprobs) w.number(logprob);
    w.end_array().end_object();
  }
  w.end_array().end_object();
  return std::move(*sim::Script::parse(w.text()));
}

struct Scene {
  explicit Scene(std::uint64_t seed) : world(seed), random(seed * 7 + 5) {
    options.tokenizer = sim::testing::toy_tokenizer();
    vocab = options.tokenizer->vocab_size();
    truths = random_truths(random, 25, vocab);
    options.script = script_of(truths);
    options.seed = seed;
    options.streaming = static_cast<sim::Streaming>(seed % 3);
    options.ids_per_event = 1 + seed % 4;
    options.delay = milliseconds(random.below(30));
    options.token_delay = milliseconds(random.below(3));
    client.vocab_size = vocab;
    client.head_timeout = seconds(5);
    client.idle_timeout = seconds(2);
    client.client.connect_timeout = seconds(1);
  }

  Task<void> generate(Engine& engine, const Truth& truth, base::CancelSignal* cancel,
                      Outcome& out) {
    TokenRequest request;
    request.request_id = base::new_hex_id(world.random);
    request.prompt = {truth.prompt};
    request.max_new_tokens = 400;
    request.cancel = cancel;
    auto stream = co_await engine.generate(std::move(request));
    if (!stream.ok()) {
      out.error = stream.error();
      co_return;
    }
    for (;;) {
      auto chunk = co_await (*stream)->next();
      if (!chunk.ok()) {
        out.error = chunk.error();
        co_return;
      }
      if (!*chunk) break;
      const auto& got = **chunk;
      out.ids.insert(out.ids.end(), got.ids.begin(), got.ids.end());
      out.logprobs.insert(out.logprobs.end(), got.logprobs.begin(), got.logprobs.end());
    }
    out.end = (*stream)->end();
  }

  void judge(const Truth& truth, const Outcome& out) {
    if (!out.error) {
      ++good;
      EXPECT_EQ(out.ids, truth.ids);
      EXPECT_EQ(out.logprobs, truth.logprobs);
      EXPECT_EQ(out.end->completion_tokens, truth.ids.size());
      EXPECT_EQ(out.end->prompt_tokens, truth.prompt.size());
      return;
    }
    ++failed;
    // What came before the error was sampled too.
    ASSERT_LE(out.ids.size(), truth.ids.size());
    EXPECT_TRUE(std::equal(out.ids.begin(), out.ids.end(), truth.ids.begin()));
    EXPECT_NE(out.error->kind, ErrorKind::kInternal);
    EXPECT_NE(out.error->kind, ErrorKind::kInvalidRequest);
    EXPECT_FALSE(out.error->message.empty());
  }

  base::sim::SimWorld world;
  base::SeededRandom random;
  sim::SimOptions options;
  Options client;
  std::size_t vocab = 0;
  std::vector<Truth> truths;
  int good = 0, failed = 0;
};

std::uint64_t bad_faults(const SimStats& stats) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kFaults; ++i) {
    if (!is_harmless(static_cast<Fault>(i))) sum += stats.faults[i];
  }
  return sum;
}

std::string sim_faults(const SimStats& stats) {
  std::string text;
  for (std::size_t i = 0; i < kFaults; ++i) {
    if (stats.faults[i] > 0) text.append(sim::name(static_cast<Fault>(i))).append(" ");
  }
  return text;
}

FaultRates all_but_changes(unsigned permille) {
  FaultRates rates;
  for (std::size_t i = 0; i < kFaults; ++i) rates.set(static_cast<Fault>(i), permille);
  return rates.set(Fault::kIdsPastStop, 0).set(Fault::kTrimmedStop, 0);
}

// One request after the other: a fault that fired must have been noticed.
Task<void> one_by_one(Scene& scene, FaultCounts& faults) {
  SimEngine sim(scene.world.runtime, scene.options);
  scene.client.url.endpoint = {"engine", *sim.start("engine", 0), false};
  SglangEngine engine(scene.world.runtime, scene.client);
  for (int i = 0; i < 60; ++i) {
    const Truth& truth = scene.truths[scene.random.below(scene.truths.size())];
    const auto before = bad_faults(sim.stats());
    Outcome out;
    co_await scene.generate(engine, truth, nullptr, out);
    scene.judge(truth, out);
    EXPECT_TRUE(out.error || bad_faults(sim.stats()) == before) << sim_faults(sim.stats());
  }
  co_await engine.stop();
  co_await sim.stop();
  EXPECT_EQ(sim.stats().running, 0u);
  for (std::size_t i = 0; i < kFaults; ++i) faults[i] += sim.stats().faults[i];
}

TEST(SglangAgainstSim, a_perfect_engine_and_network_give_every_id) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Scene scene(seed);
    scene.world.network.options().fragment = seed % 2 == 0 ? 0 : 300;
    FaultCounts faults{};
    EXPECT_TRUE(scene.world.run(one_by_one(scene, faults)));
    EXPECT_EQ(scene.failed, 0);
  }
}

TEST(SglangAgainstSim, a_fault_of_the_engine_is_always_noticed) {
  FaultCounts faults{};
  int good = 0, failed = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Scene scene(seed);
    scene.options.faults = all_but_changes(13);
    scene.world.network.options().fragment = 300;
    EXPECT_TRUE(scene.world.run(one_by_one(scene, faults)));
    good += scene.good;
    failed += scene.failed;
  }
  EXPECT_GT(good, 1500);
  EXPECT_GT(failed, 600);
  for (std::size_t i = 0; i < kFaults; ++i) {
    if (all_but_changes(1).of(static_cast<Fault>(i)) == 0) continue;
    if (!applies(static_cast<Fault>(i), sim::FaceKind::kSglang)) continue;
    EXPECT_GT(faults[i], 5u) << sim::name(static_cast<Fault>(i));
  }
}

Task<void> worker(Scene& scene, Engine& engine, int& left) {
  for (int i = 0; i < 20; ++i) {
    const Truth& truth = scene.truths[scene.random.below(scene.truths.size())];
    base::CancelSignal cancel;
    base::Timer timer;
    if (scene.random.chance(100)) {
      timer.arm(scene.world.executor.timers(),
                scene.world.executor.clock().now() + milliseconds(scene.random.below(100)),
                [&] { cancel.fire("gone"); });
    }
    Outcome out;
    co_await scene.generate(engine, truth, &cancel, out);
    timer.cancel();
    scene.judge(truth, out);
  }
  --left;
}

// Many at once on a network that fails too.
Task<void> at_once(Scene& scene) {
  SimEngine sim(scene.world.runtime, scene.options);
  scene.client.url.endpoint = {"engine", *sim.start("engine", 0), false};
  SglangEngine engine(scene.world.runtime, scene.client);
  int left = 8;
  for (int i = 0; i < 8; ++i) base::spawn(worker(scene, engine, left));
  // NOLINTNEXTLINE(bugprone-infinite-loop): the workers count down
  while (left > 0) co_await base::sleep_for(scene.world.executor, milliseconds(50));
  co_await engine.stop();
  co_await sim.stop();
  EXPECT_EQ(sim.stats().running, 0u);
}

TEST(SglangAgainstSim, ids_survive_a_bad_network_or_end_in_an_error) {
  int good = 0, failed = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Scene scene(seed);
    scene.options.faults = all_but_changes(3);
    auto& network = scene.world.network.options();
    network = {.max_latency = milliseconds(20),
               .fragment = 300,
               .refuse = 30,
               .blackhole = 10,
               .cut = 50,
               .stall = 20};
    EXPECT_TRUE(scene.world.run(at_once(scene)));
    good += scene.good;
    failed += scene.failed;
  }
  EXPECT_EQ(good + failed, 60 * 8 * 20);
  EXPECT_GT(good, 4000);
  EXPECT_GT(failed, 1000);
}

TEST(SglangAgainstSim, the_same_seed_runs_the_same_way) {
  std::vector<std::uint64_t> traces;
  for (int round = 0; round < 2; ++round) {
    Scene scene(9);
    scene.options.faults = all_but_changes(10);
    scene.world.network.options().cut = 100;
    EXPECT_TRUE(scene.world.run(at_once(scene)));
    traces.push_back(scene.world.executor.trace());
  }
  EXPECT_EQ(traces[0], traces[1]);
}

Task<void> one(Scene& scene, Outcome& out, SimStats& stats) {
  SimEngine sim(scene.world.runtime, scene.options);
  scene.client.url.endpoint = {"engine", *sim.start("engine", 0), false};
  SglangEngine engine(scene.world.runtime, scene.client);
  co_await scene.generate(engine, scene.truths[0], nullptr, out);
  co_await engine.stop();
  co_await sim.stop();
  stats = sim.stats();
}

TEST(SglangAgainstSim, ids_past_the_stop_and_trimmed_stops_arrive_as_they_are) {
  for (const Fault fault : {Fault::kIdsPastStop, Fault::kTrimmedStop}) {
    Scene plain(3), changed(3);
    Outcome whole, other;
    SimStats stats;
    for (Scene* scene : {&plain, &changed}) {
      scene->options.script.reset();
      scene->options.behaviour = sim::Behaviour::kFixedText;
    }
    changed.options.faults.set(fault, 1000);
    EXPECT_TRUE(plain.world.run(one(plain, whole, stats)));
    EXPECT_TRUE(changed.world.run(one(changed, other, stats)));
    ASSERT_FALSE(whole.error || other.error);
    EXPECT_EQ(stats.faults[static_cast<std::size_t>(fault)], 1u);
    const auto stop = whole.end->finish.matched_id;
    EXPECT_EQ(whole.ids.back(), stop);
    EXPECT_EQ(other.end->finish.matched_id, stop);
    if (fault == Fault::kTrimmedStop) {
      whole.ids.pop_back();
      EXPECT_EQ(other.ids, whole.ids);
    } else {
      EXPECT_GT(other.ids.size(), whole.ids.size());
    }
  }
}

TEST(SglangAgainstSim, both_aborts_reach_the_engine) {
  Scene scene(4);
  scene.options.token_delay = seconds(1);
  scene.options.script.reset();
  SimStats stats;
  const auto play = [&]() -> Task<void> {
    SimEngine sim(scene.world.runtime, scene.options);
    scene.client.url.endpoint = {"engine", *sim.start("engine", 0), false};
    SglangEngine engine(scene.world.runtime, scene.client);
    {
      TokenRequest request;
      request.request_id = "r";
      request.prompt = {scene.truths[0].prompt};
      request.max_new_tokens = 10;
      auto stream = co_await engine.generate(std::move(request));
      EXPECT_TRUE(stream.ok());
    }
    co_await engine.stop();
    stats = sim.stats();
    co_await sim.stop();
  };
  EXPECT_TRUE(scene.world.run(play()));
  EXPECT_EQ(stats.abort_calls, 1u);
  EXPECT_EQ(stats.aborted_by_id + stats.aborted_by_close, 1u);
  EXPECT_EQ(stats.running, 0u);
}

}  // namespace
}  // namespace verbatim::engine::sglang
