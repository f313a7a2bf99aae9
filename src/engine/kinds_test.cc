#include "engine/kinds.h"

#include "base/sim/sim_world.h"
#include "gtest/gtest.h"

namespace verbatim::engine {
namespace {

Choice choice(std::string kind, std::string mode) {
  Choice c;
  c.kind = std::move(kind);
  c.mode = std::move(mode);
  c.url = net::parse_url("http://engine:1/v1").value();
  return c;
}

TEST(Kinds, every_kind_and_mode_that_is_named_can_be_made) {
  base::sim::SimWorld world{1};
  for (const Kind& kind : kinds()) {
    if (kind.path == Path::kMessages) continue;
    for (const Mode& mode : kind.modes) {
      auto made =
          make_engine(world.runtime, choice(std::string(kind.name), std::string(mode.name)));
      ASSERT_TRUE(made.ok()) << kind.name << " " << mode.name;
      EXPECT_EQ((*made)->kind(), kind.name);
      EXPECT_EQ((*made)->mode(), mode.name);
    }
    auto standard = make_engine(world.runtime, choice(std::string(kind.name), ""));
    EXPECT_EQ((*standard)->mode(), kind.modes[0].name);
  }
}

TEST(Kinds, a_kind_that_is_driven_by_messages_has_no_engine_by_ids_and_says_what_to_do) {
  base::sim::SimWorld world{1};
  const auto made = make_engine(world.runtime, choice("openai", "chat"));
  EXPECT_EQ(made.error().kind, base::ErrorKind::kUnsupported);
  for (const char* word : {"--tokenizer", "--engine-kind", "sglang, vllm"})
    EXPECT_NE(made.error().message.find(word), std::string::npos) << made.error().message;
  EXPECT_EQ(kinds_by_ids().find("openai"), std::string::npos);
}

TEST(Kinds, an_unknown_word_is_refused_with_the_words_there_are) {
  base::sim::SimWorld world{1};
  const auto kind = make_engine(world.runtime, choice("vlm", ""));
  EXPECT_EQ(kind.error().field, "kind");
  EXPECT_NE(kind.error().message.find("sglang, vllm"), std::string::npos);
  const auto mode = make_engine(world.runtime, choice("vllm", "chat"));
  EXPECT_EQ(mode.error().field, "mode");
  EXPECT_NE(mode.error().message.find("generate, completions"), std::string::npos);
}

TEST(Kinds, releases_compare_by_number) {
  EXPECT_TRUE(release_has("0.32.0", "0.18"));
  EXPECT_TRUE(release_has("0.18", "0.18"));
  EXPECT_TRUE(release_has("0.18.0rc1", "0.18"));
  EXPECT_TRUE(release_has("1.0", "0.18"));
  EXPECT_TRUE(release_has("0.5.18", "0.5.9"));
  EXPECT_FALSE(release_has("0.9.1", "0.18"));
  EXPECT_FALSE(release_has("0.10.1", "0.10.2"));
  EXPECT_FALSE(release_has("0.10", "0.10.2"));
  EXPECT_TRUE(release_has("nightly", "0.18")) << "no number to go by";
}

}  // namespace
}  // namespace verbatim::engine
