#include "store/sqlite/exchange.h"

#include <gtest/gtest.h>

#include "store/testing/exchange_place.h"

namespace verbatim::store::sqlite {
namespace {

using base::ErrorKind;
using store::testing::ExchangePlace;

TEST(Exchange, an_empty_store_becomes_what_was_exported_and_exports_it_again) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    ExchangePlace from(seed);
    from.fill();
    const auto lines = from.exported();
    ExchangePlace to(seed + 100);
    const auto done = to.import(lines);
    ASSERT_TRUE(done.ok()) << done.error().message;
    EXPECT_EQ(done->sessions, 7U);
    EXPECT_EQ(done->turns, 11U);
    EXPECT_EQ(to.exported(), lines) << "seed " << seed;
    EXPECT_EQ(to.disk_bytes(), from.disk_bytes());
    EXPECT_EQ(to.stage.database().dump(), from.stage.database().dump());
    EXPECT_EQ(to.stage.database().key(), from.stage.database().key());
    EXPECT_EQ(to.stage.database().commit_log().value()->newest().value(),
              from.stage.database().commit_log().value()->newest().value());
    to.expect_sound();
  }
}

TEST(Exchange, sessions_go_on_where_they_were_and_get_no_number_twice) {
  ExchangePlace from(1);
  from.fill();
  ExchangePlace to(2);
  ASSERT_TRUE(to.import(from.exported()).ok());
  from.create("next");
  to.create("next");
  const auto next = from.stage.run(from.stage.store().session("next"));
  EXPECT_EQ((*to.stage.run(to.stage.store().session("next")))->number, (*next)->number);
  const auto last = to.stage.run(to.stage.store().last_turn("a"));
  EXPECT_EQ(to.add("a", *last)->seq, (*last)->seq + 1);
  to.expect_sound();
}

TEST(Exchange, a_store_with_sessions_takes_those_that_it_has_not) {
  ExchangePlace from(1);
  from.fill();
  const auto lines = from.exported();
  ExchangePlace to(2);
  ASSERT_TRUE(to.import(lines).ok());
  const auto whole = to.stage.database().dump();
  const auto again = to.import(lines);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->equal, 7U);
  EXPECT_EQ(again->sessions + again->turns, 0U);
  EXPECT_EQ(to.stage.database().dump(), whole);
  ASSERT_TRUE(to.stage.run(to.stage.store().delete_session("a")).ok());
  const auto part = to.import(lines);
  ASSERT_TRUE(part.ok()) << part.error().message;
  EXPECT_EQ(part->sessions, 1U);
  EXPECT_EQ(part->turns, 8U);
  to.expect_sound();
}

TEST(Exchange, a_session_that_the_store_has_otherwise_is_refused_by_name) {
  ExchangePlace from(1);
  from.fill();
  const auto lines = from.exported();
  ExchangePlace to(2);
  ASSERT_TRUE(to.import(lines).ok());
  to.add("a", nullptr);
  to.expect_refused(lines, ErrorKind::kConflict, "session a is in the store already");
  ExchangePlace other(3);
  other.create("a");
  other.expect_refused(lines, ErrorKind::kConflict, "another key");
}

TEST(Exchange, every_line_that_is_changed_left_out_put_in_or_moved_is_refused_with_its_number) {
  ExchangePlace from(1);
  from.fill();
  const auto lines = from.exported();
  ExchangePlace to(2);
  const auto damaged = [](std::size_t line) { return "line " + std::to_string(line + 1) + ": "; };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    SCOPED_TRACE(i);
    auto changed = lines;
    auto& text = changed[i];
    text[from.random.below(text.size())] ^= 1;
    to.expect_refused(changed, ErrorKind::kInvalidRequest, damaged(i));
    auto without = lines;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    to.expect_refused(without, ErrorKind::kInvalidRequest, damaged(i));
    auto twice = lines;
    twice.insert(twice.begin() + static_cast<std::ptrdiff_t>(i), lines[i]);
    to.expect_refused(twice, ErrorKind::kInvalidRequest, damaged(i + 1));
    auto cut = lines;
    cut.resize(i);
    to.expect_refused(cut, ErrorKind::kInvalidRequest, damaged(i) + "missing");
    auto torn = lines;
    torn.resize(i + 1);
    torn[i].resize(from.random.below(torn[i].size()));
    to.expect_refused(torn, ErrorKind::kInvalidRequest, damaged(i));
  }
}

TEST(Exchange, files_of_others_and_of_newer_versions_are_refused) {
  ExchangePlace to(1);
  const auto refused = [&to](const std::string& line, const std::string& words) {
    to.expect_refused({line}, ErrorKind::kInvalidRequest, words);
  };
  refused(R"({"schema_version":"tito.record.v1"})", "line 1: not an export of a store");
  refused("SQLite format 3", "line 1: not an export");
  refused("", "line 1: not an export");
  refused("[1]", "line 1: not an export");
  refused(R"({"kind":"store","schema_version":"verbatim.store.v9"})",
          "line 1: found verbatim.store.v9, this verbatim reads verbatim.store.v3");
}

// The disk fails at each point, or the power goes: all of it is there, or nothing.
TEST(Exchange, an_import_that_is_broken_off_anywhere_leaves_the_store_as_it_was) {
  ExchangePlace from(1);
  from.fill();
  const auto lines = from.exported();
  const auto whole = from.stage.database().dump();
  std::uint64_t points = 0;
  {
    ExchangePlace to(2);
    const auto before = to.stage.vfs.points();
    ASSERT_TRUE(to.import(lines).ok());
    points = to.stage.vfs.points() - before;
  }
  ASSERT_GT(points, 10U);
  for (const auto what :
       {store::testing::FaultVfs::At::kEio, store::testing::FaultVfs::At::kCrash}) {
    for (std::uint64_t point = 1; point <= points; ++point) {
      ExchangePlace to(2);
      const auto empty = to.stage.database().dump();
      to.stage.close();
      to.stage.vfs.set_fault(to.stage.vfs.points() + point, what);
      std::size_t at = 0;
      const auto done = import_file(
          to.target(), to.random,
          [&]() -> base::Result<std::optional<std::string_view>> {
            if (at == lines.size()) return std::optional<std::string_view>();
            return std::optional<std::string_view>(lines[at++]);
          },
          nullptr);
      to.stage.vfs.clear_faults();
      ASSERT_TRUE(to.stage.crash().ok());
      const auto found = to.stage.database().dump();
      ASSERT_TRUE(found == whole || found == empty) << "point " << point;
      ASSERT_TRUE(!done.ok() || found == whole) << "point " << point;
    }
  }
}

}  // namespace
}  // namespace verbatim::store::sqlite
