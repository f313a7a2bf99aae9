#include "engine/sglang/answer_reader.h"

#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "json/dumps.h"
#include "json/writer.h"

namespace verbatim::engine::sglang {
namespace {

using base::ErrorKind;

const TokenIds kPrompt = {5, 6, 7};

Sent sent() {
  return Sent{{std::span(kPrompt).first(1), std::span(kPrompt).subspan(1)}, 100, 1000};
}

// A whole answer to write events of.
struct Answer {
  TokenIds ids;
  std::vector<double> logprobs;
};

struct Forms {
  Form ids = Form::kAll;
  Form logprobs = Form::kAll;
  bool has_ids = true;
  bool has_tops = false;
};

// The event that brings ids [from, to).
std::string event(const Answer& a, std::size_t from, std::size_t to, const Forms& forms,
                  std::string_view finish) {
  json::Writer w;
  w.begin_object().field("text", "x");
  if (forms.has_ids) {
    w.key("output_ids").begin_array();
    for (std::size_t i = forms.ids == Form::kAll ? 0 : from; i < to; ++i)
      w.unsigned_integer(a.ids[i]);
    w.end_array();
  }
  w.key("meta_info").begin_object();
  w.field("id", "r").key("finish_reason").raw(finish).field("prompt_tokens", 3);
  w.field("completion_tokens", std::uint64_t{to}).field("cached_tokens", 2);
  w.field("weight_version", "v1").key("output_token_logprobs").begin_array();
  const std::size_t first = forms.logprobs == Form::kAll ? 0 : from;
  for (std::size_t i = first; i < to; ++i) {
    w.begin_array().number(a.logprobs[i]).unsigned_integer(a.ids[i]).null().end_array();
  }
  w.end_array();
  if (forms.has_tops) {
    w.key("output_top_logprobs").begin_array();
    for (std::size_t i = first; i < to; ++i) {
      w.begin_array().begin_array().number(a.logprobs[i]).unsigned_integer(a.ids[i]).null();
      w.end_array().end_array();
    }
    w.end_array();
  }
  w.end_object().end_object();
  return w.take();
}

// What a reader gives for these objects, or its error.
struct Read {
  Answer answer;
  std::vector<std::vector<TopLogprob>> tops;
  TokenEnd end;
  std::optional<base::Error> error;
};
Read read(const std::vector<std::string>& objects) {
  AnswerReader reader(sent());
  Read out;
  for (const auto& object : objects) {
    auto chunk = reader.feed(object);
    if (!chunk.ok()) {
      out.error = chunk.error();
      return out;
    }
    EXPECT_EQ(chunk->ids.size(), chunk->logprobs.size());
    out.answer.ids.insert(out.answer.ids.end(), chunk->ids.begin(), chunk->ids.end());
    out.answer.logprobs.insert(out.answer.logprobs.end(), chunk->logprobs.begin(),
                               chunk->logprobs.end());
    out.tops.insert(out.tops.end(), chunk->top_logprobs.begin(), chunk->top_logprobs.end());
  }
  auto end = reader.finish();
  if (end.ok()) {
    out.end = std::move(*end);
  } else {
    out.error = end.error();
  }
  return out;
}

constexpr const char* kStop = R"({"type":"stop","matched":9})";

std::string whole(std::string_view ids, std::string_view meta) {
  return "{\"text\":\"x\",\"output_ids\":" + std::string(ids) + ",\"meta_info\":{" +
         std::string(meta) + "}}";
}
std::string good_meta(std::string_view logprobs = "[[-0.5,8,null],[-1,9,null]]") {
  return "\"finish_reason\":" + std::string(kStop) +
         ",\"prompt_tokens\":3,\"completion_tokens\":2,\"output_token_logprobs\":" +
         std::string(logprobs);
}

TEST(AnswerReader, any_cut_into_events_and_both_forms_give_the_same_ids) {
  base::SeededRandom random(1);
  for (int round = 0; round < 2000; ++round) {
    Answer a;
    const std::size_t n = random.below(random.chance(100) ? 100 : 40);
    for (std::size_t i = 0; i < n; ++i) {
      a.ids.push_back(static_cast<TokenId>(random.below(random.chance(500) ? 3 : 1000)));
      a.logprobs.push_back(-static_cast<double>(random.below(1u << 20)) / 4096.0);
    }
    Forms forms;
    forms.ids = random.chance(500) ? Form::kAll : Form::kNew;
    forms.logprobs = random.chance(500) ? Form::kAll : Form::kNew;
    forms.has_ids = !random.chance(200);
    forms.has_tops = random.chance(300);
    std::vector<std::string> events;
    std::size_t at = 0;
    while (at < n || events.empty()) {
      const std::size_t to = n == 0 ? 0 : std::min(n, at + random.below(6));
      events.push_back(event(a, at, to, forms, to == n ? kStop : "null"));
      if (round % 2 == 0) events.back() = json::dumps(json::Document::parse(events.back())->root());
      at = to;
    }
    const Read got = read(events);
    ASSERT_FALSE(got.error) << got.error->message << " in round " << round;
    EXPECT_EQ(got.answer.ids, a.ids) << "round " << round;
    EXPECT_EQ(got.answer.logprobs, a.logprobs) << "round " << round;
    EXPECT_EQ(got.end.completion_tokens, n);
    EXPECT_EQ(got.tops.size(), forms.has_tops ? n : 0);
  }
}

// The event with a second member of each name that repeats: it is always parsed whole.
std::string never_cut(std::string event) {
  event.pop_back();
  return event + ",\"z\":{\"text\":\"\",\"output_ids\":[],\"output_token_logprobs\":[]," +
         "\"output_top_logprobs\":[]}}";
}

TEST(AnswerReader, cutting_out_what_repeats_changes_nothing_not_even_for_broken_events) {
  base::SeededRandom random(3);
  int good = 0, bad = 0;
  for (int round = 0; round < 3000; ++round) {
    Answer a;
    for (int i = 0; i < 60; ++i) {
      a.ids.push_back(static_cast<TokenId>(random.below(random.chance(500) ? 3 : 1000)));
      a.logprobs.push_back(-static_cast<double>(random.below(64)) / 8.0);
    }
    Forms forms;
    forms.has_ids = !random.chance(200);
    forms.has_tops = random.chance(300);
    std::vector<std::string> cut, whole_events;
    for (std::size_t at = 0; at < a.ids.size();) {
      const std::size_t to = std::min(a.ids.size(), at + random.below(9));
      cut.push_back(event(a, at, to, forms, to == a.ids.size() ? kStop : "null"));
      at = to;
    }
    auto& broken = cut[random.below(cut.size())];
    if (!random.chance(200)) {
      constexpr std::string_view kBytes = "0123456789,[]{}\":-.e nul";
      broken[random.below(broken.size() - 1)] = kBytes[random.below(kBytes.size())];
    }
    for (const auto& each : cut) whole_events.push_back(never_cut(each));
    const Read got = read(cut), expected = read(whole_events);
    ASSERT_EQ(got.error.has_value(), expected.error.has_value()) << "round " << round;
    ASSERT_EQ(got.answer.ids, expected.answer.ids) << "round " << round;
    ASSERT_EQ(got.answer.logprobs, expected.answer.logprobs) << "round " << round;
    ASSERT_EQ(got.tops.size(), expected.tops.size()) << "round " << round;
    ASSERT_EQ(got.error ? got.error->field : "", expected.error ? expected.error->field : "")
        << "round " << round;
    (got.error ? bad : good)++;
  }
  EXPECT_GT(good, 500);
  EXPECT_GT(bad, 500);
}

TEST(AnswerReader, the_end_says_what_the_engine_said) {
  const Read got = read({whole(
      "[8,9]", good_meta() + ",\"cached_tokens\":2,\"weight_versions\":[{\"version\":\"a\","
                             "\"start\":0,\"end\":1},{\"version\":\"b\",\"start\":1,\"end\":2}]")});
  ASSERT_FALSE(got.error) << got.error->message;
  EXPECT_EQ(got.end.finish.kind, EngineFinish::Kind::kStop);
  EXPECT_EQ(got.end.finish.raw, "stop");
  EXPECT_EQ(got.end.finish.matched_id, 9u);
  EXPECT_EQ(got.end.prompt_tokens, 3u);
  EXPECT_EQ(got.end.cached_tokens, 2u);
  ASSERT_EQ(got.end.weight_versions.size(), 2u);
  EXPECT_EQ(got.end.weight_versions[1].version, "b");
  EXPECT_EQ(got.end.weight_versions[1].begin, 1u);
}

TEST(AnswerReader, new_weights_within_a_stream_start_a_span) {
  const auto with = [](const char* version, std::string_view ids, std::string_view logprobs,
                       int total, std::string_view finish) {
    return whole(ids, "\"finish_reason\":" + std::string(finish) + ",\"completion_tokens\":" +
                          std::to_string(total) + ",\"weight_version\":\"" + version +
                          "\",\"output_token_logprobs\":" + std::string(logprobs));
  };
  const Read got = read({with("a", "[8]", "[[-1,8,null]]", 1, "null"),
                         with("b", "[9]", "[[-1,9,null]]", 2, R"({"type":"length","length":2})")});
  ASSERT_FALSE(got.error) << got.error->message;
  ASSERT_EQ(got.end.weight_versions.size(), 2u);
  EXPECT_EQ(got.end.weight_versions[1].begin, 1u);
  EXPECT_EQ(got.end.finish.kind, EngineFinish::Kind::kLength);
}

TEST(AnswerReader, an_answer_without_ids_of_its_own_has_those_of_the_logprobs) {
  const Read got = read({"{\"text\":\"x\",\"meta_info\":{" + good_meta() + "}}"});
  ASSERT_FALSE(got.error) << got.error->message;
  EXPECT_EQ(got.answer.ids, (TokenIds{8, 9}));
}

TEST(AnswerReader, an_answer_of_no_tokens_is_whole) {
  for (const char* logprobs : {"[]", "null"}) {
    const Read got = read({whole("[]", std::string("\"finish_reason\":{\"type\":\"length\"},"
                                                   "\"completion_tokens\":0,"
                                                   "\"output_token_logprobs\":") +
                                           logprobs)});
    EXPECT_FALSE(got.error);
    EXPECT_EQ(got.end.completion_tokens, 0u);
  }
}

struct Bad {
  const char* name;
  std::vector<std::string> objects;
  std::string says;  // part of the message
};

class BadAnswer : public testing::TestWithParam<Bad> {};

TEST_P(BadAnswer, is_an_error_that_names_the_field) {
  const Read got = read(GetParam().objects);
  ASSERT_TRUE(got.error) << GetParam().name;
  EXPECT_EQ(got.error->kind, ErrorKind::kEngine);
  EXPECT_NE(got.error->message.find(GetParam().says), std::string::npos) << got.error->message;
}

std::string meta_with(std::string_view finish, std::string_view counts, std::string_view logprobs) {
  return "\"finish_reason\":" + std::string(finish) + "," + std::string(counts) +
         ",\"output_token_logprobs\":" + std::string(logprobs);
}
const std::string kCounts = "\"prompt_tokens\":3,\"completion_tokens\":2";
const std::string kGoodLogprobs = "[[-0.5,8,null],[-1,9,null]]";

std::string with_id(std::string_view id) {
  return whole("[8," + std::string(id) + "]",
               good_meta("[[-0.5,8,null],[-1," + std::string(id) + ",null]]"));
}
std::string with_logprob(std::string_view logprob) {
  return whole("[8,9]", good_meta("[[-0.5,8,null],[" + std::string(logprob) + ",9,null]]"));
}
std::string with_meta(std::string_view finish, std::string_view counts) {
  return whole("[8,9]", meta_with(finish, counts, kGoodLogprobs));
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, BadAnswer,
    testing::Values(
        Bad{"empty", {""}, "found nothing, expected a JSON object"},
        Bad{"not_json", {"<html>busy</html>"}, "not JSON"},
        Bad{"cut", {"{\"text\":\"x\",\"meta_in"}, "not JSON"},
        Bad{"null", {"null"}, "found null, expected a JSON object"},
        Bad{"number", {"17"}, "found 17"}, Bad{"text", {"\"ok\""}, "found \"ok\""},
        Bad{"array", {"[" + whole("[8,9]", good_meta()) + "]"}, "several completions"},
        Bad{"second_choice", {"{\"index\":1,\"meta_info\":{}}"}, "index: found 1"},
        Bad{"choices",
            {R"({"choices":[{"message":{"content":"x"}}]})"},
            "meta_info: found nothing"},
        Bad{"no_meta", {R"({"text":"x","output_ids":[8]})"}, "meta_info: found nothing"},
        Bad{"meta_list", {R"({"output_ids":[8],"meta_info":[]})"}, "meta_info: found an array"},
        Bad{"no_count",
            {with_meta(kStop, "\"prompt_tokens\":3")},
            "completion_tokens: found nothing"},
        Bad{"count_text", {with_meta(kStop, "\"completion_tokens\":\"2\"")}, "found \"2\""},
        Bad{"count_float", {with_meta(kStop, "\"completion_tokens\":2.0")}, "found 2.0"},
        Bad{"count_bool", {with_meta(kStop, "\"completion_tokens\":true")}, "found true"},
        Bad{"count_one_more",
            {with_meta(kStop, "\"completion_tokens\":3")},
            "output_ids: found an array of 2"},
        Bad{"count_one_less",
            {with_meta(kStop, "\"completion_tokens\":1")},
            "output_ids: found an array of 2"},
        Bad{"count_huge", {with_meta(kStop, "\"completion_tokens\":165")}, "(max_new_tokens)"},
        Bad{"prompt_cut",
            {with_meta(kStop, "\"prompt_tokens\":2,\"completion_tokens\":2")},
            "prompt_tokens: found 2, expected 3"},
        Bad{"prompt_longer",
            {with_meta(kStop, "\"prompt_tokens\":4,\"completion_tokens\":2")},
            "prompt_tokens: found 4, expected 3"},
        Bad{"prompt_text",
            {with_meta(kStop, "\"prompt_tokens\":\"3\",\"completion_tokens\":2")},
            "prompt_tokens: found \"3\""},
        Bad{"finish_null", {with_meta("null", kCounts)}, "finish_reason: found none"},
        Bad{"finish_text", {with_meta("\"stop\"", kCounts)}, "finish_reason: found \"stop\""},
        Bad{"finish_unknown",
            {with_meta(R"({"type":"tired"})", kCounts)},
            "finish_reason.type: found \"tired\""},
        Bad{"finish_empty", {with_meta("{}", kCounts)}, "finish_reason.type: found nothing"},
        Bad{"matched_bool",
            {with_meta(R"({"type":"stop","matched":true})", kCounts)},
            "matched: found true"},
        Bad{"aborted",
            {with_meta(R"({"type":"abort","message":"out of memory"})", kCounts)},
            "aborted the generation: out of memory"},
        Bad{"no_logprobs",
            {whole("[8,9]", "\"finish_reason\":" + std::string(kStop) + "," + kCounts)},
            "output_token_logprobs: found nothing"},
        Bad{"no_ids_at_all",
            {"{\"text\":\"x\",\"meta_info\":{\"finish_reason\":null," + kCounts + "}}"},
            "output_token_logprobs: found nothing"},
        Bad{"null_logprobs",
            {whole("[8,9]", good_meta("null"))},
            "output_token_logprobs: found nothing"},
        Bad{"short_logprobs",
            {whole("[8,9]", good_meta("[[-0.5,8,null]]"))},
            "output_token_logprobs: found an array of 1"},
        Bad{"long_logprobs",
            {whole("[8,9]", good_meta("[[-0.5,8,null],[-1,9,null],[-1,9,null]]"))},
            "output_token_logprobs: found an array of 3"},
        Bad{"logprobs_object",
            {whole("[8,9]", good_meta("{}"))},
            "output_token_logprobs: found an object"},
        Bad{"logprob_not_list",
            {whole("[8,9]", good_meta("[[-0.5,8,null],-1]"))},
            "output_token_logprobs[1]: found -1"},
        Bad{"logprob_alone",
            {whole("[8,9]", good_meta("[[-0.5,8,null],[-1]]"))},
            "output_token_logprobs[1]: found an array of 1"},
        Bad{"logprob_null", {with_logprob("null")}, "output_token_logprobs[1][0]: found null"},
        Bad{"logprob_text", {with_logprob("\"-1\"")}, "[1][0]: found \"-1\""},
        Bad{"logprob_nan", {with_logprob("NaN")}, "not JSON"},
        Bad{"logprob_above_zero", {with_logprob("3.0")}, "a finite number not above 0"},
        Bad{"logprob_overflows", {with_logprob("-1e999")}, "[1][0]: found -1e999"},
        Bad{"logprob_bool", {with_logprob("false")}, "[1][0]: found false"},
        Bad{"ids_disagree",
            {whole("[8,9]", good_meta("[[-0.5,8,null],[-1,10,null]]"))},
            "[1][1]: found 10, expected 9"},
        Bad{"ids_not_list", {whole("\"8,9\"", good_meta())}, "output_ids: found \"8,9\""},
        Bad{"ids_short", {whole("[8]", good_meta())}, "output_ids: found an array of 1"},
        Bad{"id_text", {with_id("\"9\"")}, "output_ids[1]: found \"9\""},
        Bad{"id_bool", {with_id("true")}, "output_ids[1]: found true"},
        Bad{"id_float", {with_id("9.0")}, "output_ids[1]: found 9.0"},
        Bad{"id_null", {with_id("null")}, "output_ids[1]: found null"},
        Bad{"id_negative", {with_id("-1")}, "output_ids[1]: found -1"},
        Bad{"id_out_of_range", {with_id("1000")}, "below the vocabulary's 1000"},
        Bad{"id_huge", {with_id("1099511627776")}, "output_ids[1]: found 1099511627776"},
        Bad{"id_beyond_64_bits", {with_id("18446744073709551620")}, "output_ids[1]: found 1844"},
        Bad{"echo_differs",
            {"{\"prompt_token_ids\":[5,6,8]," + whole("[8,9]", good_meta()).substr(1)},
            "prompt_token_ids[2]: found 8, expected 7"},
        Bad{"echo_short",
            {"{\"prompt_token_ids\":[5,6]," + whole("[8,9]", good_meta()).substr(1)},
            "prompt_token_ids: found an array of 2"},
        Bad{"weights_shape",
            {whole("[8,9]", good_meta() + ",\"weight_versions\":[1]")},
            "weight_versions[0]: found 1"},
        Bad{"error_body",
            {R"({"error":{"message":"no room"}})"},
            "the engine reported an error: no room"},
        Bad{"error_text", {R"({"error":"Unauthorized"})"}, "reported an error: Unauthorized"},
        Bad{"error_flat",
            {R"({"object":"error","message":"too long","code":400})"},
            "reported an error: too long"},
        Bad{"nothing_at_all", {}, "finish_reason: found none"},
        Bad{"more_behind_the_finish",
            {whole("[8,9]", good_meta()), whole("[8,9]", good_meta())},
            "more behind the finish reason"}),
    [](const auto& p) { return std::string(p.param.name); });

std::string part(std::string_view ids, std::string_view logprobs, int total) {
  return whole(ids, meta_with("null", "\"completion_tokens\":" + std::to_string(total), logprobs));
}

INSTANTIATE_TEST_SUITE_P(
    Streams, BadAnswer,
    testing::Values(
        Bad{"changed_id",
            {part("[8,9]", "[[-1,8,null],[-1,9,null]]", 2), part("[8,7,6]", "[[-1,6,null]]", 3)},
            "output_ids[1]: found 7, expected 9"},
        Bad{"changed_id_by_a_digit",
            {part("[8,9]", "[[-1,8,null],[-1,9,null]]", 2), part("[8,91,6]", "[[-1,6,null]]", 3)},
            "output_ids[1]: found 91, expected 9"},
        Bad{"changed_logprob",
            {part("[8]", "[[-1,8,null]]", 1), part("[8,9]", "[[-2,8,null],[-1,9,null]]", 2)},
            "output_token_logprobs[0]: found [-2,8,null]"},
        Bad{"changed_form",
            {part("[8]", "[[-1,8,null]]", 1), part("[9]", "[[-1,9,null]]", 2),
             part("[8,9,6]", "[[-1,6,null]]", 3)},
            "output_ids: found an array of 3, expected the 1 new ones"},
        Bad{"all_entries_counted_twice",
            {part("[8]", "[[-1,8,null]]", 1), part("[8,9]", "[[-1,8,null],[-1,9,null]]", 3)},
            "completion_tokens that count them twice"},
        Bad{"fewer_than_before",
            {part("[8,9]", "[[-1,8,null],[-1,9,null]]", 2), part("[8]", "[[-1,8,null]]", 1)},
            "completion_tokens: found 1, expected at least 2"},
        Bad{"a_lost_event",
            {part("[8]", "[[-1,8,null]]", 1), part("[6]", "[[-1,6,null]]", 3)},
            "output_ids: found an array of 1, expected 3"}),
    [](const auto& p) { return std::string(p.param.name); });

TEST(AnswerReader, the_same_entry_again_is_new_where_the_form_is_known) {
  const std::vector<std::string> again = {
      part("[8]", "[[0,8,null]]", 1),
      whole("[8,8]", meta_with(kStop, "\"completion_tokens\":3", "[[0,8,null],[0,8,null]]"))};
  EXPECT_TRUE(read(again).error);
  Sent told = sent();
  told.streams_new_only = true;
  AnswerReader reader(told);
  EXPECT_TRUE(reader.feed(again[0]).ok());
  const auto chunk = reader.feed(again[1]);
  ASSERT_TRUE(chunk.ok()) << chunk.error().message;
  EXPECT_EQ(chunk->ids, (TokenIds{8, 8}));
}

TEST(AnswerReader, an_abort_carries_the_status_the_engine_names) {
  const Read got = read({with_meta(
      R"({"type":"abort","message":"too \"long\"","status_code":400,"err_type":"BadRequest"})",
      kCounts)});
  ASSERT_TRUE(got.error && got.error->upstream);
  EXPECT_EQ(got.error->upstream->status, 400);
  EXPECT_EQ(got.error->upstream->body, R"({"error":{"message":"too \"long\""}})");
}

TEST(AnswerReader, a_reported_error_carries_the_status_the_engine_names) {
  const Read got = read({R"({"error":{"message":"busy","code":503}})"});
  ASSERT_TRUE(got.error && got.error->upstream);
  EXPECT_EQ(got.error->upstream->status, 503);
}

TEST(AnswerReader, top_logprobs_may_be_missing_for_a_token) {
  const Read got = read({whole(
      "[8,9]", good_meta() + ",\"output_top_logprobs\":[null,[[-1,9,null],[-2.5,4,null]]]")});
  ASSERT_FALSE(got.error) << got.error->message;
  ASSERT_EQ(got.tops.size(), 2u);
  EXPECT_TRUE(got.tops[0].empty());
  EXPECT_EQ(got.tops[1][1].id, 4u);
  EXPECT_EQ(got.tops[1][1].logprob, -2.5);
}

}  // namespace
}  // namespace verbatim::engine::sglang
