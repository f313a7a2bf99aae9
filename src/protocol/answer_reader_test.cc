#include "protocol/answer_reader.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "message/fold.h"
#include "protocol/chat_answer.h"
#include "protocol/chat_stream.h"
#include "protocol/messages_emitter.h"
#include "protocol/responses_emitter.h"

namespace verbatim::protocol {
namespace {

using message::Events;
using message::FinishReason;

const message::Usage kUsage{
    .prompt_tokens = 7, .completion_tokens = 3, .cached_tokens = 2, .reasoning_tokens = 1};
constexpr Wire kWires[] = {Wire::kChat, Wire::kResponses, Wire::kMessages};

std::string name(Wire wire) {
  return wire == Wire::kChat ? "chat" : wire == Wire::kResponses ? "responses" : "messages";
}

// Of the three, what we write of reasoning stands only in Responses.
message::Usage usage_told(Wire wire) {
  auto usage = kUsage;
  if (wire != Wire::kResponses) usage.reasoning_tokens.reset();
  return usage;
}

// A turn as all three protocols can say it: what is whole, in order, calls with arguments.
Events random_turn(base::Random& random) {
  static const std::string kTexts[] = {"a", "\n", "é😀", "\"\\", "<tool_call>", "\x01"};
  const auto text = [&] { return kTexts[random.below(std::size(kTexts))]; };
  Events out;
  for (auto n = random.below(4); n > 0; --n) out.emplace_back(message::ReasoningDelta{text()});
  for (auto n = random.below(4); n > 0; --n) out.emplace_back(message::TextDelta{text()});
  const auto calls = static_cast<std::uint32_t>(random.below(3));
  for (std::uint32_t i = 0; i < calls; ++i) {
    out.emplace_back(message::ToolCallStart{i, "c" + std::to_string(i), "f"});
    out.emplace_back(message::ToolCallArguments{i, "{\"a\":"});
    out.emplace_back(message::ToolCallArguments{i, " 1}"});
    out.emplace_back(message::ToolCallEnd{i});
  }
  return out;
}

// The data of each event of a stream, or the one object of a whole answer.
struct Said {
  std::vector<std::string> stream;
  std::string whole;
};

Said say_chat(const Events& events, bool cut) {
  const ChatHead head{"chatcmpl-1", 17, "m"};
  const auto calls = message::fold(events).complete_calls();
  const auto finish =
      message::client_finish(cut ? FinishReason::kLength : FinishReason::kStop, calls);
  ChatStreamEmitter emitter(head, {.include_usage = true, .logprobs = false});
  Said said;
  emitter.events(events, {}, said.stream);
  emitter.finish(finish, kUsage, said.stream);
  said.stream.pop_back();  // [DONE] is the transport's
  ChatAnswer answer;
  answer.message = message::fold(events).to_message();
  answer.finish = finish;
  answer.usage = kUsage;
  said.whole = write_chat_answer(head, answer);
  return said;
}

std::vector<std::string> data_of(const NamedEvents& events) {
  std::vector<std::string> data;
  for (const auto& event : events) data.push_back(event.data);
  return data;
}

Said say_responses(const Events& events, bool cut) {
  int drawn = 0;
  ResponsesEmitter emitter({"resp_1", 17, "m"}, [&] { return std::to_string(++drawn); });
  NamedEvents out;
  emitter.events(events, out);
  const char* status = cut ? "incomplete" : "completed";
  emitter.close(status, out);
  const std::string whole = emitter.whole(status, kUsage);
  emitter.end(status, whole, out);
  return {data_of(out), whole};
}

Said say_messages(const Events& events, bool cut) {
  MessagesEmitter emitter({"msg_1", "m", 7, "sig"});
  NamedEvents out;
  emitter.events(events, out);
  const bool calls = message::fold(events).complete_calls() > 0;
  const char* reason = cut ? "max_tokens" : calls ? "tool_use" : "end_turn";
  emitter.finish(reason, kUsage, out);
  MessagesEmitter::close(out);
  return {data_of(out), emitter.whole(reason, kUsage)};
}

Said say(Wire wire, const Events& events, bool cut) {
  if (wire == Wire::kChat) return say_chat(events, cut);
  return wire == Wire::kResponses ? say_responses(events, cut) : say_messages(events, cut);
}

// What a reader makes of it: the turn, or the error.
struct Heard {
  message::Folded turn;
  std::optional<AnswerEnd> end;
  std::string error;
  bool ended = false;
};

Heard hear(Wire wire, std::span<const std::string> objects) {
  Heard heard;
  const auto reader = make_answer_reader(wire);
  for (const auto& object : objects) {
    const auto document = json::Document::parse(object);
    EXPECT_TRUE(document.ok()) << object;
    Events events;
    const auto status = reader->feed(document->root(), events);
    if (!status.ok()) {
      heard.error = status.error().field + ": " + status.error().message;
      return heard;
    }
    for (const auto& event : events) heard.turn.add(event);
  }
  heard.ended = reader->ended();
  auto end = reader->finish();
  if (end.ok()) {
    heard.end = std::move(*end);
  } else {
    heard.error = end.error().field + ": " + end.error().message;
  }
  return heard;
}

TEST(AnswerReader, reads_what_the_emitters_write_whole_or_streamed) {
  const std::uint64_t seed = 11;
  SCOPED_TRACE(seed);
  base::SeededRandom random(seed);
  for (int round = 0; round < 1000; ++round) {
    const Events events = random_turn(random);
    const bool cut = random.chance(300);
    for (const Wire wire : kWires) {
      const Said said = say(wire, events, cut);
      const auto streamed = hear(wire, said.stream);
      const auto whole = hear(wire, std::span(&said.whole, 1));
      for (const auto* heard : {&streamed, &whole}) {
        ASSERT_EQ(heard->error, "") << name(wire) << said.whole;
        EXPECT_EQ(heard->turn, message::fold(events)) << name(wire) << said.whole;
        EXPECT_EQ(heard->end->finish, cut ? FinishReason::kLength : FinishReason::kStop);
        EXPECT_EQ(heard->end->usage, usage_told(wire)) << name(wire);
      }
      EXPECT_TRUE(whole.ended);
      EXPECT_EQ(streamed.ended, wire != Wire::kChat);
      if (wire == Wire::kChat) continue;
      EXPECT_EQ(streamed.end->unknown.size(), events.empty() ? 0 : 1) << name(wire);
    }
  }
}

TEST(AnswerReader, a_stream_that_breaks_off_is_never_an_answer) {
  base::SeededRandom random(3);
  for (int round = 0; round < 100; ++round) {
    const Events events = random_turn(random);
    for (const Wire wire : kWires) {
      const auto stream = say(wire, events, false).stream;
      // The usage of chat stands behind its finish: what ends it is [DONE].
      const std::size_t needed = wire == Wire::kChat ? stream.size() - 1 : stream.size();
      for (std::size_t n = 0; n < needed; ++n) {
        const auto heard = hear(wire, std::span(stream).first(n));
        EXPECT_FALSE(heard.end) << name(wire) << " after " << n << " of " << stream.size();
        EXPECT_FALSE(heard.ended) << name(wire);
      }
    }
  }
}

TEST(AnswerReader, a_finish_that_is_no_answer_is_an_error_that_names_it) {
  const std::string chat =
      R"({"choices":[{"index":0,"message":{"content":"x"},"finish_reason":FINISH}]})";
  const std::string responses =
      R"({"object":"response","status":FINISH,"output":[],"incomplete_details":{"reason":"tired"}})";
  const std::string messages = R"({"type":"message","content":[],"stop_reason":FINISH})";
  const auto with = [](std::string text, const std::string& finish) {
    return text.replace(text.find("FINISH"), 6, finish);
  };
  const auto error_of = [](Wire wire, const std::string& object) {
    return hear(wire, std::span(&object, 1)).error;
  };
  for (const char* finish : {"null", "\"content_filter\"", "\"abort\"", "5"}) {
    EXPECT_NE(error_of(Wire::kChat, with(chat, finish)), "") << finish;
    EXPECT_NE(error_of(Wire::kResponses, with(responses, finish)), "") << finish;
    EXPECT_NE(error_of(Wire::kMessages, with(messages, finish)), "") << finish;
  }
  EXPECT_NE(error_of(Wire::kResponses, with(responses, "\"incomplete\"")).find("tired"),
            std::string::npos);
  EXPECT_NE(error_of(Wire::kResponses, with(responses, "\"failed\"")), "");
  EXPECT_NE(error_of(Wire::kMessages, with(messages, "\"refusal\"")).find("refusal"),
            std::string::npos);
}

TEST(AnswerReader, an_item_that_ends_otherwise_than_it_was_streamed_is_an_error) {
  const std::vector<std::string> stream = {
      R"({"type":"response.output_item.added","output_index":0,"item":{"type":"message","content":[]}})",
      R"({"type":"response.output_text.delta","output_index":0,"delta":"Hello"})",
      R"({"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":"Help"}]}})"};
  EXPECT_NE(hear(Wire::kResponses, stream).error.find("not what was streamed"), std::string::npos);
  const std::vector<std::string> other = {
      stream[0], stream[1],
      R"({"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Hello there"}]},{"type":"reasoning","content":[]}]}})"};
  EXPECT_NE(hear(Wire::kResponses, other).error.find("other items"), std::string::npos);
}

TEST(AnswerReader, what_was_not_streamed_is_given_out_at_the_end) {
  const std::vector<std::string> stream = {
      R"({"type":"response.created","response":{"status":"in_progress"}})",
      R"({"type":"response.output_item.added","output_index":0,"item":{"type":"message","content":[]}})",
      R"({"type":"response.output_text.delta","output_index":0,"delta":"Hel"})",
      R"({"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Hello"}]},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}],"usage":{"input_tokens":1,"output_tokens":1}}})"};
  // One item more than was streamed is another answer, but an item alone may come late.
  EXPECT_NE(hear(Wire::kResponses, stream).error, "");
  const std::vector<std::string> late = {
      stream[0], stream[1], stream[2],
      R"({"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}})",
      stream[3]};
  const auto heard = hear(Wire::kResponses, late);
  ASSERT_EQ(heard.error, "");
  EXPECT_EQ(heard.turn.text, "Hello");
  ASSERT_EQ(heard.turn.calls.size(), 1U);
  EXPECT_TRUE(heard.turn.calls[0].complete);
}

TEST(AnswerReader, a_response_that_counts_nothing_may_have_broken_off) {
  const std::string whole =
      R"({"object":"response","status":"completed","output":[],"usage":USAGE})";
  const auto with = [&](const char* usage) {
    std::string text = whole;
    text.replace(text.find("USAGE"), 5, usage);
    return hear(Wire::kResponses, std::span(&text, 1)).error;
  };
  EXPECT_NE(with("null").find("response.usage"), std::string::npos);
  EXPECT_EQ(with(R"({"input_tokens":1,"output_tokens":0})"), "");
}

TEST(AnswerReader, signatures_and_unknown_blocks_are_kept_to_be_sent_back) {
  const std::vector<std::string> stream = {
      R"({"type":"message_start","message":{"usage":{"input_tokens":4}}})",
      R"({"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}})",
      R"({"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}})",
      R"({"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"abc"}})",
      R"({"type":"content_block_stop","index":0})",
      R"({"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"xyz"}})",
      R"({"type":"content_block_stop","index":1})",
      R"({"type":"ping"})",
      R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":10,"output_tokens":2}})",
      R"({"type":"message_stop"})"};
  const auto heard = hear(Wire::kMessages, stream);
  ASSERT_EQ(heard.error, "");
  EXPECT_EQ(heard.turn.reasoning, "hm");
  ASSERT_EQ(heard.end->unknown.size(), 1U);
  EXPECT_EQ(heard.end->unknown[0].second,
            R"([{"type":"thinking","thinking":"hm","signature":"abc"},)"
            R"({"type":"redacted_thinking","data":"xyz"}])");
  EXPECT_EQ(heard.end->usage->prompt_tokens, 10U);
}

TEST(AnswerReader, a_call_that_lost_its_last_piece_is_not_complete) {
  const std::vector<std::string> stream = {
      R"({"type":"message_start","message":{"usage":{"input_tokens":4}}})",
      R"({"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}})",
      R"({"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}})",
      R"({"type":"content_block_stop","index":0})",
      R"({"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":2}})",
      R"({"type":"message_stop"})"};
  const auto heard = hear(Wire::kMessages, stream);
  ASSERT_EQ(heard.error, "");
  ASSERT_EQ(heard.turn.calls.size(), 1U);
  EXPECT_FALSE(heard.turn.calls[0].complete);
  EXPECT_TRUE(heard.end->unknown.empty()) << "its blocks can't be sent again";
}

TEST(AnswerReader, members_of_chat_messages_without_a_place_are_kept) {
  const std::vector<std::string> stream = {
      R"({"choices":[{"index":0,"delta":{"role":"assistant","reasoning":"h","reasoning_details":[{"a":1}],"audio":null}}]})",
      R"({"choices":[{"index":0,"delta":{"reasoning":"m","reasoning_details":[{"b":2}],"content":"x"}}]})",
      R"({"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})"};
  const auto heard = hear(Wire::kChat, stream);
  ASSERT_EQ(heard.error, "");
  EXPECT_EQ(heard.turn.reasoning, "hm");
  const std::vector<RawMember> expected = {{"reasoning", "\"hm\""},
                                           {"reasoning_details", "[{\"a\":1},{\"b\":2}]"}};
  EXPECT_EQ(heard.end->unknown, expected);
}

TEST(AnswerReader, objects_that_are_no_answer_are_errors_and_no_crash) {
  const char* kObjects[] = {
      "[]",
      "{}",
      "5",
      R"({"type":7})",
      R"({"object":"response"})",
      R"({"choices":5})",
      R"({"choices":[5]})",
      R"({"type":"message","content":[5]})",
      R"({"type":"content_block_delta","index":7})",
      R"({"type":"response.output_text.delta","output_index":-1})",
      R"({"type":"response.completed","response":[]})",
      R"({"choices":[{"index":1,"message":{"content":"x"},"finish_reason":"stop"}]})",
      R"({"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":"x"}}})"};
  for (const Wire wire : kWires) {
    for (const std::string object : kObjects) {
      const auto heard = hear(wire, std::span(&object, 1));
      EXPECT_FALSE(heard.end) << name(wire) << " " << object;
    }
  }
}

}  // namespace
}  // namespace verbatim::protocol
