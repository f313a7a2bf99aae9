#include "gateway/recorder.h"

#include <gtest/gtest.h>

#include "gateway/testing/http_caller.h"
#include "gateway/testing/scene.h"

namespace verbatim::gateway {
namespace {

using testing::Scene;
using namespace chat::testing;  // NOLINT(google-build-using-namespace)

struct Recording {
  static constexpr std::size_t kStatelessFiles = 3;

  explicit Recording(std::string_view family = "chatml")
      : scene(family),
        recorder(scene.world.files, scene.world.worker, "records", "toys/chat", kStatelessFiles) {
    EXPECT_TRUE(recorder.open().ok());
  }

  void commit(trajectory::TurnPtr turn) {
    scene.run(
        recorder.committed(scene.world.executor, std::move(turn), store::SessionUse::kExisting));
  }
  // Stateless chat: `turn` is committed and recorded.
  trajectory::TurnPtr stateless(const trajectory::TurnPtr& parent, std::string text) {
    auto request = parent ? Scene::continued(parent, user(std::move(text)))
                          : Scene::request({user(std::move(text))});
    request.session_id.clear();
    auto turn = scene.recorded(std::move(request), "a<|im_end|>");
    scene.run(recorder.committed(scene.world.executor, turn, store::SessionUse::kImplicit));
    return turn;
  }
  void end(std::string_view reason, std::uint64_t turns = 0) {
    recorder.ending(Scene::kSession);
    scene.run(recorder.session_ended(scene.world.executor, Scene::kSession, reason, turns));
  }
  std::vector<std::string> lines(const std::string& session = Scene::kSession) {
    const auto text = scene.world.files.read("records/" + session + ".jsonl", 1 << 24);
    std::vector<std::string> list;
    if (!text) return list;
    EXPECT_TRUE(text->empty() || text->back() == '\n') << "no half line";
    for (std::size_t at = 0; at < text->size();) {
      const auto end = text->find('\n', at);
      list.push_back(text->substr(at, end - at));
      EXPECT_TRUE(json::Document::parse(list.back()).ok()) << list.back();
      at = end + 1;
    }
    return list;
  }
  std::vector<std::string> each(const char* key, const std::string& session = Scene::kSession) {
    std::vector<std::string> values;
    for (const auto& line : lines(session)) values.push_back(testing::Answer::text_at(line, {key}));
    return values;
  }
  trajectory::TurnPtr first() { return scene.recorded(Scene::request({user("1")}), "a<|im_end|>"); }
  trajectory::TurnPtr next(const trajectory::TurnPtr& turn, std::string said = "b") {
    return scene.recorded(Scene::continued(turn, user("more")), said + "<|im_end|>");
  }

  Scene scene;
  Recorder recorder;
};

using Strings = std::vector<std::string>;

TEST(Recorder, lines_stand_in_the_order_of_commits) {
  Recording r;
  const auto one = r.first();
  const auto two = r.next(one);
  r.commit(one);
  r.commit(two);
  EXPECT_EQ(r.each("turn"), (Strings{std::to_string(one->id), std::to_string(two->id)}));
  EXPECT_EQ(r.each("turn_index"), (Strings{"0", "1"}));
  EXPECT_EQ(r.each("prefix_stable"), (Strings{"true", "true"}));
  EXPECT_EQ(testing::Answer::text_at(r.lines()[0], {"tokenizer", "checkpoint"}), "toys/chat");
}

TEST(Recorder, two_lines_at_once_stay_whole_and_in_order) {
  Recording r;
  const auto one = r.first();
  const auto two = r.next(one);
  const auto use = store::SessionUse::kExisting;
  base::spawn(r.recorder.committed(r.scene.world.executor, one, use));
  base::spawn(r.recorder.committed(r.scene.world.executor, two, use));
  r.scene.world.executor.run_until_idle();
  EXPECT_EQ(r.each("turn"), (Strings{std::to_string(one->id), std::to_string(two->id)}));
}

TEST(Recorder, a_line_that_does_not_extend_the_one_before_says_so) {
  Recording r;
  const auto one = r.first();
  const auto two = r.next(one);
  const auto sibling = r.next(one, "c");
  const auto under_two = r.next(two);
  for (const auto& turn : {one, two, sibling, under_two}) r.commit(turn);
  EXPECT_EQ(r.each("prefix_stable"), (Strings{"true", "true", "false", "false"}));
}

TEST(Recorder, a_new_root_does_not_extend_the_line_before) {
  Recording r;
  r.commit(r.first());
  r.commit(r.first());
  EXPECT_EQ(r.each("prefix_stable"), (Strings{"true", "false"}));
}

TEST(Recorder, a_trimmed_parent_is_not_extended) {
  Recording r("roletok");
  const auto one = r.scene.recorded(Scene::request({user("1")}), "a<|observation|>");
  const auto two = r.scene.recorded(Scene::continued(one, user("2")), "b<|user|>");
  r.commit(one);
  r.commit(two);
  EXPECT_EQ(r.each("prefix_stable"), (Strings{"true", "false"}));
}

TEST(Recorder, a_failed_line_shows_as_a_gap_and_leaves_nothing_behind) {
  Recording r;
  const auto one = r.first();
  const auto two = r.next(one);
  const auto three = r.next(two);
  int told = 0;
  r.recorder.on_failure([&](const base::Error&) { ++told; });
  r.commit(one);
  r.scene.world.files.options().fail_append = 1000;
  r.commit(two);
  r.scene.world.files.options().fail_append = 0;
  r.commit(three);
  EXPECT_EQ(r.scene.world.files.faults().append, 1U);
  EXPECT_EQ(told, 1) << "and is told";
  EXPECT_EQ(r.each("turn_index"), (Strings{"0", "2"}));
  EXPECT_EQ(r.recorder.failed_lines(), 1U);
}

TEST(Recorder, a_half_written_line_is_cut_off) {
  for (int round = 0; round < 20; ++round) {  // another random half each time
    Recording r;
    r.commit(r.first());
    const auto before = r.lines();
    r.scene.world.files.options().fail_append = 1000;
    for (int i = 0; i <= round; ++i) r.commit(r.first());
    EXPECT_EQ(r.lines(), before);
  }
}

TEST(Recorder, prefix_stable_is_said_of_the_line_that_is_there) {
  Recording r;
  const auto one = r.first();
  const auto two = r.next(one);
  const auto three = r.next(two);
  const auto sibling = r.next(one, "c");
  const auto under_sibling = r.next(sibling);
  r.commit(one);
  r.scene.world.files.options().fail_open = 1000;
  r.commit(two);
  r.scene.world.files.options().fail_open = 0;
  r.commit(three);  // extends `one`, through a line that is missing
  r.scene.world.files.options().fail_open = 1000;
  r.commit(sibling);
  r.scene.world.files.options().fail_open = 0;
  r.commit(under_sibling);  // extends the missing line, but not the last one there
  EXPECT_EQ(r.each("turn_index"), (Strings{"0", "2", "4"}));
  EXPECT_EQ(r.each("prefix_stable"), (Strings{"true", "true", "false"}));
}

TEST(Recorder, the_first_line_that_is_there_is_stable) {
  Recording r;
  const auto one = r.first();
  r.scene.world.files.options().fail_open = 1000;
  r.commit(one);
  r.scene.world.files.options().fail_open = 0;
  r.commit(r.first());
  EXPECT_EQ(r.each("turn_index"), (Strings{"1"}));
  EXPECT_EQ(r.each("prefix_stable"), (Strings{"true"}));
}

TEST(Recorder, a_session_that_ends_is_told_with_its_number_of_turns) {
  Recording r;
  const auto one = r.first();
  r.commit(one);
  r.commit(r.next(one));
  r.end("deleted");
  const auto last = r.lines().back();
  EXPECT_EQ(testing::Answer::text_at(last, {"schema_version"}), "tito.session.v1");
  EXPECT_EQ(testing::Answer::text_at(last, {"turns"}), "2");
  EXPECT_EQ(testing::Answer::text_at(last, {"reason"}), "deleted");
  EXPECT_EQ(r.lines().size(), 3U);
}

TEST(Recorder, a_session_without_lines_gets_no_file) {
  Recording r;
  r.end("deleted");
  EXPECT_FALSE(r.scene.world.files.exists("records/s1.jsonl"));
}

TEST(Recorder, a_file_from_before_this_process_is_ended_too) {
  Recording r;
  r.commit(r.first());
  Recorder next(r.scene.world.files, r.scene.world.worker, "records", "toys/chat");
  next.ending(Scene::kSession);
  r.scene.run(next.session_ended(r.scene.world.executor, Scene::kSession, "deleted", 1));
  EXPECT_EQ(r.lines().size(), 2U);
  EXPECT_EQ(testing::Answer::text_at(r.lines().back(), {"turns"}), "1");
}

TEST(Recorder, each_session_has_a_file_of_its_own) {
  Recording r;
  auto other = Scene::request({user("1")});
  r.scene.add_session("s2");
  other.session_id = "s2";
  r.commit(r.first());
  r.commit(r.scene.recorded(std::move(other), "a<|im_end|>"));
  EXPECT_EQ(r.lines("s1").size(), 1U);
  EXPECT_EQ(r.lines("s2").size(), 1U);
  EXPECT_EQ(testing::Answer::text_at(r.lines("s2")[0], {"turn_index"}), "0");
}

TEST(Recorder, remembers_only_the_files_of_stateless_chat_written_to_last) {
  Recording r;
  r.commit(r.first());
  std::vector<trajectory::TurnPtr> roots;
  for (int i = 0; i < 50; ++i) {
    roots.push_back(r.stateless(nullptr, "root " + std::to_string(i)));
    if (i > 0) r.stateless(roots[0], "more " + std::to_string(i));
    EXPECT_LE(r.recorder.remembered(), 1 + Recording::kStatelessFiles);
  }
  EXPECT_EQ(r.lines(roots[0]->session_id).size(), 50U);
  r.end("deleted");
  EXPECT_EQ(testing::Answer::text_at(r.lines().back(), {"turns"}), "1") << "a session stays known";
}

TEST(Recorder, a_file_that_was_forgotten_goes_on_as_if_it_were_not) {
  Recording r;
  const auto forget = [&] {
    for (int i = 0; i < 5; ++i) r.stateless(nullptr, "other");
  };
  const auto one = r.stateless(nullptr, "1");
  forget();
  const auto two = r.stateless(one, "2");
  forget();
  r.stateless(one, "a sibling");
  forget();
  const auto four = r.stateless(two, "4");
  forget();
  r.stateless(four, "5");
  EXPECT_EQ(r.each("turn_index", one->session_id), (Strings{"0", "1", "2", "3", "4"}));
  EXPECT_EQ(r.each("prefix_stable", one->session_id),
            (Strings{"true", "true", "false", "false", "true"}));
}

TEST(Recorder, a_forgotten_file_is_not_called_stable_once_a_line_failed) {
  Recording r;
  const auto one = r.stateless(nullptr, "1");
  r.scene.world.files.options().fail_open = 1000;
  const auto two = r.stateless(one, "2");
  r.scene.world.files.options().fail_open = 0;
  for (int i = 0; i < 5; ++i) r.stateless(nullptr, "other");
  r.stateless(two, "3");
  EXPECT_EQ(r.each("turn_index", one->session_id), (Strings{"0", "2"}));
  EXPECT_EQ(r.each("prefix_stable", one->session_id), (Strings{"true", "false"}));
}

TEST(Recorder, the_end_of_a_file_waits_for_commits_under_way) {
  Recording r;
  const auto one = r.first();
  const auto two = r.next(one);
  r.commit(one);
  // The store has taken the second turn and the deletion behind it; its answer comes late.
  r.recorder.committing(Scene::kSession);
  r.recorder.committing(Scene::kSession);
  r.end("deleted");
  EXPECT_EQ(r.lines().size(), 1U);
  r.commit(two);
  EXPECT_EQ(r.lines().size(), 2U);
  r.scene.run(r.recorder.not_committed(r.scene.world.executor, Scene::kSession));
  EXPECT_EQ(r.each("turn_index"), (Strings{"0", "1", ""}));
  EXPECT_EQ(testing::Answer::text_at(r.lines().back(), {"turns"}), "2");
}

}  // namespace
}  // namespace verbatim::gateway
