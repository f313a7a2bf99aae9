#include "gateway/session_report.h"

#include <gtest/gtest.h>

#include "gateway/testing/scene.h"

namespace verbatim::gateway {
namespace {

using testing::Scene;
using trajectory::TurnPtr;
using namespace chat::testing;  // NOLINT(google-build-using-namespace)

std::string text(const SessionReport& report) {
  json::Writer w;
  write_report(w, report);
  return w.take();
}

TEST(SessionReport, nothing_is_counted_of_an_empty_session) {
  EXPECT_EQ(text(report_of({})),
            R"({"attached":0,"branched":0,"restarted":0,"started":0,"choices":0,"ambiguous":0,)"
            R"("reasons":{},"first_differences":{}})");
}

TEST(SessionReport, each_request_is_counted_once_with_its_reason_and_where_it_differed) {
  Scene scene;
  constexpr const char* kCall =
      "<tool_call>\n{\"name\": \"look\", \"arguments\": {\"a\": 1}}\n</tool_call><|im_end|>";
  auto first = Scene::request({user("1")});
  first.tools = {tool("look")};
  std::vector<TurnPtr> turns{scene.recorded(first, kCall)};
  const auto add = [&](TurnRequest request, std::string_view said) {
    turns.push_back(scene.recorded(std::move(request), said));
  };
  add(Scene::continued(turns[0], result("42")), "b<|im_end|>");   // attached
  add(Scene::continued(turns[1], user("3")), "c<|im_end|>");      // attached
  add(Scene::continued(turns[1], user("other")), "d<|im_end|>");  // branched
  auto edited = Scene::continued(turns[3], user("5"));
  edited.messages[1].tool_calls[0].arguments = R"({"a": 2})";
  add(std::move(edited), "e<|im_end|>");  // restarted: history
  auto others = Scene::continued(turns[4], user("6"));
  others.tools = {tool("listen")};
  add(std::move(others), "f<|im_end|>");                         // restarted: tools
  add(Scene::request({user("a side request")}), "g<|im_end|>");  // started
  const auto report = report_of(turns);
  EXPECT_EQ(text(report),
            R"({"attached":2,"branched":1,"restarted":2,"started":2,"choices":0,"ambiguous":0,)"
            R"("reasons":{"first":2,"history":4,"tools":1},)"
            R"("first_differences":{"content":1,"tool_calls[].function.arguments":1}})");
}

TEST(SessionReport, choices_are_counted_apart_and_a_tie_is_told) {
  Scene scene;
  scene.engine.scripts = {testing::FakeEngine::says(encoded("same<|im_end|>")),
                          testing::FakeEngine::says(encoded("same<|im_end|>"))};
  auto request = Scene::request({user("1")});
  request.choices = 2;
  auto turns = scene.turns(std::move(request)).value();
  auto next = Scene::continued(turns[0], user("2"));
  turns.push_back(scene.recorded(std::move(next), "b<|im_end|>"));
  const auto report = report_of(turns);
  EXPECT_EQ(report.started, 1U);
  EXPECT_EQ(report.choices, 1U);
  EXPECT_EQ(report.attached, 1U);
  EXPECT_EQ(report.ambiguous, 1U);
}

}  // namespace
}  // namespace verbatim::gateway
