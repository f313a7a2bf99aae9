// A pool of SGLang clients against simulated engines that die and come back on a simulated network.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/sim/sim_world.h"
#include "base/timer.h"
#include "engine/pool/engine.h"
#include "engine/sglang/engine.h"
#include "sim/sim_engine.h"
#include "sim/testing/toy_tokenizer.h"

namespace verbatim::engine::pool {
namespace {

using base::Task;
using sim::Fault;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kReplicas = 2;

struct Sampled {
  std::string url;
  TokenIds ids;
};

// One engine's machine: its process may die and be started again on its port.
class Host {
 public:
  Host(base::Runtime& runtime, std::uint16_t port, sim::SimOptions options)
      : runtime_(runtime), options_(std::move(options)) {
    url_.endpoint = {"r" + std::to_string(port), port, false};
    start();
  }
  void start() {
    if (engine_) return;
    options_.seed += 1;
    engine_.emplace(runtime_, options_);
    EXPECT_TRUE(engine_->start(url_.endpoint.host, url_.endpoint.port).ok());
  }
  // Running generations are cut off.
  Task<void> die() {
    if (!engine_ || dying_) co_return;
    dying_ = true;
    co_await engine_->stop();
    for (const auto& served : engine_->served()) {
      const bool refused = served.fault_fired &&
                           (served.fault == Fault::kHttp503 || served.fault == Fault::kHttp429);
      if (!refused) sampled[served.rid].push_back({net::url_text(url_), served.ids});
    }
    engine_.reset();
    dying_ = false;
  }
  [[nodiscard]] const net::Url& url() const { return url_; }
  std::map<std::string, std::vector<Sampled>> sampled;  // by request id, of processes that ended

 private:
  base::Runtime& runtime_;
  sim::SimOptions options_;
  net::Url url_;
  std::optional<sim::SimEngine> engine_;
  bool dying_ = false;
};

struct Turn {
  std::string request_id;
  std::string engine_url;
  TokenIds ids;
};

struct Scene {
  explicit Scene(std::uint64_t seed) : world(seed) {
    sim::SimOptions options;
    options.tokenizer = sim::testing::toy_tokenizer();
    options.keeps_log = true;
    options.delay = milliseconds(5);
    options.token_delay = milliseconds(2);
    options.streaming = static_cast<sim::Streaming>(seed % 3);
    options.faults.set(Fault::kHttp503, 20).set(Fault::kHttp429, 20).set(Fault::kCutStream, 10);
    options.faults.set(Fault::kClosed, 5).set(Fault::kStall, 3);
    std::vector<Member> members;
    for (std::size_t i = 0; i < kReplicas; ++i) {
      options.seed = seed * 1000 + i * 100;
      hosts.push_back(
          std::make_unique<Host>(world.runtime, static_cast<std::uint16_t>(30000 + i), options));
      sglang::Options client;
      client.url = hosts.back()->url();
      client.vocab_size = options.tokenizer->vocab_size();
      client.idle_timeout = seconds(2);
      members.push_back({net::url_text(client.url),
                         std::make_unique<sglang::SglangEngine>(world.runtime, client)});
    }
    world.network.options().max_latency = milliseconds(3);
    pool = std::make_unique<Pool>(world.runtime, std::move(members));
  }

  Task<void> turn(TokenRequest request, Turn& turn, bool& good) {
    turn.request_id = request.request_id;
    auto stream = co_await pool->generate(std::move(request));
    if (!stream.ok()) co_return;
    for (;;) {
      auto chunk = co_await (*stream)->next();
      if (!chunk.ok()) co_return;
      if (!*chunk) break;
      turn.ids.insert(turn.ids.end(), (*chunk)->ids.begin(), (*chunk)->ids.end());
    }
    turn.engine_url = (*stream)->end().engine_url;
    good = true;
  }

  Task<void> converse(TokenId number) {
    std::string last;
    for (TokenId i = 0; i < 10; ++i) {
      co_await base::sleep_for(world.executor, milliseconds(world.random.below(300)));
      const TokenIds prompt = {number, i};
      TokenRequest request;
      request.request_id = base::new_hex_id(world.random);
      request.prompt = {prompt};
      request.max_new_tokens = 50;
      request.routing_key = "c" + std::to_string(number);
      request.last_engine_url = last;
      Turn done;
      bool good = false;
      co_await turn(std::move(request), done, good);
      if (!good) {
        ++failed;
        continue;
      }
      if (!last.empty() && last != done.engine_url) ++moved;
      last = done.engine_url;
      turns.push_back(std::move(done));
    }
    --left;
  }

  Task<void> live() {
    (void)co_await pool->probe(world.executor.clock().now() + seconds(5));
    left = 10;
    for (TokenId c = 0; c < 10; ++c) base::spawn(converse(c));
    while (left > 0) {
      co_await base::sleep_for(world.executor, milliseconds(world.random.below(800)));
      auto& host = *hosts[world.random.below(kReplicas)];
      if (world.random.chance(400)) co_await host.die();
      for (const auto& each : hosts) {
        if (world.random.chance(500)) each->start();
      }
    }
    co_await pool->stop();
    for (const auto& host : hosts) co_await host->die();
  }

  base::sim::SimWorld world;
  std::vector<std::unique_ptr<Host>> hosts;
  std::unique_ptr<Pool> pool;
  std::vector<Turn> turns;
  std::size_t left = 0, failed = 0, moved = 0;
};

TEST(PoolAgainstSim, each_turn_is_sampled_once_by_the_replica_it_names) {
  std::size_t good = 0, failed = 0, moved = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Scene scene(seed);
    ASSERT_TRUE(scene.world.run(scene.live()));
    std::map<std::string, std::vector<Sampled>> sampled;
    for (const auto& host : scene.hosts) {
      for (const auto& [id, by] : host->sampled)
        sampled[id].insert(sampled[id].end(), by.begin(), by.end());
    }
    for (const auto& [id, by] : sampled) EXPECT_EQ(by.size(), 1U) << id;
    for (const auto& turn : scene.turns) {
      const auto& by = sampled[turn.request_id];
      ASSERT_EQ(by.size(), 1U);
      EXPECT_EQ(by.front().url, turn.engine_url);
      EXPECT_EQ(by.front().ids, turn.ids);
    }
    good += scene.turns.size();
    failed += scene.failed;
    moved += scene.moved;
  }
  EXPECT_GT(good, 2500U);
  EXPECT_GT(failed, 100U);
  EXPECT_GT(moved, 100U);
}

}  // namespace
}  // namespace verbatim::engine::pool
