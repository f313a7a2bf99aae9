#include "gateway/record_mark.h"

#include <gtest/gtest.h>

#include "gateway/testing/written_records.h"

namespace verbatim::gateway {
namespace {

using testing::lines_of;
using testing::Scene;
using testing::WrittenRecords;
using namespace chat::testing;  // NOLINT(google-build-using-namespace)

TEST(RecordMark, moves_on_while_lines_are_written_and_at_the_end) {
  WrittenRecords w;
  auto turn = w.first();
  for (int i = 0; i < 6; ++i) turn = w.next(turn);
  w.scene.world.executor.run_until_idle();
  EXPECT_GE(w.marked(), 4U);
  w.mark.close();
  w.scene.world.executor.run_until_idle();
  EXPECT_EQ(w.marked(), 7U);
  const std::string whole = w.text();
  w.files().crash();
  EXPECT_EQ(w.text(), whole);
}

TEST(RecordMark, does_not_pass_a_commit_whose_line_is_yet_to_come) {
  WrittenRecords w;
  w.scene.add_session("s2");
  // Committed, in front of all that follows; its line comes late.
  auto request = Scene::request({user("late")});
  request.session_id = "s2";
  const auto late = w.scene.recorded(std::move(request), "l<|im_end|>");
  w.recorder.committing("s2");
  w.log.committed.push_back(late);
  auto turn = w.first();
  for (int i = 0; i < 6; ++i) turn = w.next(turn);
  w.scene.world.executor.run_until_idle();
  EXPECT_EQ(w.marked(), 0U);
  w.scene.run(w.recorder.committed(w.scene.world.executor, late, store::SessionUse::kExisting));
  w.scene.world.executor.run_until_idle();
  EXPECT_GT(w.marked(), 0U);
}

TEST(RecordMark, does_not_pass_a_session_that_is_gone_and_whose_end_is_yet_to_come) {
  WrittenRecords w;
  w.scene.add_session("s2");
  w.first("s2");
  w.recorder.ending("s2");
  w.log.end("s2", 1);
  auto turn = w.first();
  for (int i = 0; i < 6; ++i) turn = w.next(turn);
  w.scene.world.executor.run_until_idle();
  EXPECT_EQ(w.mark.read()->ended, 0U);
  EXPECT_EQ(w.log.forgotten, 0U);
  w.scene.run(w.recorder.session_ended(w.scene.world.executor, "s2", "deleted", 1));
  for (int i = 0; i < 6; ++i) turn = w.next(turn);
  w.scene.world.executor.run_until_idle();
  EXPECT_EQ(w.mark.read()->ended, 1U);
  EXPECT_EQ(w.log.forgotten, 1U);
}

TEST(RecordMark, stays_where_an_end_could_not_be_written) {
  WrittenRecords w;
  auto turn = w.first();
  w.scene.world.executor.run_until_idle();
  w.recorder.ending(Scene::kSession);
  w.log.end(Scene::kSession, 1);
  w.files().options().fail_append = 1000;
  w.scene.run(w.recorder.session_ended(w.scene.world.executor, Scene::kSession, "deleted", 1));
  w.files().options().fail_append = 0;
  w.mark.close();
  w.scene.world.executor.run_until_idle();
  EXPECT_EQ(w.mark.read()->ended, 0U);
  EXPECT_EQ(w.repair().ends, 1U);
  EXPECT_EQ(lines_of(w.text()).size(), 2U);
}

TEST(RecordMark, stays_where_a_line_could_not_be_written) {
  WrittenRecords w;
  auto turn = w.first();
  turn = w.next(turn);
  w.scene.world.executor.run_until_idle();
  const auto before = w.marked();
  w.files().options().fail_append = 1000;
  turn = w.next(turn);
  w.files().options().fail_append = 0;
  for (int i = 0; i < 6; ++i) turn = w.next(turn);
  w.mark.close();
  w.scene.world.executor.run_until_idle();
  EXPECT_EQ(w.marked(), before);
  EXPECT_EQ(lines_of(w.text()).size(), 8U);
  w.repair();
  EXPECT_EQ(lines_of(w.text()).size(), 9U);
}

}  // namespace
}  // namespace verbatim::gateway
