#include "net/read_pump.h"

#include <optional>

#include <gtest/gtest.h>

namespace verbatim::net {
namespace {

// A stream whose reads end when the test says so, as a read that the system had finished before
// close() does.
class HandStream final : public base::ByteStream {
 public:
  void start_read(std::span<char> into, base::IoCompletion& done) override {
    room_ = into.size();
    reading_ = &done;
  }
  void start_write(std::span<const std::string_view>, base::IoCompletion&) override {}
  void shutdown_write() override {}
  void close() override { closed_ = true; }
  [[nodiscard]] std::string peer() const override { return "?"; }

  [[nodiscard]] bool reading() const { return reading_ != nullptr; }
  void arrive() { std::exchange(reading_, nullptr)->complete(room_); }
  void arrive(std::size_t n) { std::exchange(reading_, nullptr)->complete(n); }
  void fail() {
    std::exchange(reading_, nullptr)->complete(base::error(base::ErrorKind::kCancelled, "closed"));
  }

 private:
  std::size_t room_ = 0;
  base::IoCompletion* reading_ = nullptr;
  bool closed_ = false;
};

struct Nobody final : ReadPump::Observer {
  void on_stream_end() override { ++ends; }
  int ends = 0;
};

base::Task<void> wait_for_end(ReadPump& pump, bool& over) {
  co_await pump.closed();
  over = true;
}

class ReadPumpClosed : public ::testing::Test {
 public:
  void close_and_wait() {
    pump.close();
    base::spawn(wait_for_end(pump, over));
  }

  HandStream stream;
  Nobody observer;
  ReadPump pump{stream, observer, 4096};
  bool over = false;
};

TEST_F(ReadPumpClosed, ends_when_the_pending_read_is_given_up) {
  pump.start();
  close_and_wait();
  EXPECT_FALSE(over);
  stream.fail();
  EXPECT_TRUE(over);
  EXPECT_EQ(observer.ends, 1);
}

TEST_F(ReadPumpClosed, ends_though_the_last_read_filled_the_buffer) {
  pump.start();
  close_and_wait();
  stream.arrive();
  if (stream.reading()) stream.fail();
  EXPECT_TRUE(over);
  EXPECT_EQ(observer.ends, 1);
}

TEST_F(ReadPumpClosed, ends_while_it_waits_for_room) {
  pump.start();
  stream.arrive();
  ASSERT_FALSE(stream.reading());
  close_and_wait();
  if (stream.reading()) stream.fail();
  EXPECT_TRUE(over);
}

TEST(ReadPump, pinned_bytes_stay_where_they_are_until_they_are_consumed) {
  HandStream stream;
  Nobody observer;
  ReadPump pump(stream, observer, 8192);
  bool over = false;
  pump.start();
  stream.arrive(100);
  pump.consume(40);
  pump.pin();
  const char* const held = pump.data().data();
  stream.arrive(8000);
  EXPECT_FALSE(stream.reading()) << "no room without moving what is looked at";
  EXPECT_EQ(pump.data().data(), held);
  pump.consume(60);
  EXPECT_EQ(pump.data().size(), 8000U);
  pump.consume(8000);
  EXPECT_TRUE(stream.reading()) << "it goes on once there is room";
  pump.close();
  base::spawn(wait_for_end(pump, over));
  stream.fail();
  EXPECT_TRUE(over);
}

}  // namespace
}  // namespace verbatim::net
