#include "store/sqlite/turn_codec.h"

#include <bit>
#include <cmath>

#include <gtest/gtest.h>

#include "store/testing/full_turn.h"

namespace verbatim::store::sqlite {
namespace {

using testing::difference;
using testing::full_turn;

// What columns hold comes from elsewhere.
void take_columns(const Turn& from, Turn& to) {
  to.id = from.id;
  to.seq = from.seq;
  to.branch = from.branch;
  to.session_id = from.session_id;
  to.parent = from.parent;
  to.root = from.root;
  to.digest = from.digest;
}

TEST(TurnCodec, every_field_comes_back) {
  base::SeededRandom random(1);
  for (int i = 0; i < 500; ++i) {
    const auto turn = full_turn(random, "s", nullptr);
    auto back = decode_turn(encode(*turn));
    ASSERT_TRUE(back.ok()) << i << ": " << back.error().message;
    take_columns(*turn, **back);
    ASSERT_EQ(difference(*turn, **back), "") << i;
    ASSERT_EQ(**decode_root(encode(*turn->root)), *turn->root);
  }
}

TEST(TurnCodec, no_bit_of_a_logprob_is_lost) {
  Turn turn;
  for (const double value : {-0.0, -0.5, -1e-300, -4.9e-324, -0.1, -1.0 / 3.0, -HUGE_VAL}) {
    turn.logprobs = {-0.5, value};
    const auto back = decode_turn(encode(turn));
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(std::bit_cast<std::uint64_t>((*back)->logprobs[1]),
              std::bit_cast<std::uint64_t>(value));
  }
}

TEST(TurnCodec, bytes_that_are_cut_or_changed_are_an_error_or_a_turn) {
  base::SeededRandom random(2);
  for (int i = 0; i < 60; ++i) {
    const auto turn = full_turn(random, "s", nullptr);
    const std::string bytes = encode(*turn);
    for (std::size_t size = 0; size < bytes.size(); ++size)
      ASSERT_FALSE(decode_turn(bytes.substr(0, size)).ok()) << "cut at " << size;
    ASSERT_FALSE(decode_turn(bytes + '\0').ok()) << "a byte too many";
    for (int change = 0; change < 200; ++change) {
      std::string changed = bytes;
      changed[random.below(changed.size())] = static_cast<char>(random.next());
      const auto back = decode_turn(changed);
      ASSERT_TRUE(back.ok() || back.error().kind == base::ErrorKind::kInternal);
    }
  }
}

TEST(TurnCodec, no_byte_can_be_one_that_stops_the_reader) {
  base::SeededRandom random(3);
  const auto turn = full_turn(random, "s", nullptr);
  const std::string bytes = encode(*turn);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const char byte : {'\x00', '\x01', '\x7f', '\x80', '\xff'}) {
      std::string changed = bytes;
      changed[at] = byte;
      const auto back = decode_turn(changed);
      ASSERT_TRUE(back.ok() || back.error().kind == base::ErrorKind::kInternal);
    }
  }
}

TEST(TurnCodec, the_format_before_is_read) {
  Turn turn;
  turn.usage = message::Usage{.prompt_tokens = 7, .completion_tokens = 3, .cached_tokens = 2};
  std::string bytes = encode(turn);
  ASSERT_EQ(bytes.front(), 2);
  ASSERT_EQ(bytes.back(), 0) << "no reasoning_tokens";
  bytes.pop_back();
  bytes.front() = 1;
  const auto back = decode_turn(bytes);
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ((*back)->usage, turn.usage);
}

TEST(TurnCodec, a_newer_format_is_told) {
  const auto back = decode_turn("\x7f");
  ASSERT_FALSE(back.ok());
  EXPECT_NE(back.error().message.find("format 127"), std::string::npos) << back.error().message;
}

// docs/design.md: at most 20 bytes a token beside text. A turn as sessions of trainers have them.
TEST(TurnCodec, a_token_takes_few_bytes) {
  base::SeededRandom random(3);
  Turn turn;
  turn.messages.resize(1);
  for (int i = 0; i < 73; ++i)
    turn.prompt.push_back(static_cast<base::TokenId>(random.below(150'000)));
  for (std::uint32_t i = 0; i < 5; ++i)
    turn.spans.push_back({15, message::SpanSource::kMessage, message::Field::kText, 300 + i});
  for (int i = 0; i < 32; ++i) {
    turn.completion.push_back(static_cast<base::TokenId>(random.below(150'000)));
    turn.logprobs.push_back(-static_cast<double>(random.next() >> 11) / 9.0e15);
  }
  turn.engine_kind = "sglang";
  turn.engine_mode = "generate";
  turn.engine_url = "http://127.0.0.1:30000";
  turn.request_id = std::string(32, 'r');
  turn.completion_id = "chatcmpl-" + std::string(32, 'c');
  turn.times = {1'790'000'000'000, 1'790'000'000'900, 200'000, 900'000};
  const double each = static_cast<double>(encode(turn).size()) / (73 + 32);
  RecordProperty("bytes_per_token", std::to_string(each));
  EXPECT_LE(each, 8.5) << "bytes a token, without text";
}

}  // namespace
}  // namespace verbatim::store::sqlite
