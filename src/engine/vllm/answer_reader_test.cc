#include "engine/vllm/answer_reader.h"

#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "json/writer.h"

namespace verbatim::engine::vllm {
namespace {

const TokenIds kPrompt = {5, 6, 7};

Sent sent(unsigned tops = 0) {
  return Sent{{std::span(kPrompt).first(1), std::span(kPrompt).subspan(1)}, 100, 1000, tops};
}

// How a release prints logprobs.
enum class Shape { kIntegers, kStrings, kParallel };

Route route_of(Shape shape) {
  return shape == Shape::kParallel ? Route::kCompletions : Route::kGenerate;
}

struct Answer {
  TokenIds ids;
  std::vector<double> logprobs;
};

void write_id(json::Writer& w, Shape shape, TokenId id) {
  if (shape == Shape::kIntegers) {
    w.field("token_id", std::uint64_t{id});
  } else {
    w.field("token", "token_id:" + std::to_string(id));
  }
}

void write_logprobs(json::Writer& w, const Answer& a, std::size_t from, std::size_t to,
                    Shape shape) {
  w.key("logprobs").begin_object();
  if (shape == Shape::kParallel) {
    w.key("tokens").begin_array();
    for (auto i = from; i < to; ++i) w.string("token_id:" + std::to_string(a.ids[i]));
    w.end_array().key("token_logprobs").begin_array();
    for (auto i = from; i < to; ++i) w.number(a.logprobs[i]);
    w.end_array().key("top_logprobs").begin_array();
    for (auto i = from; i < to; ++i) {
      w.begin_object().field("token_id:" + std::to_string(a.ids[i]), a.logprobs[i]);
      w.field("token_id:1", -0.5).field("token_id:2", -0.75).end_object();
    }
    w.end_array();
  } else {
    w.key("content").begin_array();
    for (auto i = from; i < to; ++i) {
      w.begin_object();
      write_id(w, shape, a.ids[i]);
      w.field("logprob", a.logprobs[i]).field("rank", 3).key("top_logprobs").begin_array();
      for (const auto& [id, logprob] :
           {std::pair(a.ids[i], a.logprobs[i]), std::pair(TokenId{1}, -0.5),
            std::pair(TokenId{2}, -0.75)}) {
        w.begin_object();
        write_id(w, shape, id);
        w.field("logprob", logprob).field("rank", 1).end_object();
      }
      w.end_array().end_object();
    }
    w.end_array();
  }
  w.end_object();
}

// The event that brings ids [from, to).
std::string event(const Answer& a, std::size_t from, std::size_t to, Shape shape,
                  std::string_view finish = "null", std::string_view more = "") {
  json::Writer w;
  w.begin_object().field("request_id", "r").key("usage").null();
  w.key("choices").begin_array().begin_object().field("index", 0);
  w.key("finish_reason").raw(finish).key("stop_reason").null();
  w.key("token_ids").begin_array();
  for (auto i = from; i < to; ++i) w.unsigned_integer(a.ids[i]);
  w.end_array();
  write_logprobs(w, a, from, to, shape);
  std::string out = w.take();
  return out.append(more).append("}]}");
}

std::string usage(std::uint64_t prompt, std::uint64_t completion) {
  return R"({"choices":[],"usage":{"prompt_tokens":)" + std::to_string(prompt) +
         R"(,"completion_tokens":)" + std::to_string(completion) +
         R"(,"prompt_tokens_details":{"cached_tokens":2}}})";
}

struct Read {
  TokenIds ids;
  std::vector<double> logprobs;
  std::vector<std::vector<TopLogprob>> tops;
  TokenEnd end;
  std::string error;
};

Read read(Route route, const std::vector<std::string>& objects, Sent what = sent()) {
  AnswerReader reader(route, std::move(what));
  Read got;
  for (const auto& object : objects) {
    auto chunk = reader.feed(object);
    if (!chunk.ok()) {
      got.error = chunk.error().message;
      return got;
    }
    got.ids.insert(got.ids.end(), chunk->ids.begin(), chunk->ids.end());
    got.logprobs.insert(got.logprobs.end(), chunk->logprobs.begin(), chunk->logprobs.end());
    for (auto& tops : chunk->top_logprobs) got.tops.push_back(std::move(tops));
  }
  auto end = reader.finish();
  if (end.ok()) {
    got.end = std::move(*end);
  } else {
    got.error = end.error().message;
  }
  return got;
}

Answer random_answer(base::Random& random) {
  Answer a;
  for (auto n = 1 + random.below(40); n > 0; --n) {
    a.ids.push_back(static_cast<TokenId>(random.below(1000)));
    a.logprobs.push_back(-static_cast<double>(random.next() >> 12) / 1e13);
  }
  return a;
}

TEST(VllmAnswer, any_cut_into_events_gives_the_same_ids_in_every_shape) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    base::SeededRandom random(seed);
    for (const Shape shape : {Shape::kIntegers, Shape::kStrings, Shape::kParallel}) {
      const Answer a = random_answer(random);
      std::vector<std::string> objects;
      for (std::size_t at = 0; at < a.ids.size();) {
        const auto to = std::min(a.ids.size(), at + random.below(5));
        const bool last = to == a.ids.size();
        objects.push_back(event(a, at, to, shape, last ? "\"stop\"" : "null"));
        at = to;
      }
      objects.push_back(usage(kPrompt.size(), a.ids.size()));
      const Read got = read(route_of(shape), objects);
      ASSERT_EQ(got.error, "");
      EXPECT_EQ(got.ids, a.ids);
      EXPECT_EQ(got.logprobs, a.logprobs);
      EXPECT_EQ(got.end.completion_tokens, a.ids.size());
      EXPECT_EQ(got.end.prompt_tokens, kPrompt.size());
      EXPECT_EQ(got.end.cached_tokens, 2U);
    }
  }
}

TEST(VllmAnswer, alternatives_are_the_most_likely_ones_wherever_the_sampled_id_stood) {
  for (const Shape shape : {Shape::kIntegers, Shape::kStrings, Shape::kParallel}) {
    const auto tops = [&](double sampled, unsigned wanted) {
      const Answer a{{7}, {sampled}};
      const Read got = read(route_of(shape), {event(a, 0, 1, shape, "\"stop\"")}, sent(wanted));
      TokenIds ids;
      for (const auto& top : got.tops.at(0)) ids.push_back(top.id);
      return ids;
    };
    EXPECT_EQ(tops(-9, 1), TokenIds{1}) << "the sampled id is not one of them";
    EXPECT_EQ(tops(-9, 2), (TokenIds{1, 2}));
    EXPECT_EQ(tops(-0.6, 1), TokenIds{1});
    EXPECT_EQ(tops(-0.6, 2), (TokenIds{1, 7}));
    EXPECT_EQ(tops(-0.1, 2), (TokenIds{7, 1}));
  }
}

TEST(VllmAnswer, the_end_says_why_and_with_which_weights) {
  const Answer a{{7, 8}, {-1, -2}};
  const auto of = [&](std::string_view finish, std::string_view stop) {
    std::string object = event(a, 0, 2, Shape::kIntegers, finish,
                               R"(,"weight_versions":[{"version":"a","start":0,"end":1},)"
                               R"({"version":"b","start":1,"end":2}])");
    const std::string none = "\"stop_reason\":null";
    object.replace(object.find(none), none.size(), "\"stop_reason\":" + std::string(stop));
    return read(Route::kGenerate, {object});
  };
  EXPECT_EQ(of("\"stop\"", "8").end.finish.matched_id, 8U);
  EXPECT_EQ(of("\"stop\"", "\"x\"").end.finish.matched_string, "x");
  EXPECT_EQ(of("\"stop\"", "null").end.finish.kind, EngineFinish::Kind::kStop);
  EXPECT_EQ(of("\"length\"", "null").end.finish.kind, EngineFinish::Kind::kLength);
  const Read got = of("\"stop\"", "null");
  ASSERT_EQ(got.end.weight_versions.size(), 2U);
  EXPECT_EQ(got.end.weight_versions[1].version, "b");
  EXPECT_EQ(got.end.weight_versions[1].begin, 1U);
}

TEST(VllmAnswer, a_whole_answer_reads_as_one_event) {
  const Answer a{{7, 8}, {-1, -2}};
  std::string whole = event(a, 0, 2, Shape::kIntegers, "\"stop\"");
  const std::string none = "\"usage\":null";
  whole.replace(whole.find(none), none.size(),
                R"("usage":{"prompt_tokens":3,"completion_tokens":2},"prompt_token_ids":[5,6,7])");
  EXPECT_EQ(read(Route::kGenerate, {whole}).error, "");
}

struct Bad {
  const char* what;
  std::vector<std::string> objects;
  std::string error;  // within the message
  Route route = Route::kGenerate;
};

// `event` with one spelling replaced by another.
std::string spoiled(std::string from, std::string to, Shape shape = Shape::kIntegers,
                    std::string_view finish = "\"stop\"") {
  std::string object = event({{7, 8}, {-1, -2}}, 0, 2, shape, finish);
  const auto at = object.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return object.replace(at, from.size(), to);
}

std::vector<Bad> bad_answers() {
  const std::string ids = "\"token_ids\":[7,8]";
  const std::string content = "\"token_id\":7,\"logprob\":-1,";
  std::vector<Bad> bad = {
      {"not JSON", {"<html>"}, "text that is not JSON"},
      {"nothing", {""}, "found nothing, expected a JSON object"},
      {"a list", {"[1]"}, "an array of 1"},
      {"no choices", {"{}"}, "choices: found nothing"},
      {"two choices", {R"({"choices":[{},{}]})"}, "choices: found an array of 2"},
      {"another index", {spoiled("\"index\":0", "\"index\":1")}, "choices[0].index: found 1"},
      {"no index", {spoiled("\"index\":0,", "")}, "choices[0].index: found nothing"},
      {"missing ids", {spoiled(ids + ",", "")}, "choices[0].token_ids: found nothing"},
      {"null ids", {spoiled(ids, "\"token_ids\":null")}, "choices[0].token_ids: found nothing"},
      {"no ids beside logprobs", {spoiled(ids, "\"token_ids\":[]")}, "token_ids: found no ids"},
      {"ids short", {spoiled(ids, "\"token_ids\":[7]")}, "content: found an array of 2"},
      {"ids long", {spoiled(ids, "\"token_ids\":[7,8,9]")}, "content: found an array of 2"},
      {"ids swapped", {spoiled(ids, "\"token_ids\":[8,7]")}, "content[0]: found 7, expected 8"},
      {"no logprobs",
       {spoiled("\"logprobs\":{\"content\"", "\"l\":{\"content\"")},
       "choices[0].logprobs: found nothing"},
      {"null logprob",
       {spoiled(content, "\"token_id\":7,\"logprob\":null,")},
       "content[0].logprob: found nothing"},
      {"text logprob",
       {spoiled(content, "\"token_id\":7,\"logprob\":\"-1\",")},
       "content[0].logprob: found \"-1\""},
      {"huge logprob",
       {spoiled(content, "\"token_id\":7,\"logprob\":-1e400,")},
       "content[0].logprob: found -1e400"},
      {"stand-in logprob",
       {spoiled(content, "\"token_id\":7,\"logprob\":-9999.0,")},
       "stands for one that the engine does not have"},
      {"positive logprob",
       {spoiled(content, "\"token_id\":7,\"logprob\":0.5,")},
       "content[0].logprob: found 0.5"},
      {"no finish", {spoiled("x", "x", Shape::kIntegers, "null")}, "none at the end of the answer"},
      {"unknown finish",
       {spoiled("x", "x", Shape::kIntegers, "\"repetition\"")},
       "finish_reason: found \"repetition\""},
      {"finish of another type",
       {spoiled("x", "x", Shape::kIntegers, "7")},
       "finish_reason: found 7"},
      {"aborted", {spoiled("x", "x", Shape::kIntegers, "\"abort\"")}, "aborted the generation"},
      {"failed", {spoiled("x", "x", Shape::kIntegers, "\"error\"")}, "failed within"},
      {"error frame",
       {R"({"error":{"message":"no room","type":"BadRequestError","param":null,"code":400}})"},
       "the engine reported an error: no room"},
      {"ids behind the finish",
       {spoiled("x", "x"), event({{7}, {-1}}, 0, 1, Shape::kIntegers)},
       "nothing behind finish_reason \"stop\""},
      {"another finish",
       {spoiled("x", "x"), event({{}, {}}, 0, 0, Shape::kIntegers, "\"length\"")},
       "finish_reason: found \"length\", expected \"stop\" as before"},
      {"prompt of another length",
       {spoiled("x", "x"), usage(4, 2)},
       "usage.prompt_tokens: found 4, expected 3 ids as sent"},
      {"count of ids off by one",
       {spoiled("x", "x"), usage(3, 3)},
       "usage.completion_tokens: found 3, expected 2 token ids"},
      {"another prompt",
       {spoiled("\"request_id\":\"r\"", "\"prompt_token_ids\":[5,6,8]")},
       "prompt_token_ids[2]: found 8, expected 7 as sent"},
      {"a stop that is not the last id",
       {spoiled("\"stop_reason\":null", "\"stop_reason\":7")},
       "stop_reason: found 7, expected 8 (the last id)"},
      {"weights from behind the end",
       {spoiled("\"stop_reason\":null",
                "\"stop_reason\":null,\"weight_versions\":[{\"version\":\"a\",\"start\":2}]")},
       "weight_versions: found start 2"},
      {"parallel: nothing said of the prompt",
       {spoiled("x", "x", Shape::kParallel)},
       "usage.prompt_tokens: found nothing",
       Route::kCompletions},
      {"parallel: missing logprob",
       {spoiled("\"token_logprobs\":[-1,", "\"token_logprobs\":[", Shape::kParallel)},
       "token_logprobs: found an array of 1",
       Route::kCompletions},
      {"parallel: another id",
       {spoiled("\"tokens\":[\"token_id:7\"", "\"tokens\":[\"token_id:6\"", Shape::kParallel)},
       "tokens[0]: found \"token_id:6\", expected token_id:7",
       Route::kCompletions},
      {"parallel: text in place of the id",
       {spoiled("\"tokens\":[\"token_id:7\"", "\"tokens\":[\"seven\"", Shape::kParallel)},
       "tokens[0]: found \"seven\"",
       Route::kCompletions},
  };
  for (const char* id : {"-1", "1000", "1099511627776", "true", "\"7\"", "7.0", "null", "1e1"}) {
    bad.push_back({"an id that is none",
                   {spoiled(ids, "\"token_ids\":[" + std::string(id) + ",8]")},
                   std::string("choices[0].token_ids[0]: found ") + id});
  }
  return bad;
}

TEST(VllmAnswer, a_bad_answer_is_an_error_that_names_the_field) {
  // "x" is in every event: spoiled() then changes nothing.
  for (const auto& bad : bad_answers()) {
    SCOPED_TRACE(bad.what);
    const Read got = read(bad.route, bad.objects);
    EXPECT_NE(got.error.find(bad.error), std::string::npos) << got.error;
  }
}

TEST(VllmAnswer, whether_the_prompt_is_proved_is_said) {
  const std::string end = event({{7, 8}, {-1, -2}}, 0, 2, Shape::kIntegers, "\"stop\"");
  EXPECT_FALSE(read(Route::kGenerate, {end}).end.prompt_is_proved) << "releases before 0.27";
  EXPECT_TRUE(read(Route::kGenerate, {end, usage(3, 2)}).end.prompt_is_proved);
  AnswerReader unproved(Route::kGenerate, sent());
  ASSERT_TRUE(unproved.feed(end).ok());
  EXPECT_FALSE(unproved.cut().ok());
  AnswerReader proved(Route::kGenerate, sent());
  ASSERT_TRUE(proved.feed(end).ok() && proved.feed(usage(3, 2)).ok());
  EXPECT_EQ(proved.cut()->completion_tokens, 2U);
}

TEST(VllmAnswer, more_ids_than_were_asked_for_are_an_error) {
  auto what = sent();
  what.max_new_tokens = 1;
  const Read got =
      read(Route::kGenerate, {event({{7, 8}, {-1, -2}}, 0, 2, Shape::kIntegers)}, what);
  EXPECT_NE(got.error.find("expected at most max_tokens 1"), std::string::npos) << got.error;
}

TEST(VllmAnswer, an_error_within_a_good_status_keeps_the_status_it_names) {
  AnswerReader reader(Route::kGenerate, sent());
  auto chunk = reader.feed(R"({"error":{"message":"no room","type":"B","param":null,"code":400}})");
  ASSERT_FALSE(chunk.ok());
  ASSERT_TRUE(chunk.error().upstream);
  EXPECT_EQ(chunk.error().upstream->status, 400);
  EXPECT_TRUE(reader.engine_is_done());
}

}  // namespace
}  // namespace verbatim::engine::vllm
