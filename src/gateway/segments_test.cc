#include "gateway/segments.h"

#include <gtest/gtest.h>

#include "gateway/testing/scene.h"
#include "json/value.h"

namespace verbatim::gateway {
namespace {

using testing::Scene;
using namespace chat::testing;  // NOLINT(google-build-using-namespace)

struct Segment {
  std::string source;
  std::string text;
  bool operator==(const Segment&) const = default;
};

// The segments of a turn with the text of their ids; they must tile its prompt.
std::vector<Segment> segments_of(const trajectory::TurnPtr& turn) {
  json::Writer w;
  write_segments(w, turn);
  const auto doc = json::Document::parse(w.take()).value();
  const auto prompt = trajectory::prompt_of(turn);
  std::vector<Segment> segments;
  std::size_t at = 0;
  for (const auto member : doc.root()) {
    const auto start = static_cast<std::size_t>(*member.value.find("start")->integer());
    const auto end = static_cast<std::size_t>(*member.value.find("end")->integer());
    EXPECT_EQ(start, at) << "no gap, no overlap";
    EXPECT_GT(end, start);
    EXPECT_LE(end, prompt.size());
    const trajectory::TokenIds ids(prompt.begin() + static_cast<std::ptrdiff_t>(start),
                                   prompt.begin() + static_cast<std::ptrdiff_t>(end));
    segments.push_back({member.value.find("source")->string(), decoded(ids)});
    at = end;
  }
  EXPECT_EQ(at, prompt.size()) << "the whole prompt is covered";
  return segments;
}

TEST(Segments, a_root_is_one_render_and_its_generation_prompt) {
  Scene scene;
  const auto turn =
      scene.recorded(Scene::request({system("be brief"), user("hello")}), "fine<|im_end|>");
  EXPECT_EQ(segments_of(turn),
            (std::vector<Segment>{{"render",
                                   "<|im_start|>system\nbe brief<|im_end|>\n<|im_start|>user\n"
                                   "hello<|im_end|>\n"},
                                  {"generation_prompt", "<|im_start|>assistant\n"}}));
}

TEST(Segments, a_child_is_its_parents_row_and_its_messages_by_role) {
  Scene scene;
  const auto parent = scene.recorded(
      Scene::request({user("hello")}),
      "<tool_call>\n{\"name\": \"look\", \"arguments\": {}}\n</tool_call><|im_end|>");
  auto request = Scene::continued(parent, result("42"));
  request.messages.push_back(system("hurry"));
  request.messages.push_back(user("and?"));
  const auto child = scene.recorded(request, "fine<|im_end|>");
  ASSERT_EQ(child->parent, parent);
  const auto got = segments_of(child);
  ASSERT_EQ(got.size(), 7U);
  EXPECT_EQ(got[0], (Segment{"prefix", decoded(trajectory::row_of(parent))}));
  EXPECT_EQ(got[1], (Segment{"render", "\n"})) << "the boundary";
  EXPECT_EQ(got[2].source, "tool");
  EXPECT_EQ(got[2].text, "<|im_start|>user\n<tool_response>\n42\n</tool_response><|im_end|>");
  EXPECT_EQ(got[3].source, "system");
  EXPECT_EQ(got[4].source, "user");
  EXPECT_EQ(got[5], (Segment{"render", "\n"})) << "behind the last close: no message's";
  EXPECT_EQ(got[6], (Segment{"generation_prompt", "<|im_start|>assistant\n"}));
}

TEST(Segments, an_inserted_assistant_is_named) {
  Scene scene;
  const auto parent = scene.recorded(Scene::request({user("hello")}), "fine<|im_end|>");
  auto request = Scene::continued(parent, assistant("a summary"));
  request.messages.push_back(user("and?"));
  const auto child = scene.recorded(request, "fine<|im_end|>");
  ASSERT_EQ(child->parent, parent);
  const auto got = segments_of(child);
  ASSERT_EQ(got.size(), 6U);
  EXPECT_EQ(got[2].source, "assistant");
  EXPECT_NE(got[2].text.find("a summary"), std::string::npos);
}

TEST(Segments, the_close_of_a_cut_turn_is_render) {
  Scene scene;
  const auto parent = scene.recorded(Scene::request({user("hello")}), "cut");
  const auto child = scene.recorded(Scene::continued(parent, user("and?")), "fine<|im_end|>");
  const auto got = segments_of(child);
  ASSERT_EQ(got.size(), 5U);
  EXPECT_TRUE(got[0].text.ends_with("cut"));
  EXPECT_EQ(got[1], (Segment{"render", "<|im_end|>\n"}));
  EXPECT_EQ(got[2].source, "user");
}

TEST(Segments, a_trimmed_stop_is_not_in_the_prefix) {
  Scene scene("roletok");
  const auto parent = scene.recorded(Scene::request({user("hello")}), "fine<|observation|>");
  const auto child = scene.recorded(Scene::continued(parent, user("and?")), "ok<|user|>");
  ASSERT_EQ(child->parent_trim, 1U);
  const auto got = segments_of(child);
  ASSERT_EQ(got.size(), 3U);
  EXPECT_EQ(got[0], (Segment{"prefix", "<|user|>\nhello<|assistant|>\nfine"}));
  EXPECT_EQ(got[1], (Segment{"user", "<|user|>\nand?"}));
  EXPECT_EQ(got[2].source, "generation_prompt");
}

TEST(Segments, a_dropped_opener_leaves_the_prefix_whole) {
  Scene scene("roletok");
  const auto parent = scene.recorded(Scene::request({user("hello")}), "fine<|user|>");
  const auto child = scene.recorded(Scene::continued(parent, user("and?")), "ok<|user|>");
  ASSERT_EQ(child->parent_trim, 0U);
  const auto got = segments_of(child);
  EXPECT_EQ(got[0], (Segment{"prefix", "<|user|>\nhello<|assistant|>\nfine<|user|>"}));
}

TEST(Segments, spans_name_source_message_and_field) {
  using message::Field;
  using message::SpanSource;
  const std::vector<message::TokenSpan> spans{{1, SpanSource::kTemplate, Field::kNone, 2},
                                              {2, SpanSource::kTools},
                                              {3, SpanSource::kArguments},
                                              {4, SpanSource::kMessage, Field::kText, 2},
                                              {5, SpanSource::kMessage, Field::kReasoning, 2},
                                              {6, SpanSource::kMessage, Field::kCallName, 2},
                                              {7, SpanSource::kMessage, Field::kCallArguments, 2},
                                              {8, SpanSource::kMessage, Field::kCallId, 2},
                                              {9, SpanSource::kMessage, Field::kName, 2},
                                              {10, SpanSource::kMessage, Field::kOther, 2},
                                              {11, SpanSource::kOpener},
                                              {12, SpanSource::kClose},
                                              {13, SpanSource::kBoundary}};
  json::Writer w;
  write_spans(w, spans);
  EXPECT_EQ(w.text(),
            R"([{"count":1,"source":"template","message":2},{"count":2,"source":"tools"},)"
            R"({"count":3,"source":"arguments"},)"
            R"({"count":4,"source":"message","message":2,"field":"content"},)"
            R"({"count":5,"source":"message","message":2,"field":"reasoning_content"},)"
            R"({"count":6,"source":"message","message":2,"field":"tool_calls.name"},)"
            R"({"count":7,"source":"message","message":2,"field":"tool_calls.arguments"},)"
            R"({"count":8,"source":"message","message":2,"field":"call_id"},)"
            R"({"count":9,"source":"message","message":2,"field":"name"},)"
            R"({"count":10,"source":"message","message":2,"field":"other"},)"
            R"({"count":11,"source":"opener"},{"count":12,"source":"close"},)"
            R"({"count":13,"source":"boundary"}])");
}

}  // namespace
}  // namespace verbatim::gateway
