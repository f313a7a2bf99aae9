#include "gateway/record_repair.h"

#include <gtest/gtest.h>

#include "gateway/record_line.h"
#include "gateway/testing/written_records.h"

namespace verbatim::gateway {
namespace {

using testing::lines_of;
using testing::Scene;
using testing::WrittenRecords;

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line;
  return text;
}

TEST(RecordRepair, a_file_cut_anywhere_is_written_on_byte_for_byte) {
  WrittenRecords w;
  w.tell();
  const std::string whole = w.text();
  ASSERT_EQ(lines_of(whole).size(), 5U);
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    w.forget_mark();
    w.set_text(whole.substr(0, size));
    w.repair();
    ASSERT_EQ(w.text(), whole) << "cut to " << size;
  }
}

TEST(RecordRepair, lines_that_are_missing_anywhere_are_put_in_their_place) {
  WrittenRecords w;
  w.tell();
  const auto lines = lines_of(w.text());
  for (unsigned there = 0; there < 32; ++there) {
    std::vector<std::string> some;
    for (unsigned i = 0; i < 5; ++i) {
      if ((there >> i & 1U) != 0) some.push_back(lines[i]);
    }
    w.forget_mark();
    w.set_text(joined(some));
    w.repair();
    const auto found = lines_of(w.text());
    ASSERT_EQ(std::set<std::string>(found.begin(), found.end()).size(), 5U) << there;
    std::set<std::string> before;
    for (const auto& line : found) {
      const auto at = line.find(R"("parent_turn":")");
      if (at != std::string::npos) {
        const auto parent = line.substr(at + 15, line.find('"', at + 15) - at - 15);
        ASSERT_TRUE(before.contains(parent)) << "a line in front of its parent's, of " << there;
      }
      const auto own = line.find(R"(,"turn":")");
      before.insert(line.substr(own + 9, line.find('"', own + 9) - own - 9));
    }
  }
}

TEST(RecordRepair, a_file_that_is_not_there_is_written) {
  WrittenRecords w;
  w.tell();
  const std::string whole = w.text();
  ASSERT_TRUE(w.files().remove("records/s1.jsonl").ok());
  w.forget_mark();
  const auto done = w.repair();
  EXPECT_EQ(w.text(), whole);
  EXPECT_EQ(done.files, 1U);
  EXPECT_EQ(done.lines, 5U);
}

TEST(RecordRepair, garbage_between_lines_goes_with_what_is_behind_it) {
  WrittenRecords w;
  w.tell();
  const std::string whole = w.text();
  auto lines = lines_of(whole);
  lines[2] = std::string(lines[2].size() - 1, '\0') + "\n";
  w.set_text(joined(lines));
  w.forget_mark();
  EXPECT_EQ(w.repair().cut, 1U);
  EXPECT_EQ(w.text(), whole);
}

TEST(RecordRepair, lines_of_which_the_store_knows_nothing_stay) {
  WrittenRecords w;
  w.tell();
  const auto lines = lines_of(w.text());
  // The store is an older copy: of the last two turns it knows nothing.
  w.log.committed.resize(3);
  w.forget_mark();
  w.repair();
  EXPECT_EQ(w.text(), joined(lines));
  // Even behind a gap: what is missing then stands at the end.
  w.set_text(lines[0] + lines[2] + lines[3] + lines[4]);
  w.forget_mark();
  EXPECT_EQ(w.repair().unordered, 1U);
  EXPECT_EQ(lines_of(w.text()).size(), 5U);
  EXPECT_EQ(w.text().find(lines[0] + lines[2] + lines[3] + lines[4]), 0U);
}

TEST(RecordRepair, files_of_sessions_that_the_store_has_not_are_left_alone_and_counted) {
  WrittenRecords w;
  w.tell();
  w.set_text("half a li", "another");
  w.forget_mark();
  const auto done = w.repair();
  EXPECT_EQ(done.foreign, 1U);
  EXPECT_EQ(w.text("another"), "half a li");
}

TEST(RecordRepair, only_what_was_committed_behind_the_mark_is_looked_at) {
  WrittenRecords w;
  w.scene.add_session("s2");
  const auto one = w.first();
  w.repair();
  EXPECT_EQ(w.marked(), 1U);
  // Committed; the process ends before its line.
  w.commit_without_line("s2");
  // Not looked at: a consumer has taken it away.
  ASSERT_TRUE(w.files().remove("records/s1.jsonl").ok());
  const auto done = w.repair();
  EXPECT_EQ(done.compared, 1U);
  EXPECT_EQ(lines_of(w.text("s2")).size(), 1U);
  EXPECT_EQ(w.text(), "");
  const int asked = w.log.asked;
  EXPECT_EQ(w.repair().compared, 0U);
  EXPECT_EQ(w.log.asked, asked) << "no session is looked for where nothing was committed";
}

TEST(RecordRepair, the_mark_of_another_store_or_of_a_newer_state_of_this_one_is_none) {
  WrittenRecords w;
  const auto one = w.first();
  w.next(one);
  w.repair();
  EXPECT_EQ(w.marked(), 2U);
  w.set_text("");
  w.log.committed = {one};
  EXPECT_EQ(w.repair().lines, 1U) << "an older copy of the store";
  EXPECT_EQ(w.marked(), 1U);
  w.log.name = "store2";
  RecordMark other(w.files(), w.slow, w.log, "records");
  EXPECT_EQ(other.read()->number, 0U);
}

TEST(RecordRepair, the_disk_is_waited_for_as_often_for_many_files_as_for_one) {
  const auto waits_for = [](int sessions) {
    WrittenRecords w;
    for (int i = 0; i < sessions; ++i) {
      const std::string id = "r" + std::to_string(i);
      w.scene.add_session(id);
      w.commit_without_line(id);
    }
    const auto before = w.files().waits();
    EXPECT_EQ(w.repair().files, static_cast<std::uint64_t>(sessions));
    const auto waits = w.files().waits() - before;
    w.files().crash();
    for (int i = 0; i < sessions; ++i) EXPECT_NE(w.text("r" + std::to_string(i)), "");
    return waits;
  };
  EXPECT_EQ(waits_for(20), waits_for(1));
}

// What a deletion leaves behind when the process ends before its line: cut anywhere.
TEST(RecordRepair, a_session_that_is_gone_gets_its_end_and_no_second_one) {
  WrittenRecords w;
  w.tell();
  const std::string lines = w.text();
  w.repair();
  w.log.end(Scene::kSession, 5, store::CommitLog::Ended::Why::kExpired);
  const std::string whole = lines + session_end_line(Scene::kSession, 5, "expired", 77) + "\n";
  for (std::size_t size = lines.size(); size < whole.size(); ++size) {
    w.log.forgotten = 0;
    w.forget_mark();
    w.set_text(whole.substr(0, size));
    EXPECT_EQ(w.repair().ends, 1U);
    ASSERT_EQ(w.text(), whole) << "cut to " << size;
    w.forget_mark();
    w.log.forgotten = 0;
    EXPECT_EQ(w.repair().ends, 0U) << "it is there";
    EXPECT_EQ(w.text(), whole);
  }
}

TEST(RecordRepair, an_end_behind_the_mark_alone_is_looked_for_and_forgotten_then) {
  WrittenRecords w;
  w.tell();
  w.repair();
  w.log.end(Scene::kSession, 5);
  EXPECT_EQ(w.repair().ends, 1U);
  EXPECT_EQ(w.log.forgotten, 1U);
  const std::string whole = w.text();
  // What a consumer did with it since is its own affair.
  w.log.forgotten = 0;
  w.set_text(lines_of(whole)[0]);
  EXPECT_EQ(w.repair().ends, 0U);
}

TEST(RecordRepair, half_a_line_of_a_session_that_is_gone_does_not_stay) {
  WrittenRecords w;
  w.tell();
  const std::string first = lines_of(w.text())[0];
  w.repair();
  w.log.end(Scene::kSession, 5);
  const std::string end = session_end_line(Scene::kSession, 5, "deleted", 77) + "\n";
  for (std::size_t size = 1; size < first.size(); size += 7) {
    w.log.forgotten = 0;
    w.forget_mark();
    w.set_text(first.substr(0, size));
    w.repair();
    ASSERT_EQ(w.text(), end) << "cut to " << size;
  }
}

TEST(RecordRepair, a_session_without_a_file_gets_no_end) {
  WrittenRecords w;
  w.tell();
  ASSERT_TRUE(w.files().remove("records/s1.jsonl").ok());
  w.log.end(Scene::kSession, 5);
  EXPECT_EQ(w.repair().ends, 0U);
  EXPECT_FALSE(w.files().exists("records/s1.jsonl"));
}

TEST(RecordRepair, a_missing_end_stands_in_front_of_what_came_to_its_name_later) {
  WrittenRecords w;
  w.first();
  const std::string before = w.text();
  w.log.end(Scene::kSession, 1);
  const auto root = w.first();
  w.next(root);
  const std::string later = w.text().substr(before.size());
  const std::string whole =
      before + session_end_line(Scene::kSession, 1, "deleted", 77) + "\n" + later;
  for (const std::string& found : {before + later, before, before + later.substr(0, 30), whole}) {
    w.forget_mark();
    w.log.forgotten = 0;
    w.set_text(found);
    w.repair();
    EXPECT_EQ(w.text().substr(0, whole.size() - later.size()),
              whole.substr(0, whole.size() - later.size()));
    EXPECT_EQ(lines_of(w.text()).size(), 4U) << w.text();
  }
}

TEST(RecordRepair, a_disk_that_fails_is_told_and_the_next_start_goes_on) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    WrittenRecords w;
    w.tell();
    const std::string whole = w.text();
    w.set_text(whole.substr(0, whole.size() * seed / 41));
    w.forget_mark();
    w.files().options() = {.fail_open = 200, .fail_append = 200, .fail_sync = 200};
    const RecordFolder folder{w.files(), "records", "toys/chat"};
    while (!repair_records(folder, w.log, w.mark, nullptr).ok()) {
    }
    w.files().options() = {};
    EXPECT_EQ(w.text(), whole);
    w.files().crash();
    EXPECT_EQ(w.text(), whole) << "what the mark speaks of is on disk";
    EXPECT_EQ(w.marked(), 5U);
  }
}

}  // namespace
}  // namespace verbatim::gateway
