#include "cassette/cassette_files.h"

#include <gtest/gtest.h>

#include "base/sim/sim_world.h"
#include "cassette/testing/samples.h"

namespace verbatim::cassette {
namespace {

class CassetteFiles : public ::testing::Test {
 protected:
  void put(const std::string& path, const std::string& text) {
    const auto folder = path.substr(0, path.rfind('/'));
    ASSERT_TRUE(world_.files.make_directories(folder).ok());
    ASSERT_TRUE(world_.files.replace(path, text).ok());
  }
  base::sim::SimWorld world_{1};
};

TEST_F(CassetteFiles, a_tree_is_searched_for_files_with_turns) {
  put("c/b/two.yaml", testing::good_text());
  put("c/one.yml", testing::good_text());
  put("c/other.yaml", "a: 1\n");
  put("c/notes.md", "turns:\n");
  const auto found = find_cassettes(world_.files, "c");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(*found, (std::vector<std::string>{"c/b/two.yaml", "c/one.yml"}));
  const auto valid = validate(world_.files, {"c"});
  ASSERT_TRUE(valid.ok());
  EXPECT_EQ(valid->cassettes, 2U);
  EXPECT_EQ(valid->turns, 4U);
  EXPECT_TRUE(valid->problems.empty());
}

TEST_F(CassetteFiles, problems_name_file_and_line) {
  put("c/bad.yaml", "turns:\n- filename: t1\n  request: {}\n");
  const auto valid = validate(world_.files, {"c", "c/bad.yaml"});
  ASSERT_TRUE(valid.ok());
  ASSERT_EQ(valid->problems.size(), 8U);
  EXPECT_EQ(valid->problems[0], "c/bad.yaml:2: response is missing");
  EXPECT_EQ(valid->problems[1], "c/bad.yaml:3: method is missing");
  EXPECT_EQ(load_cassette(world_.files, "c/bad.yaml").error().message,
            "c/bad.yaml:2: response is missing (and 3 more)");
}

TEST_F(CassetteFiles, a_named_file_is_meant_and_nothing_is_an_error) {
  put("c/named", "a: 1\n");
  EXPECT_EQ(validate(world_.files, {"c/named"})->problems,
            (std::vector<std::string>{"c/named:1: the cassette has no `a`",
                                      "c/named:1: turns is missing"}));
  EXPECT_EQ(validate(world_.files, {"c"}).error().kind, base::ErrorKind::kNotFound);
  EXPECT_EQ(validate(world_.files, {"absent"}).error().kind, base::ErrorKind::kNotFound);
}

}  // namespace
}  // namespace verbatim::cassette
