#include "base/files.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/random.h"
#include "base/sim/sim_files.h"

namespace verbatim::base {
namespace {

// What both forms of the seam promise. Parameter: simulated or not.
class FilesContract : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) {
      files_ = std::make_unique<sim::SimFiles>(1);
      root_ = "/data";
    } else {
      files_ = system_files();
      const auto random = system_random();
      root_ = (std::filesystem::temp_directory_path() / ("verbatim-files-" + new_hex_id(*random)))
                  .string();
    }
    ASSERT_TRUE(files_->make_directories(root_).ok());
  }
  void TearDown() override {
    if (!GetParam()) std::filesystem::remove_all(root_);
  }
  [[nodiscard]] std::string at(const std::string& name) const { return root_ + "/" + name; }

  std::unique_ptr<Files> files_;
  std::string root_;
};

TEST_P(FilesContract, what_is_appended_is_read) {
  auto file = files_->open_append(at("log"));
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE((*file)->append("one\n").ok());
  EXPECT_TRUE((*file)->append("two\n").ok());
  EXPECT_TRUE((*file)->sync().ok());
  EXPECT_EQ((*file)->size(), 8U);
  EXPECT_EQ(files_->read(at("log"), 100).value(), "one\ntwo\n");
}

TEST_P(FilesContract, a_lock_has_one_holder_at_a_time) {
  auto first = files_->lock(at("lock"));
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(files_->lock(at("lock")).error().kind, ErrorKind::kConflict);
  EXPECT_TRUE(files_->lock(at("other")).ok());
  *first = nullptr;
  EXPECT_TRUE(files_->lock(at("lock")).ok());
  EXPECT_FALSE(files_->lock(at("no directory/lock")).ok());
}

TEST_P(FilesContract, directories_are_made_with_those_above_and_may_be_there) {
  for (const auto& name : {at("a/b"), at("a/b"), at("a/c/"), at("a")}) {
    EXPECT_TRUE(files_->make_directories(name).ok()) << name;
    EXPECT_TRUE(files_->make_private_directories(name + "/private").ok()) << name;
  }
  EXPECT_TRUE(files_->replace(at("a/b/private/file"), "x").ok());
}

TEST_P(FilesContract, a_directory_is_removed_once_it_is_empty) {
  ASSERT_TRUE(files_->make_directories(at("dir")).ok());
  ASSERT_TRUE(files_->replace(at("dir/file"), "x").ok());
  EXPECT_FALSE(files_->remove(at("dir")).ok());
  EXPECT_TRUE(files_->exists(at("dir/file")));
  EXPECT_TRUE(files_->remove(at("dir/file")).ok());
  EXPECT_TRUE(files_->remove(at("dir")).ok());
  EXPECT_FALSE(files_->exists(at("dir")));
  EXPECT_FALSE(files_->remove(at("dir")).ok());
}

TEST_P(FilesContract, a_file_opened_again_goes_on_at_its_end) {
  EXPECT_TRUE(files_->open_append(at("log")).value()->append("abc").ok());
  auto file = files_->open_append(at("log"));
  EXPECT_EQ((*file)->size(), 3U);
  EXPECT_TRUE((*file)->append("def").ok());
  EXPECT_EQ(files_->read(at("log"), 100).value(), "abcdef");
}

TEST_P(FilesContract, a_truncated_file_goes_on_where_it_was_cut) {
  auto file = files_->open_append(at("log"));
  EXPECT_TRUE((*file)->append("abcdef").ok());
  EXPECT_TRUE((*file)->truncate(2).ok());
  EXPECT_EQ((*file)->size(), 2U);
  EXPECT_TRUE((*file)->append("X").ok());
  EXPECT_EQ(files_->read(at("log"), 100).value(), "abX");
}

TEST_P(FilesContract, a_file_over_the_size_limit_is_too_large) {
  EXPECT_TRUE(files_->replace(at("big"), std::string(1000, 'x')).ok());
  EXPECT_TRUE(files_->read(at("big"), 1000).ok());
  EXPECT_EQ(files_->read(at("big"), 999).error().kind, ErrorKind::kTooLarge);
}

TEST_P(FilesContract, what_is_missing_is_not_found) {
  EXPECT_EQ(files_->read(at("none"), 10).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(files_->map(at("none")).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(files_->list(at("none")).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(files_->remove(at("none")).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(files_->open_append(at("none/log")).error().kind, ErrorKind::kNotFound);
  EXPECT_FALSE(files_->exists(at("none")));
}

TEST_P(FilesContract, a_mapping_keeps_the_replaced_file) {
  EXPECT_TRUE(files_->replace(at("v"), "old").ok());
  auto mapped = files_->map(at("v"));
  ASSERT_TRUE(mapped.ok());
  EXPECT_TRUE(files_->replace(at("v"), "newer").ok());
  const auto bytes = (*mapped)->bytes();
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), "old");
  EXPECT_EQ(files_->read(at("v"), 100).value(), "newer");
}

TEST_P(FilesContract, a_place_is_kept_while_its_name_means_the_same_file) {
  ASSERT_TRUE(files_->replace(at("v"), "one").ok());
  const auto held = files_->open_append(at("v"));
  const auto place = files_->place(at("v"));
  ASSERT_TRUE(place.ok());
  EXPECT_TRUE((*place)->kept());
  EXPECT_TRUE((*held)->append("more").ok());
  EXPECT_TRUE((*place)->kept()) << "what is in it is another matter";
  ASSERT_TRUE(files_->replace(at("v"), "one").ok());
  EXPECT_FALSE((*place)->kept()) << "replaced";
  ASSERT_TRUE(files_->remove(at("v")).ok());
  EXPECT_FALSE((*place)->kept()) << "removed";
  EXPECT_EQ(files_->place(at("v")).error().kind, ErrorKind::kNotFound);
}

TEST_P(FilesContract, an_empty_file_can_be_mapped) {
  EXPECT_TRUE(files_->replace(at("empty"), "").ok());
  auto mapped = files_->map(at("empty"));
  ASSERT_TRUE(mapped.ok());
  EXPECT_TRUE((*mapped)->bytes().empty());
}

TEST_P(FilesContract, a_directory_lists_its_entries_sorted) {
  EXPECT_TRUE(files_->make_directories(at("d/e/")).ok());
  EXPECT_TRUE(files_->replace(at("d/b"), "1").ok());
  EXPECT_TRUE(files_->replace(at("d/a"), "2").ok());
  EXPECT_TRUE(files_->replace(at("d/e/deep"), "3").ok());
  EXPECT_EQ(files_->list(at("d")).value(), (std::vector<std::string>{"a", "b", "e"}));
  EXPECT_TRUE(files_->exists(at("d/e")));
  EXPECT_TRUE(files_->remove(at("d/a")).ok());
  EXPECT_EQ(files_->list(at("d/")).value(), (std::vector<std::string>{"b", "e"}));
}

TEST_P(FilesContract, a_file_system_is_synced_by_a_directory_of_it) {
  EXPECT_TRUE(files_->sync_all(root_).ok());
  EXPECT_FALSE(files_->sync_all(at("missing")).ok());
}

INSTANTIATE_TEST_SUITE_P(Real, FilesContract, ::testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Simulated, FilesContract, ::testing::Values(true));

TEST(SystemFiles, writing_to_a_full_disk_is_unavailable) {
  auto full = system_files()->open_append("/dev/full");
  ASSERT_TRUE(full.ok());
  const auto status = (*full)->append("x");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kUnavailable);
}

TEST(SimFiles, a_crash_keeps_what_was_synced_and_a_prefix_of_the_rest) {
  bool lost_some = false;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    sim::SimFiles files(seed);
    auto file = files.open_append("log");
    ASSERT_TRUE(file.ok());
    EXPECT_TRUE((*file)->append("synced").ok());
    EXPECT_TRUE((*file)->sync().ok());
    EXPECT_TRUE((*file)->append("unsynced").ok());
    files.crash();
    const std::string left = files.read("log", 100).value();
    EXPECT_TRUE(std::string("syncedunsynced").starts_with(left));
    EXPECT_GE(left.size(), 6U);
    lost_some |= left.size() < 14;
    EXPECT_FALSE((*file)->append("late").ok());  // opened before the crash
  }
  EXPECT_TRUE(lost_some);
}

TEST(SimFiles, what_was_written_before_a_sync_of_all_survives_in_each_file) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    sim::SimFiles files(seed);
    for (const char* name : {"a", "b"}) {
      auto file = std::move(files.open_append(name).value());
      ASSERT_TRUE(file->append("synced").ok());
    }
    ASSERT_TRUE(files.sync_all(".").ok());
    auto file = std::move(files.open_append("b").value());
    ASSERT_TRUE(file->append("!").ok());
    files.crash();
    EXPECT_EQ(files.read("a", 100).value(), "synced");
    EXPECT_EQ(files.read("b", 100).value().substr(0, 6), "synced");
  }
}

TEST(SimFiles, a_new_file_is_there_behind_a_crash_once_it_or_all_was_synced) {
  int gone = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    sim::SimFiles files(seed);
    ASSERT_TRUE(files.open_append("all").ok());
    ASSERT_TRUE(files.sync_all(".").ok());
    ASSERT_TRUE(files.open_append("own").value()->sync().ok());
    ASSERT_TRUE(files.open_append("none").ok());
    files.crash();
    EXPECT_TRUE(files.exists("all"));
    EXPECT_TRUE(files.exists("own"));
    gone += files.exists("none") ? 0 : 1;
  }
  EXPECT_GT(gone, 0);
}

TEST(SimFiles, an_unsynced_truncation_is_undone_by_a_crash) {
  sim::SimFiles files(1);
  auto file = files.open_append("log");
  EXPECT_TRUE((*file)->append("abcdef").ok());
  EXPECT_TRUE((*file)->sync().ok());
  EXPECT_TRUE((*file)->truncate(2).ok());
  EXPECT_TRUE((*file)->append("X").ok());
  files.crash();
  EXPECT_EQ(files.read("log", 100).value(), "abcdef");
}

TEST(SimFiles, failures_fire_as_often_as_asked_and_are_counted) {
  sim::SimFiles files(5);
  auto file = files.open_append("log");
  files.options().fail_append = 200;
  files.options().fail_sync = 100;
  files.options().fail_replace = 300;
  int failed_appends = 0;
  int failed_syncs = 0;
  int failed_replaces = 0;
  for (int i = 0; i < 2000; ++i) {
    if (!(*file)->append("0123456789").ok()) {
      ++failed_appends;
      EXPECT_TRUE((*file)->truncate((*file)->size()).ok());
    }
    failed_syncs += (*file)->sync().ok() ? 0 : 1;
    failed_replaces += files.replace("r", "x").ok() ? 0 : 1;
  }
  EXPECT_NEAR(failed_appends, 400, 100);
  EXPECT_NEAR(failed_syncs, 200, 80);
  EXPECT_NEAR(failed_replaces, 600, 120);
  EXPECT_EQ(files.faults().append, static_cast<std::uint64_t>(failed_appends));
  EXPECT_EQ(files.faults().sync, static_cast<std::uint64_t>(failed_syncs));
  EXPECT_EQ(files.faults().replace, static_cast<std::uint64_t>(failed_replaces));
  EXPECT_EQ(files.read("log", 1'000'000).value().size(),
            static_cast<std::size_t>(2000 - failed_appends) * 10);
}

TEST(SystemFiles, what_holds_secrets_is_for_its_owner_alone) {
  const auto files = system_files();
  const auto random = system_random();
  const auto root =
      std::filesystem::temp_directory_path() / ("verbatim-private-" + new_hex_id(*random));
  const std::string inner = root / "a" / "b";
  const ::mode_t before = ::umask(0);
  EXPECT_TRUE(files->make_private_directories(inner).ok());
  EXPECT_TRUE(files->open_append(inner + "/log").ok());
  EXPECT_TRUE(files->lock(inner + "/lock").ok());
  ::umask(before);
  const auto mode = [](const std::filesystem::path& path) {
    return static_cast<unsigned>(std::filesystem::status(path).permissions());
  };
  EXPECT_EQ(mode(root), 0700U);
  EXPECT_EQ(mode(inner), 0700U);
  EXPECT_EQ(mode(inner + "/log"), 0600U);
  EXPECT_EQ(mode(inner + "/lock"), 0600U);
  EXPECT_FALSE(files->make_private_directories(inner + "/log").ok()) << "a file is no directory";
  EXPECT_FALSE(files->make_private_directories(inner + "/log/in it").ok());
  std::filesystem::remove_all(root);
}

TEST(SimFiles, readers_see_the_old_or_the_new_file_whatever_a_replace_meets) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    sim::SimFiles files(seed);
    ASSERT_TRUE(files.replace("v", "old").ok());
    files.options().fail_replace = 500;
    const bool ok = files.replace("v", "new!").ok();
    const std::string seen = files.read("v", 10).value();
    EXPECT_TRUE(seen == "old" || seen == "new!");
    files.crash();
    const std::string left = files.read("v", 10).value();
    EXPECT_TRUE(left == "old" || left == "new!");
    if (ok) {
      EXPECT_EQ(left, "new!");
    }
  }
}

}  // namespace
}  // namespace verbatim::base
