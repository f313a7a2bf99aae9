#include "protocol/chat_reader.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "protocol/chat_stream.h"

namespace verbatim::protocol {
namespace {

using message::Events;
using message::FinishReason;

const ChatHead kHead{"chatcmpl-1", 17, "m"};
const message::Usage kUsage{.prompt_tokens = 7, .completion_tokens = 3, .cached_tokens = 4};

Events random_events(base::Random& random) {
  static const std::string kTexts[] = {"a", "\n", "é😀", "\"\\", "<tool_call>", "\x01"};
  const auto text = [&] { return kTexts[random.below(std::size(kTexts))]; };
  Events out;
  for (auto n = random.below(4); n > 0; --n) message::append_reasoning(out, text());
  std::uint32_t calls = 0;
  for (auto n = random.below(6); n > 0; --n) {
    if (random.chance(500)) {
      out.emplace_back(message::TextDelta{text()});
      continue;
    }
    out.emplace_back(message::ToolCallStart{calls, "c" + std::to_string(calls), "f"});
    out.emplace_back(message::ToolCallArguments{calls, "{\"a\":"});
    if (random.chance(800)) {
      out.emplace_back(message::ToolCallArguments{calls, " 1}"});
      out.emplace_back(message::ToolCallEnd{calls});
    }
    ++calls;
  }
  return out;
}

TEST(ChatReader, reads_what_the_emitter_writes) {
  const std::uint64_t seed = 5;
  SCOPED_TRACE(seed);
  base::SeededRandom random(seed);
  for (int round = 0; round < 2000; ++round) {
    const Events events = random_events(random);
    ChatStreamEmitter emitter(kHead, {.include_usage = random.chance(500), .logprobs = false});
    std::vector<std::string> payloads;
    emitter.events(events, {}, payloads);
    emitter.finish(FinishReason::kStop, kUsage, payloads);
    ChatStreamReader reader;
    Events read;
    for (const auto& payload : payloads) {
      const auto status = reader.feed(payload, read);
      ASSERT_TRUE(status.ok()) << payload << status.error().message;
    }
    EXPECT_EQ(read, events);
    EXPECT_TRUE(reader.done());
    EXPECT_EQ(reader.result().turn, message::fold(events));
    EXPECT_EQ(reader.result().finish_reason, "stop");
    EXPECT_EQ(reader.result().id, "chatcmpl-1");
  }
}

TEST(ChatReader, a_whole_answer_is_what_its_stream_joins_to) {
  base::SeededRandom random(6);
  for (int round = 0; round < 500; ++round) {
    const auto folded = message::fold(random_events(random));
    const auto body = write_chat_answer(
        kHead, {.message = folded.to_message(), .finish = FinishReason::kLength, .usage = kUsage});
    const auto result = read_chat_answer(body);
    ASSERT_TRUE(result.ok()) << body;
    EXPECT_EQ(*result, (ChatResult{"chatcmpl-1", "m", folded, "length", kUsage}));
  }
}

TEST(ChatReader, what_a_server_counts_of_reasoning_is_read) {
  const auto result = read_chat_answer(
      R"({"id":"1","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"a"},)"
      R"("finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":3,)"
      R"("completion_tokens_details":{"reasoning_tokens":2}}})");
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->usage,
            (message::Usage{.prompt_tokens = 7, .completion_tokens = 3, .reasoning_tokens = 2}));
}

std::string failure(const std::vector<std::string>& payloads) {
  ChatStreamReader reader;
  Events events;
  for (const auto& payload : payloads) {
    const auto status = reader.feed(payload, events);
    if (status) continue;
    EXPECT_EQ(status.error().kind, base::ErrorKind::kEngine);
    return status.error().field + ": " + status.error().message;
  }
  return "accepted";
}

TEST(ChatReader, says_what_is_wrong_with_a_chunk) {
  const auto chunk = [](const std::string& delta) {
    return R"({"choices":[{"index":0,"delta":)" + delta + "}]}";
  };
  EXPECT_EQ(failure({R"({"error":{"message":"boom"}})"}), ": boom");
  EXPECT_EQ(failure({R"({"error":"boom"})"}), ": \"boom\"");
  EXPECT_EQ(failure({"[DONE]", "{}"}), ": an event behind [DONE]");
  EXPECT_EQ(failure({"null"}), ": expected an object, found null");
  EXPECT_EQ(failure({"{}"}), "choices: missing; expected an array");
  EXPECT_EQ(failure({chunk(R"({"content":1})")}),
            "choices[0].delta.content: expected a string, found a number");
  EXPECT_EQ(
      failure({chunk(R"({"tool_calls":[{"index":1,"function":{"name":"f"}}]})")}),
      "choices[0].delta.tool_calls[0].index: expected the number of the last call or the next, "
      "found 1");
  EXPECT_EQ(failure({chunk(R"({"tool_calls":[{"index":0,"function":{"arguments":"{"}}]})")}),
            "choices[0].delta.tool_calls[0]: a call begins without a name");
  EXPECT_EQ(failure({chunk("null"), chunk(R"({"content":null,"tool_calls":null})"), "[DONE]"}),
            "accepted");
}

}  // namespace
}  // namespace verbatim::protocol
