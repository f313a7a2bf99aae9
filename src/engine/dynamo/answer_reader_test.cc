#include "engine/dynamo/answer_reader.h"

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "json/writer.h"

namespace verbatim::engine::dynamo {
namespace {

using base::ErrorKind;

const TokenIds kPrompt = {5, 6, 7};
constexpr TokenId kStopId = 9;

Sent sent(bool wants_top_logprobs = false) {
  return Sent{{std::span(kPrompt).first(1), std::span(kPrompt).subspan(1)},
              {kStopId},
              100,
              1000,
              wants_top_logprobs};
}

struct Read {
  TokenIds ids;
  std::vector<double> logprobs;
  std::vector<std::vector<TopLogprob>> tops;
  std::vector<std::size_t> sizes;  // of the chunks
  TokenEnd end;
  std::optional<base::Error> error;
  bool engine_is_done = false;
};
Read read(const std::vector<std::string>& objects, Sent what = sent()) {
  AnswerReader reader(std::move(what));
  Read out;
  for (const auto& object : objects) {
    auto chunk = reader.feed(object);
    out.engine_is_done = reader.engine_is_done();
    if (!chunk.ok()) {
      out.error = chunk.error();
      return out;
    }
    EXPECT_EQ(chunk->ids.size(), chunk->logprobs.size());
    out.sizes.push_back(chunk->ids.size());
    out.ids.insert(out.ids.end(), chunk->ids.begin(), chunk->ids.end());
    out.logprobs.insert(out.logprobs.end(), chunk->logprobs.begin(), chunk->logprobs.end());
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

// A whole answer, and how its events are written.
struct Answer {
  TokenIds ids;
  std::vector<double> logprobs;
};
enum class Naming { kTokenId, kTokenText, kBoth, kNeither };

void write_ids(json::Writer& w, std::span<const TokenId> ids) {
  w.begin_array();
  for (const TokenId id : ids) w.unsigned_integer(id);
  w.end_array();
}

double shown(double logprob) {
  return static_cast<double>(static_cast<float>(logprob));
}

// The event that brings the ids [from, to) and the logprobs of [shown_from, shown_to).
struct Cut {
  std::size_t from = 0, to = 0, shown_from = 0, shown_to = 0;
};
std::string event(const Answer& a, const Cut& cut, Naming naming, bool last) {
  json::Writer w;
  w.begin_object().field("id", "chatcmpl-1").key("choices").begin_array().begin_object();
  w.field("index", 0).key("delta").begin_object().end_object().key("finish_reason");
  if (last) {
    w.string("stop");
  } else {
    w.null();
  }
  w.key("logprobs").begin_object().key("content").begin_array();
  for (std::size_t i = cut.shown_from; i < cut.shown_to; ++i) {
    const bool text = naming == Naming::kTokenText || naming == Naming::kBoth;
    w.begin_object().field("token", text ? "token_id:" + std::to_string(a.ids[i]) : "x");
    w.field("logprob", shown(a.logprobs[i]));
    if (naming == Naming::kTokenId || naming == Naming::kBoth)
      w.field("token_id", std::uint64_t{a.ids[i]});
    w.key("top_logprobs").begin_array().end_array().end_object();
  }
  w.end_array().end_object().end_object().end_array();
  w.key("usage").begin_object().field("prompt_tokens", 3);
  w.field("completion_tokens", std::uint64_t{cut.to}).end_object();
  w.key("nvext").begin_object().key("worker_id").begin_object();
  w.field("decode_worker_id", std::uint64_t{11105012876012345678u}).end_object();
  w.key("completion_token_ids");
  write_ids(w, std::span(a.ids).subspan(cut.from, cut.to - cut.from));
  if (last) {
    w.key("engine_data").begin_object().key("prompt_token_ids");
    write_ids(w, kPrompt);
    w.key("completion_token_ids");
    write_ids(w, a.ids);
    w.field("finished", true).key("completion_logprobs").begin_array();
    for (const double logprob : a.logprobs) w.number(logprob);
    w.end_array().end_object();
  }
  w.end_object().end_object();
  return w.take();
}

Answer random_answer(base::SeededRandom& random) {
  Answer a;
  const std::size_t n = random.below(40);
  for (std::size_t i = 0; i < n; ++i) {
    a.ids.push_back(static_cast<TokenId>(random.below(random.chance(500) ? 3 : 1000)));
    a.logprobs.push_back(-std::exp(static_cast<double>(random.below(4000)) / 200.0 - 12.0));
  }
  a.ids.push_back(kStopId);
  a.logprobs.push_back(-0.0);
  return a;
}

TEST(DynamoReader, any_cut_into_events_gives_the_same_ids_and_the_exact_logprobs) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    base::SeededRandom random(seed);
    const Answer a = random_answer(random);
    const auto naming = static_cast<Naming>(random.below(4));
    const bool in_step = random.chance(500);  // else logprobs come later than ids, or not at all
    std::vector<std::string> events;
    Cut cut;
    while (cut.to < a.ids.size() || events.empty()) {
      cut.to = std::min(a.ids.size(), cut.from + random.below(6));
      const bool last = cut.to == a.ids.size();
      cut.shown_to = in_step ? cut.to : cut.shown_from + random.below(cut.to - cut.shown_from + 1);
      events.push_back(event(a, cut, naming, last));
      cut.from = cut.to;
      cut.shown_from = cut.shown_to;
    }
    const Read got = read(events);
    ASSERT_FALSE(got.error) << got.error->message << ", seed " << seed;
    EXPECT_EQ(got.ids, a.ids) << "seed " << seed;
    ASSERT_TRUE(got.end.exact_logprobs);
    EXPECT_EQ(*got.end.exact_logprobs, a.logprobs) << "seed " << seed;
    ASSERT_EQ(got.logprobs.size(), a.logprobs.size());
    for (std::size_t i = 0; i < a.logprobs.size(); ++i)
      EXPECT_EQ(shown(got.logprobs[i]), shown(a.logprobs[i])) << "seed " << seed;
    EXPECT_EQ(got.end.completion_tokens, a.ids.size());
  }
}

TEST(DynamoReader, any_other_id_or_logprob_in_any_place_is_an_error) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    base::SeededRandom random(seed);
    const Answer a = random_answer(random);
    const std::size_t half = random.below(a.ids.size());
    std::vector<std::string> events = {event(a, {0, half, 0, half}, Naming::kBoth, false)};
    // The second event continues another answer than the first began.
    Answer other = a;
    const std::size_t at = random.below(a.ids.size());
    if (random.chance(500)) {
      other.ids[at] = other.ids[at] == 8 ? 10 : 8;
    } else {
      other.logprobs[at] = other.logprobs[at] * 1.001 - 0.001;
    }
    const std::size_t end = a.ids.size();
    events.push_back(event(at < half ? other : a, {half, end, half, end}, Naming::kBoth, true));
    // Or its ids and logprobs are another's than those of its engine_data.
    if (at >= half) {
      const std::string whole = event(other, {half, end, half, end}, Naming::kBoth, true);
      const auto cut = whole.find("\"engine_data\""), cut_true = events[1].find("\"engine_data\"");
      events[1] = whole.substr(0, cut) + events[1].substr(cut_true);
    }
    const Read got = read(events);
    EXPECT_TRUE(got.error) << "seed " << seed;
  }
}

// An event in parts that the table below breaks one by one.
struct Parts {
  std::string choice =
      R"("index":0,"delta":{"content":"x"},"finish_reason":"stop",)"
      R"("logprobs":{"content":[)"
      R"({"token":"token_id:8","logprob":-0.5,"token_id":8,"top_logprobs":[)"
      R"({"token":"token_id:8","logprob":-0.5},{"token":"token_id:4","logprob":-1}]},)"
      R"({"token":"token_id:9","logprob":-1,"token_id":9,"top_logprobs":[]}]})";
  std::string usage = R"("prompt_tokens":3,"completion_tokens":2,)"
                      R"("prompt_tokens_details":{"cached_tokens":2})";
  std::string ids = "[8,9]";
  std::string data = R"("prompt_token_ids":[5,6,7],"completion_token_ids":[8,9],)"
                     R"("finished":true,"completion_logprobs":[-0.5,-1])";
  std::string more;
  [[nodiscard]] std::string text() const {
    return R"({"choices":[{)" + choice + R"(}],"usage":{)" + usage +
           R"(},"nvext":{"completion_token_ids":)" + ids + R"(,"engine_data":{)" + data + "}" +
           more + "}}";
  }
};

TEST(DynamoReader, reads_a_whole_answer) {
  Parts parts;
  parts.more = R"(,"stop_reason":9,"worker_id":{"decode_worker_id":18446744073709551615})";
  const Read got = read({parts.text()}, sent(true));
  ASSERT_FALSE(got.error) << got.error->message;
  EXPECT_EQ(got.ids, (TokenIds{8, 9}));
  EXPECT_EQ(got.logprobs, (std::vector<double>{-0.5, -1}));
  ASSERT_EQ(got.tops.size(), 2u);
  ASSERT_EQ(got.tops[0].size(), 2u);
  EXPECT_EQ(got.tops[0][1].id, 4u);
  EXPECT_EQ(got.tops[0][1].logprob, -1);
  EXPECT_EQ(got.end.prompt_tokens, 3u);
  EXPECT_EQ(got.end.completion_tokens, 2u);
  EXPECT_EQ(got.end.cached_tokens, 2u);
  EXPECT_EQ(got.end.finish.raw, "stop");
  EXPECT_EQ(got.end.finish.kind, EngineFinish::Kind::kStop);
  EXPECT_EQ(got.end.finish.matched_id, kStopId);
  EXPECT_TRUE(got.engine_is_done);
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// A part, what of it is replaced by what, and the field that is named.
struct Broken {
  std::string Parts::* part;
  std::string from;
  std::string to;
  std::string field;
};
void expect_each_refused(const std::vector<Broken>& table, bool tops = true) {
  for (const auto& row : table) {
    Parts parts;
    parts.*row.part = replaced(parts.*row.part, row.from, row.to);
    const Read got = read({parts.text()}, sent(tops));
    ASSERT_TRUE(got.error) << parts.text();
    EXPECT_EQ(got.error->kind, ErrorKind::kEngine);
    EXPECT_EQ(got.error->code, "malformed_answer");
    EXPECT_EQ(got.error->field, row.field) << got.error->message;
    EXPECT_NE(got.error->message.find("found"), std::string::npos) << got.error->message;
    EXPECT_NE(got.error->message.find("expected"), std::string::npos) << got.error->message;
  }
}

TEST(DynamoReader, ids_that_do_not_fit_are_refused) {
  const std::string ids = "nvext.completion_token_ids";
  expect_each_refused({
      {&Parts::ids, "[8,9]", "\"8\"", ids},
      {&Parts::ids, "8", "8.0", ids + "[0]"},
      {&Parts::ids, "8", "-8", ids + "[0]"},
      {&Parts::ids, "9", "1000", ids + "[1]"},
      {&Parts::ids, "9", "9e0", ids + "[1]"},
      {&Parts::ids, "9", "18446744073709551616", ids + "[1]"},
      {&Parts::ids, "9", "null", ids + "[1]"},
      {&Parts::ids, "[8,9]", "[8]", ids},
      {&Parts::ids, "[8,9]", "null", ids},
  });
}

TEST(DynamoReader, a_choice_that_does_not_fit_is_refused) {
  const std::string entries = "choices[0].logprobs.content";
  expect_each_refused({
      {&Parts::choice, "\"index\":0", "\"index\":1", "choices[0].index"},
      {&Parts::choice, "\"index\":0,", "", "choices[0].index"},
      {&Parts::choice, "\"top_logprobs\":[]}]}", "\"top_logprobs\":[]}]}},{\"index\":1", "choices"},
      {&Parts::choice, "\"stop\"", "\"tool_calls\"", "choices[0].finish_reason"},
      {&Parts::choice, "\"stop\"", "\"content_filter\"", "choices[0].finish_reason"},
      {&Parts::choice, "\"stop\"", "0", "choices[0].finish_reason"},
      {&Parts::choice, "\"stop\"", "null", "choices[0].finish_reason"},
      {&Parts::choice, "\"token_id\":8", "\"token_id\":7", entries + "[0].token_id"},
      {&Parts::choice, "\"token_id\":9", "\"token_id\":\"9\"", entries + "[1].token_id"},
      {&Parts::choice, "token_id:8", "token_id:7", entries + "[0].token"},
      {&Parts::choice, "\"logprob\":-0.5", "\"logprob\":null", entries + "[0].logprob"},
      {&Parts::choice, "\"logprob\":-0.5", "\"logprob\":0.5", entries + "[0].logprob"},
      {&Parts::choice, "\"logprob\":-0.5", "\"logprob\":-1e999", entries + "[0].logprob"},
      {&Parts::choice, "\"logprob\":-0.5", "\"logprob\":\"-0.5\"", entries + "[0].logprob"},
      {&Parts::choice, "\"content\":[", "\"content\":[7,", entries + "[0].logprob"},
      {&Parts::choice, "token_id:4", "hello", entries + "[0].top_logprobs[1].token"},
      {&Parts::choice, "token_id:4", "token_id:4x", entries + "[0].top_logprobs[1].token"},
      {&Parts::choice, "token_id:4", "token_id:", entries + "[0].top_logprobs[1].token"},
      {&Parts::choice, "token_id:4", "token_id:1000", entries + "[0].top_logprobs[1].token"},
      {&Parts::choice, ",\"logprob\":-1}]", "}]", entries + "[0].top_logprobs[1].logprob"},
      {&Parts::choice, "\"top_logprobs\":[]", "\"top_logprobs\":{}", entries + "[1].top_logprobs"},
  });
}

TEST(DynamoReader, counts_that_do_not_fit_are_refused) {
  expect_each_refused({
      {&Parts::usage, "3", "4", "usage.prompt_tokens"},
      {&Parts::usage, "3", "3.0", "usage.prompt_tokens"},
      {&Parts::usage, "\"prompt_tokens\":3,", "", "usage.prompt_tokens"},
      {&Parts::usage, "\"completion_tokens\":2", "\"completion_tokens\":3",
       "usage.completion_tokens"},
      {&Parts::usage, "\"completion_tokens\":2", "\"completion_tokens\":-2",
       "usage.completion_tokens"},
      {&Parts::usage, "\"completion_tokens\":2,", "", "usage.completion_tokens"},
      {&Parts::usage, "\"cached_tokens\":2", "\"cached_tokens\":\"2\"",
       "usage.prompt_tokens_details.cached_tokens"},
  });
}

TEST(DynamoReader, engine_data_that_does_not_fit_is_refused) {
  const std::string data = "nvext.engine_data";
  expect_each_refused({
      {&Parts::data, "[5,6,7]", "[5,6]", data + ".prompt_token_ids"},
      {&Parts::data, "[5,6,7]", "[5,6,8]", data + ".prompt_token_ids[2]"},
      {&Parts::data, "[5,6,7]", "[5.0,6,7]", data + ".prompt_token_ids[0]"},
      {&Parts::data, "[8,9]", "[8]", data + ".completion_token_ids"},
      {&Parts::data, "[8,9]", "[9,8]", data + ".completion_token_ids[0]"},
      {&Parts::data, "[8,9]", "[8,9,9]", data + ".completion_token_ids"},
      {&Parts::data, "\"completion_token_ids\"", "\"ids\"", data + ".completion_token_ids"},
      {&Parts::data, "true", "false", data + ".finished"},
      {&Parts::data, "true", "1", data + ".finished"},
      {&Parts::data, "[-0.5,-1]", "[-0.5]", data + ".completion_logprobs"},
      {&Parts::data, "[-0.5,-1]", "[-0.5,null]", data + ".completion_logprobs[1]"},
      {&Parts::data, "[-0.5,-1]", "[-0.5,-1.000001]", data + ".completion_logprobs[1]"},
      {&Parts::data, "[-0.5,-1]", "[0.5,-1]", data + ".completion_logprobs[0]"},
      {&Parts::data, ",\"completion_logprobs\":[-0.5,-1]", "", data + ".completion_logprobs"},
  });
}

TEST(DynamoReader, exact_logprobs_may_differ_below_the_precision_of_those_shown) {
  Parts parts;
  parts.data = replaced(parts.data, "-1]", "-1.00000001]");
  const Read got = read({parts.text()});
  ASSERT_FALSE(got.error) << got.error->message;
  EXPECT_EQ(got.logprobs[1], -1);
  EXPECT_EQ((*got.end.exact_logprobs)[1], -1.00000001);
}

TEST(DynamoReader, a_stop_without_a_stop_id_is_a_cancelled_generation) {
  Parts parts;
  parts.choice = replaced(parts.choice, "token_id:9", "token_id:3");
  parts.choice = replaced(parts.choice, "\"token_id\":9", "\"token_id\":3");
  parts.ids = "[8,3]";
  parts.data = replaced(parts.data, "[8,9]", "[8,3]");
  const Read got = read({parts.text()});
  ASSERT_TRUE(got.error);
  EXPECT_EQ(got.error->field, "choices[0].finish_reason");
  // A stop id of the engine's own, which it names.
  parts.more = ",\"stop_reason\":3";
  EXPECT_FALSE(read({parts.text()}).error);
  parts.more = ",\"stop_reason\":8";
  EXPECT_TRUE(read({parts.text()}).error);
  // By length it ends anywhere.
  parts.more.clear();
  parts.choice = replaced(parts.choice, "\"stop\"", "\"length\"");
  const Read cut = read({parts.text()});
  ASSERT_FALSE(cut.error) << cut.error->message;
  EXPECT_EQ(cut.end.finish.kind, EngineFinish::Kind::kLength);
}

TEST(DynamoReader, nvext_switched_off_is_named_with_its_remedy) {
  const std::string usage = R"("usage":{"prompt_tokens":3,"completion_tokens":1})";
  const std::string answer =
      R"({"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":null,"logprobs":null}],)" +
      usage + "}";
  const std::string end =
      R"({"choices":[{"index":0,"delta":{},"finish_reason":"stop","logprobs":null}],)" + usage +
      "}";
  const std::string shows =
      R"({"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":null,"logprobs":{)"
      R"("content":[{"token":"x","logprob":-1,"token_id":8}]}}],)" +
      usage + "}";
  const std::string longer = replaced(answer, "\"prompt_tokens\":3", "\"prompt_tokens\":4");
  for (const auto& objects :
       {std::vector{answer, end}, std::vector{shows, end}, std::vector{longer, end}}) {
    const Read got = read(objects);
    ASSERT_TRUE(got.error);
    EXPECT_NE(got.error->message.find("DYN_DISABLE_FRONTEND_NVEXT"), std::string::npos)
        << got.error->message;
  }
  // Where the event tells, the first is enough.
  EXPECT_EQ(read({shows, end}).sizes.size(), 0u);
  EXPECT_EQ(read({longer, end}).sizes.size(), 0u);
}

TEST(DynamoReader, what_is_no_chunk_is_refused_and_what_is_an_error_is_told) {
  for (const char* text :
       {"", "nothing", "[]", "7", "{}", R"({"choices":{}})", R"({"choices":[7]})",
        R"({"choices":[],"nvext":7})", R"({"choices":[],"usage":7})"}) {
    const Read got = read({text});
    ASSERT_TRUE(got.error) << text;
    EXPECT_EQ(got.error->code, "malformed_answer");
    EXPECT_FALSE(got.engine_is_done);
  }
  const Read got =
      read({R"({"error":{"message":"slow down","type":"rate_limit_error","code":429}})"});
  ASSERT_TRUE(got.error);
  EXPECT_EQ(got.error->code, "engine_error");
  ASSERT_TRUE(got.error->upstream);
  EXPECT_EQ(got.error->upstream->status, 429);
  EXPECT_TRUE(got.engine_is_done);
}

TEST(DynamoReader, engine_data_that_ends_before_the_ids_do_proves_nothing) {
  Parts begin, end;
  begin.choice = R"("index":0,"delta":{},"finish_reason":null)";
  begin.ids = "[8]";
  begin.data = R"("completion_token_ids":[8],"completion_logprobs":[-0.5])";
  end.choice = R"("index":0,"delta":{},"finish_reason":"stop")";
  end.ids = "[9]";
  EXPECT_FALSE(read({begin.text(), end.text()}).error);
  const std::string without = replaced(end.text(), "\"engine_data\"", "\"x\"");
  const Read got = read({begin.text(), without});
  ASSERT_TRUE(got.error);
  EXPECT_EQ(got.error->field, "nvext.engine_data");
  EXPECT_EQ(got.ids, (TokenIds{8}));
}

TEST(DynamoReader, a_worker_without_engine_data_is_told_from_a_frontend_without_nvext) {
  const std::string text = replaced(Parts().text(), "\"engine_data\"", "\"x\"");
  const Read got = read({text});
  ASSERT_TRUE(got.error);
  EXPECT_EQ(got.error->field, "nvext.engine_data");
  EXPECT_NE(got.error->message.find("this worker"), std::string::npos);
  EXPECT_EQ(got.error->message.find("DYN_DISABLE"), std::string::npos);
}

TEST(DynamoReader, nothing_sampled_comes_behind_the_finish_reason) {
  const std::string whole = Parts().text();
  Parts more;
  more.choice = R"("index":0,"delta":{},"finish_reason":null)";
  EXPECT_EQ(read({whole, more.text()}).error->field, "nvext.completion_token_ids");
  more.choice = R"("index":0,"delta":{},"finish_reason":"stop")";
  more.ids = "[]";
  EXPECT_EQ(read({whole, more.text()}).error->field, "choices[0].finish_reason");
  EXPECT_FALSE(
      read({whole, R"({"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}})"}).error);
  EXPECT_EQ(read({whole, R"({"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":3}})"})
                .error->field,
            "usage.completion_tokens");
}

TEST(DynamoReader, more_ids_than_were_asked_for_are_refused) {
  Sent few = sent();
  few.max_new_tokens = 1;
  Answer a;
  a.ids.assign(66, 8);
  a.logprobs.assign(66, -1);
  const Read got = read({event(a, {0, 66, 0, 66}, Naming::kBoth, false)}, few);
  ASSERT_TRUE(got.error);
  EXPECT_EQ(got.error->field, "nvext.completion_token_ids");
}

TEST(DynamoReader, a_cut_answer_ends_where_it_was_given_out_if_its_prompt_is_proved) {
  const Answer a = {{8, 7, kStopId}, {-1, -2, -3}};
  AnswerReader reader(sent());
  ASSERT_TRUE(reader.feed(event(a, {0, 2, 0, 1}, Naming::kBoth, false)).ok());
  const auto end = reader.cut();
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->completion_tokens, 1u);
  EXPECT_EQ(end->prompt_tokens, 3u);
  EXPECT_FALSE(end->exact_logprobs);

  AnswerReader blind(sent());
  ASSERT_TRUE(blind
                  .feed(R"({"choices":[{"index":0,"finish_reason":null}],)"
                        R"("nvext":{"completion_token_ids":[8]}})")
                  .ok());
  EXPECT_EQ(blind.cut().error().field, "usage.prompt_tokens");
}

}  // namespace
}  // namespace verbatim::engine::dynamo
