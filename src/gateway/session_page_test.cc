#include "gateway/session_page.h"

#include <gtest/gtest.h>

#include "gateway/testing/scene.h"

namespace verbatim::gateway {
namespace {

using testing::Scene;
using trajectory::TurnPtr;
using namespace chat::testing;  // NOLINT(google-build-using-namespace)

store::SessionInfo session() {
  store::SessionInfo info;
  auto spec = std::make_shared<store::SessionSpec>("s1", 1'796'078'467'000);
  spec->metadata = R"({"note":"<b>&'\""})";
  info.spec = std::move(spec);
  return info;
}

bool holds(const std::string& page, std::string_view text) {
  return page.find(text) != std::string::npos;
}

std::size_t count(const std::string& page, std::string_view text) {
  std::size_t n = 0;
  for (auto at = page.find(text); at != std::string::npos; at = page.find(text, at + 1)) ++n;
  return n;
}

TEST(SessionPage, a_session_without_turns_says_so) {
  const auto page = session_page(session(), {}, "nonce");
  EXPECT_TRUE(holds(page, "<h1>Session s1</h1>"));
  EXPECT_TRUE(holds(page, "2026-11-30 22:41:07 UTC"));
  EXPECT_TRUE(holds(page, "No turns yet"));
}

// Each place that holds text from outside, with markup in it.
TEST(SessionPage, no_text_of_a_session_can_become_markup) {
  const std::string evil = "<script>\"'&</pre>\x01\xff";
  Scene scene;
  const TurnPtr recorded = scene.recorded(Scene::request({user("a")}), "b<|im_end|>");
  auto turn = std::make_shared<trajectory::Turn>();
  turn->seq = 1;
  turn->root = recorded->root;
  turn->attach.reason = turn->engine_finish = turn->engine_url = evil;
  turn->engine_kind = turn->engine_mode = turn->request_id = evil;
  turn->attach.difference = trajectory::Difference{0, evil};
  turn->weight_versions.push_back({evil, 0});
  for (const auto role : {message::Role::kUser, message::Role::kTool, message::Role::kSystem}) {
    message::Message message;
    message.role = role;
    message.text = message.tool_call_id = evil;
    turn->messages.push_back(message);
  }
  turn->answer.role = message::Role::kAssistant;
  turn->answer.text = evil;
  turn->answer.reasoning = evil;
  turn->answer.tool_calls.push_back({evil, evil, evil, ""});
  auto info = session();
  auto spec = std::make_shared<store::SessionSpec>(evil, 1);
  spec->options = spec->metadata = evil;
  info.spec = std::move(spec);
  const auto page = session_page(info, {turn}, "nonce");
  EXPECT_FALSE(holds(page, "<script"));
  EXPECT_FALSE(holds(page, "\x01"));
  EXPECT_FALSE(holds(page, "\xff"));
  EXPECT_EQ(count(page, "&lt;script&gt;&quot;&#39;&amp;&lt;/pre&gt;"), 24U);
  EXPECT_EQ(count(page, "<pre"), count(page, "</pre>"));
}

TEST(SessionPage, a_turn_shows_how_it_attached_and_what_was_said) {
  Scene scene;
  const TurnPtr first =
      scene.recorded(Scene::request({system("be brief"), user("hello")}), "hi<|im_end|>");
  const TurnPtr second = scene.recorded(Scene::continued(first, user("more")), "ok<|im_end|>");
  const TurnPtr aside = scene.recorded(Scene::continued(first, user("less")), "no<|im_end|>");
  const auto page = session_page(session(), {first, second, aside}, "nonce");
  EXPECT_TRUE(holds(page, "new root (first)"));
  EXPECT_EQ(count(page, "behind turn 1 (history)"), 2U);
  EXPECT_TRUE(holds(page, "be brief"));
  EXPECT_TRUE(holds(page, "class=\"sampled\">hi</pre>"));
  EXPECT_EQ(count(page, "<section>"), 2U) << "the turn aside opens a line of its own";
  EXPECT_TRUE(holds(page, "<a href=\"#turn-1\">turn 1</a>"));
}

TEST(SessionPage, long_texts_and_many_turns_are_cut_and_counted) {
  Scene scene;
  scene.model->max_model_len.store(1 << 20);
  const TurnPtr long_one =
      scene.recorded(Scene::request({user(std::string(9'000, 'x'))}), "a<|im_end|>");
  const std::vector<TurnPtr> many(1'500, long_one);
  const auto page = session_page(session(), many, "nonce");
  EXPECT_TRUE(holds(page, "x … and 5000 bytes more</pre>"));
  EXPECT_TRUE(holds(page, "500 more turns are not shown here"));
  EXPECT_EQ(count(page, "<details"), 1'000U);
}

TEST(SessionPage, a_cut_falls_between_characters) {
  Scene scene;
  scene.model->max_model_len.store(1 << 20);
  std::string text = "x";
  while (text.size() < 4'100) text += "é";
  const TurnPtr turn = scene.recorded(Scene::request({user(text)}), "a<|im_end|>");
  const auto page = session_page(session(), {turn}, "nonce");
  EXPECT_TRUE(holds(page, "é … and "));
  EXPECT_FALSE(holds(page, "\xef\xbf\xbd"));
}

TEST(SessionPage, its_policy_lets_one_style_sheet_in_and_nothing_else) {
  const auto headers = page_headers("abc");
  EXPECT_EQ(headers.find("content-security-policy"),
            "default-src 'none'; style-src 'nonce-abc'; base-uri 'none'; form-action 'none'; "
            "frame-ancestors 'none'");
  EXPECT_TRUE(holds(session_page(session(), {}, "abc"), "<style nonce=\"abc\">"));
}

TEST(SessionPage, browsers_get_it_and_programs_do_not) {
  for (const char* accept :
       {"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8", "text/html",
        "TEXT/HTML ; q=0.9 , */*;q=0.1", "application/json;q=0.2, text/html;q=0.3",
        "text/html, application/json;q=0"}) {
    EXPECT_TRUE(prefers_page(accept)) << accept;
  }
  for (const char* accept :
       {"", "*/*", "application/json", "application/json, text/html", "text/*", "text/html;q=0",
        "text/html;q=0.5, */*", "text/html;q=x, */*;q=0.1", "text/plain", ",;,", "q=1"}) {
    EXPECT_FALSE(prefers_page(accept)) << accept;
  }
}

}  // namespace
}  // namespace verbatim::gateway
