#include "net/sse.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace verbatim::net {
namespace {

std::vector<std::string> events_of(const std::vector<std::string_view>& pieces,
                                   std::size_t max_event = 10'000) {
  std::vector<std::string> out;
  SseReader reader(max_event);
  for (const std::string_view piece : pieces) {
    const auto status = reader.feed(piece, [&](const SseEvent& e) -> base::Status {
      std::string text = std::string(e.event) + "|" + std::string(e.data) + "|" + std::string(e.id);
      if (e.retry_ms) text += "|" + std::to_string(*e.retry_ms);
      out.push_back(text);
      return {};
    });
    if (!status.ok()) out.push_back("error: " + status.error().message);
  }
  if (reader.unfinished()) out.emplace_back("unfinished");
  return out;
}

TEST(Sse, a_type_in_any_case_with_any_parameters_is_a_stream) {
  for (const char* type : {"text/event-stream", "Text/Event-Stream",
                           "text/event-stream; charset=utf-8", "text/event-stream ;x=1"})
    EXPECT_TRUE(is_event_stream(type)) << type;
  for (const char* type : {"", "text/event-streams", "text/plain", "x; text/event-stream"})
    EXPECT_FALSE(is_event_stream(type)) << type;
}

// The events of `bytes`, the same for every cut in two and byte by byte.
std::vector<std::string> events(std::string_view bytes) {
  const auto whole = events_of({bytes});
  for (std::size_t at = 0; at <= bytes.size(); ++at) {
    EXPECT_EQ(events_of({bytes.substr(0, at), bytes.substr(at)}), whole) << "cut at " << at;
  }
  std::vector<std::string_view> single;
  for (std::size_t at = 0; at < bytes.size(); ++at) single.push_back(bytes.substr(at, 1));
  EXPECT_EQ(events_of(single), whole) << "byte by byte";
  return whole;
}

using Strings = std::vector<std::string>;

TEST(SseReader, events_end_with_an_empty_line_of_any_kind) {
  EXPECT_EQ(events("data: a\n\ndata: b\n\n"), (Strings{"|a|", "|b|"}));
  EXPECT_EQ(events("data: a\r\n\r\ndata: b\r\n\r\n"), (Strings{"|a|", "|b|"}));
  EXPECT_EQ(events("data: a\r\rdata: b\r\r"), (Strings{"|a|", "|b|"}));
  EXPECT_EQ(events("data: a\r\n\ndata: b\n\r\n"), (Strings{"|a|", "|b|"}));
}

TEST(SseReader, one_space_behind_the_colon_is_dropped) {
  EXPECT_EQ(events("data:a\n\ndata:  b \n\ndata:\tc\n\n"), (Strings{"|a|", "| b |", "|\tc|"}));
}

TEST(SseReader, several_data_lines_are_joined) {
  EXPECT_EQ(events("data: a\ndata\ndata:\ndata: b\n\n"), (Strings{"|a\n\n\nb|"}));
  EXPECT_EQ(events("data\n\n"), (Strings{"||"}));
}

TEST(SseReader, fields_are_taken_as_the_standard_says) {
  EXPECT_EQ(events("event: delta\nid: 7\nretry: 100\ndata: a\n\ndata: b\n\n"),
            (Strings{"delta|a|7|100", "|b|7"}));
  EXPECT_EQ(events("event: lost\n\ndata: b\n\n"), (Strings{"|b|"}));
  EXPECT_EQ(events("retry: 1x\nunknown: y\nData: no\ndata: b\n\n"), (Strings{"|b|"}));
  EXPECT_EQ(events(std::string_view("id: 1\ndata: a\n\nid: 2\0\ndata: b\n\nid\ndata: c\n\n", 43)),
            (Strings{"|a|1", "|b|1", "|c|"}));
}

TEST(SseReader, comments_and_a_byte_order_mark_are_skipped) {
  EXPECT_EQ(events("\xEF\xBB\xBF"
                   "data: a\n\n: keep-alive\n\n:\n\ndata: b\n\n"),
            (Strings{"|a|", "|b|"}));
  EXPECT_EQ(events("data: a\n\n\xEF\xBB\xBF"
                   "data: b\n\n"),
            (Strings{"|a|"}));
}

TEST(SseReader, an_event_without_its_end_is_dropped_but_noticed) {
  EXPECT_EQ(events("data: a\n\ndata: b\n"), (Strings{"|a|", "unfinished"}));
  EXPECT_EQ(events("data: a\n\ndata: b"), (Strings{"|a|", "unfinished"}));
  EXPECT_EQ(events("data: a\n\n"), (Strings{"|a|"}));
  EXPECT_EQ(events(""), Strings{});
}

TEST(SseReader, an_event_over_the_bound_is_an_error_that_stays) {
  const std::string big = "data: " + std::string(100, 'x');
  EXPECT_EQ(events_of({big, "\n\n"}, 106), (Strings{"|" + std::string(100, 'x') + "|"}));
  EXPECT_EQ(events_of({big, "\n\n"}, 105).size(), 2U);
  const auto many = events_of(
      {"data: " + std::string(60, 'x') + "\n", "data: " + std::string(60, 'x') + "\n\n"}, 106);
  EXPECT_TRUE(many.at(0).starts_with("error: an event of the stream is larger than 106 bytes"));
}

TEST(SseReader, the_sinks_error_ends_the_reading) {
  SseReader reader(1000);
  int calls = 0;
  const auto sink = [&](const SseEvent&) -> base::Status {
    ++calls;
    return base::error(base::ErrorKind::kEngine, "enough");
  };
  EXPECT_EQ(reader.feed("data: a\n\ndata: b\n\n", sink).error().message, "enough");
  EXPECT_FALSE(reader.feed("data: c\n\n", sink).ok());
  EXPECT_EQ(calls, 1);
}

// The framings of the handed wire cases (tests/cases/api/wire.jsonl): one stream in the shapes
// engines have been seen to send.
TEST(SseReader, engines_framings_give_the_same_events) {
  const Strings want{"|{\"a\":1}|", "|{\"b\":2}|", "|[DONE]|"};
  EXPECT_EQ(events("data: {\"a\":1}\r\n\r\ndata: {\"b\":2}\r\n\r\ndata: [DONE]\r\n\r\n"), want);
  EXPECT_EQ(events("data:{\"a\":1}\n\n: keep-alive\n\ndata:{\"b\":2}\n\ndata:[DONE]\n\n"), want);
  EXPECT_EQ(
      events("\xEF\xBB\xBFretry: 3000\rdata: {\"a\":1}\r\rdata: {\"b\":2}\r\rdata: [DONE]\r\r")
          .size(),
      3U);
}

TEST(SseReader, an_event_may_begin_behind_an_empty_line_only) {
  for (const char* tail : {"", "a\n\n", "a\r\r", "a\r\n\r\n", "a\n\r\n", "a\r\n\n", "\n\n"})
    EXPECT_TRUE(ends_event(tail)) << tail;
  for (const char* tail : {"a", "a\n", "a\r\n", "\r\n", "\n\na", "\n\n "})
    EXPECT_FALSE(ends_event(tail)) << tail;
}

TEST(SseWriter, what_is_written_is_read_back) {
  for (const std::string data :
       {"", "a", "a\nb", "\n", "a\r\nb\rc\n", " leading", "{\"x\":\"\\n\"}"}) {
    std::string bytes;
    append_sse_data(bytes, data);
    append_sse_event(bytes, "delta", data);
    append_sse_comment(bytes, "ping");
    std::string normal;
    for (std::size_t i = 0; i < data.size(); ++i) {
      if (data[i] == '\r') {
        normal += '\n';
        if (i + 1 < data.size() && data[i + 1] == '\n') ++i;
      } else {
        normal += data[i];
      }
    }
    EXPECT_EQ(events(bytes), (Strings{"|" + normal + "|", "delta|" + normal + "|"}));
  }
}

}  // namespace
}  // namespace verbatim::net
