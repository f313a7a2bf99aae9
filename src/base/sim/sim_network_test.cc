#include "base/sim/sim_network.h"

#include <string>

#include <gtest/gtest.h>

#include "base/sim/sim_world.h"
#include "base/timer.h"

namespace verbatim::base::sim {
namespace {

using Stream = std::unique_ptr<ByteStream>;

struct Pair {
  Stream client;
  Stream server;
};

Task<Pair> connected(Runtime& runtime) {
  auto listener = runtime.network.listen("any", 0, Network::PortUse::kExclusive);
  Pair pair;
  const Endpoint to{"host", (*listener)->port(), false};
  auto client = co_await runtime.network.connect(to, kNever);
  EXPECT_TRUE(client.ok());
  auto server = co_await (*listener)->accept();
  EXPECT_TRUE(server.ok());
  pair.client = std::move(*client);
  pair.server = std::move(*server);
  (*listener)->close();
  co_return pair;
}

Task<Result<std::size_t>> write(ByteStream& stream, std::string_view bytes) {
  const std::string_view pieces[] = {
      bytes.substr(0, bytes.size() / 2), {}, bytes.substr(bytes.size() / 2)};
  co_return co_await write_all(stream, pieces);
}

// Until the end or an error.
struct Drained {
  std::string bytes;
  bool ended = false;
};
Task<Drained> drain(ByteStream& stream) {
  Drained out;
  char buffer[777];
  for (;;) {
    auto got = co_await read_some(stream, buffer);
    if (!got.ok()) co_return out;
    if (*got == 0) {
      out.ended = true;
      co_return out;
    }
    out.bytes.append(buffer, *got);
  }
}

std::string pattern(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + i * 7 % 26);
  return text;
}

TEST(SimNetwork, bytes_keep_their_order_over_fragments_and_latency) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    SimWorld world(seed);
    world.network.options().fragment = 500;
    world.network.options().max_latency = std::chrono::milliseconds(20);
    world.network.options().buffer = 5000;
    EXPECT_TRUE(world.run([](SimWorld& w) -> Task<void> {
      Pair pair = co_await connected(w.runtime);
      const std::string text = pattern(100'000);
      spawn([](ByteStream& from, std::string bytes) -> Task<void> {
        auto written = co_await write(from, bytes);
        EXPECT_TRUE(written.ok());
        EXPECT_EQ(*written, bytes.size());
        from.shutdown_write();
      }(*pair.client, text));
      const Drained got = co_await drain(*pair.server);
      EXPECT_EQ(got.bytes, text);
      EXPECT_TRUE(got.ended);
      // The other direction is still open.
      auto back = co_await write(*pair.server, "pong");
      EXPECT_TRUE(back.ok());
      char buffer[100];
      auto read = co_await read_some(*pair.client, buffer);
      EXPECT_TRUE(read.ok());
    }(world)));
    EXPECT_GT(world.network.faults().fragments, 0U);
  }
}

std::uint64_t trace_of(std::uint64_t seed) {
  SimWorld world(seed);
  world.network.options().fragment = 500;
  world.network.options().max_latency = std::chrono::milliseconds(20);
  EXPECT_TRUE(world.run([](SimWorld& w) -> Task<void> {
    Pair pair = co_await connected(w.runtime);
    for (int i = 0; i < 20; ++i) {
      auto written = co_await write(*pair.client, "0123456789");
      EXPECT_TRUE(written.ok());
    }
    pair.client->shutdown_write();
    co_await drain(*pair.server);
  }(world)));
  return world.executor.trace();
}

TEST(SimNetwork, one_seed_gives_one_run) {
  EXPECT_EQ(trace_of(1), trace_of(1));
  EXPECT_NE(trace_of(1), trace_of(2));
}

TEST(SimNetwork, a_writer_waits_while_the_buffer_is_full) {
  SimWorld world(1);
  world.network.options().buffer = 1000;
  EXPECT_TRUE(world.run([](SimWorld& w) -> Task<void> {
    Pair pair = co_await connected(w.runtime);
    bool done = false;
    spawn([](ByteStream& from, bool& flag) -> Task<void> {
      auto written = co_await write(from, std::string(1500, 'x'));
      EXPECT_TRUE(written.ok());
      flag = true;
    }(*pair.client, done));
    co_await sleep_for(w.executor, std::chrono::seconds(1));
    EXPECT_FALSE(done);
    char buffer[1000];
    auto got = co_await read_some(*pair.server, buffer);
    EXPECT_EQ(*got, 1000U);
    co_await sleep_for(w.executor, std::chrono::seconds(1));
    EXPECT_TRUE(done);
  }(world)));
}

TEST(SimNetwork, closing_ends_pending_operations_as_cancelled) {
  SimWorld world(1);
  EXPECT_TRUE(world.run([](SimWorld& w) -> Task<void> {
    Pair pair = co_await connected(w.runtime);
    bool cancelled = false;
    bool inside = true;
    spawn([](ByteStream& from, bool& flag, bool& in_close) -> Task<void> {
      char buffer[10];
      auto got = co_await read_some(from, buffer);
      EXPECT_FALSE(in_close);  // posted, not from inside close()
      flag = !got.ok() && got.error().kind == ErrorKind::kCancelled;
      auto later = co_await read_some(from, buffer);
      EXPECT_EQ(later.error().kind, ErrorKind::kCancelled);
      auto written = co_await write(from, "x");
      EXPECT_EQ(written.error().kind, ErrorKind::kCancelled);
    }(*pair.client, cancelled, inside));
    pair.client->close();
    pair.client->close();
    inside = false;
    co_await sleep_for(w.executor, std::chrono::milliseconds(10));
    EXPECT_TRUE(cancelled);
    // The peer reads an end, its first write is lost and the next one fails.
    const Drained got = co_await drain(*pair.server);
    EXPECT_TRUE(got.ended);
    auto first = co_await write(*pair.server, "x");
    EXPECT_TRUE(first.ok());
    co_await sleep_for(w.executor, std::chrono::milliseconds(10));
    auto second = co_await write(*pair.server, "x");
    EXPECT_FALSE(second.ok());
  }(world)));
}

TEST(SimNetwork, closing_with_unread_bytes_resets_the_peer) {
  SimWorld world(1);
  EXPECT_TRUE(world.run([](SimWorld& w) -> Task<void> {
    Pair pair = co_await connected(w.runtime);
    auto written = co_await write(*pair.client, "unread");
    EXPECT_TRUE(written.ok());
    co_await sleep_for(w.executor, std::chrono::milliseconds(10));
    pair.server->close();
    const Drained got = co_await drain(*pair.client);
    EXPECT_FALSE(got.ended);
  }(world)));
}

TEST(SimNetwork, connects_fail_as_asked) {
  SimWorld world(1);
  EXPECT_TRUE(world.run([](SimWorld& w) -> Task<void> {
    auto listener = w.network.listen("any", 80, Network::PortUse::kExclusive);
    EXPECT_FALSE(w.network.listen("any", 80, Network::PortUse::kShared).ok());
    const Endpoint to{"host", 80, false};
    const Endpoint nobody{"host", 81, false};
    auto refused = co_await w.network.connect(nobody, kNever);
    EXPECT_EQ(refused.error().kind, ErrorKind::kUnavailable);
    w.network.options().refuse = 1000;
    auto unlucky = co_await w.network.connect(to, kNever);
    EXPECT_EQ(unlucky.error().kind, ErrorKind::kUnavailable);
    w.network.options().blackhole = 1000;
    const MonoTime before = w.executor.clock().now();
    auto silent = co_await w.network.connect(to, before + std::chrono::seconds(3));
    EXPECT_EQ(silent.error().kind, ErrorKind::kTimeout);
    EXPECT_GE(w.executor.clock().now() - before, std::chrono::seconds(3));
  }(world)));
  EXPECT_EQ(world.network.faults().refused, 1U);
  EXPECT_EQ(world.network.faults().blackholed, 1U);
}

TEST(SimNetwork, cut_and_stalled_connections_deliver_a_prefix) {
  std::uint64_t ended = 0;
  std::uint64_t reset = 0;
  std::uint64_t stalled = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    SimWorld world(seed);
    world.network.options().cut = 400;
    world.network.options().stall = 200;
    const bool finished = world.run([](SimWorld& w) -> Task<void> {
      Pair pair = co_await connected(w.runtime);
      const std::string text = pattern(4096);
      spawn([](ByteStream& from, std::string bytes) -> Task<void> {
        auto written = co_await write(from, bytes);
        if (written.ok()) from.shutdown_write();
      }(*pair.client, text));
      Timer limit;
      limit.arm(w.executor.timers(), MonoTime{60'000'000}, [&] { pair.server->close(); });
      const Drained got = co_await drain(*pair.server);
      EXPECT_TRUE(text.starts_with(got.bytes));
      pair.client->close();
      co_await sleep_for(w.executor,
                         std::chrono::milliseconds(10));  // operations end before their streams
    }(world));
    EXPECT_TRUE(finished);
    world.executor.run_until_idle();
    ended += world.network.faults().cut_by_end;
    reset += world.network.faults().cut_by_reset;
    stalled += world.network.faults().stalled;
  }
  EXPECT_GT(ended, 10U);
  EXPECT_GT(reset, 10U);
  EXPECT_GT(stalled, 10U);
}

TEST(SimNetwork, what_no_read_has_taken_is_unread) {
  SimWorld world(3);
  ASSERT_TRUE(world.run([](SimWorld& w) -> Task<void> {
    Pair pair = co_await connected(w.runtime);
    EXPECT_FALSE(pair.client->unread());
    (void)co_await write(*pair.server, "ab");
    co_await sleep_for(w.executor, std::chrono::milliseconds(1));
    EXPECT_TRUE(pair.client->unread());
    char buffer[16];
    const auto got = co_await read_some(*pair.client, buffer);
    EXPECT_EQ(got.value(), 2U);
    EXPECT_FALSE(pair.client->unread());
    pair.server->close();
    co_await sleep_for(w.executor, std::chrono::milliseconds(1));
    EXPECT_TRUE(pair.client->unread()) << "the end";
    pair.client->close();
    EXPECT_FALSE(pair.client->unread());
  }(world)));
}

TEST(SimNetwork, a_write_that_was_taken_whole_is_told_so_though_a_cut_follows) {
  std::size_t cuts = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SimWorld world(seed);
    world.network.options().cut = 1000;
    world.network.options().fault_window = 8;
    ASSERT_TRUE(world.run([](SimWorld& w, std::size_t& failed) -> Task<void> {
      Pair pair = co_await connected(w.runtime);
      const auto written = co_await write(*pair.client, "abcd");
      pair.client->shutdown_write();
      const auto got = co_await drain(*pair.server);
      EXPECT_TRUE(written.ok() || got.bytes != "abcd")
          << "what failed to be written can't have arrived whole";
      if (!written.ok()) ++failed;
    }(world, cuts)))
        << "seed " << seed;
  }
  EXPECT_GT(cuts, 50U);
}

}  // namespace
}  // namespace verbatim::base::sim
