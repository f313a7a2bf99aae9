#include "engine/kinds.h"

#include <optional>
#include <string>
#include <utility>

#include "base/files.h"
#include "base/sim/sim_world.h"
#include "engine/testing/proofs.h"
#include "gtest/gtest.h"
#include "sim/sim_engine.h"
#include "sim/testing/toy_tokenizer.h"

namespace verbatim::engine {
namespace {

using base::Task;

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
    for (const Mode& mode : kind.modes) {
      if (mode.path == Path::kRelay) continue;
      auto made =
          make_engine(world.runtime, choice(std::string(kind.name), std::string(mode.name)));
      ASSERT_TRUE(made.ok()) << kind.name << " " << mode.name;
      EXPECT_EQ((*made)->kind(), kind.name);
      EXPECT_EQ((*made)->mode(), mode.name);
      EXPECT_EQ((*made)->driven_by(), mode.path);
    }
    if (kind.modes[0].path == Path::kRelay) continue;
    auto standard = make_engine(world.runtime, choice(std::string(kind.name), ""));
    EXPECT_EQ((*standard)->mode(), kind.modes[0].name);
  }
}

// How long a generation waits for an engine that falls silent behind its first id.
Task<void> wait_for_silent(base::sim::SimWorld& world, const testing::Driven& driven,
                           base::Duration& waited) {
  sim::SimOptions options;
  options.face = driven.face();
  options.tokenizer = sim::testing::toy_tokenizer();
  options.faults.set(sim::Fault::kStall, 1000);
  sim::SimEngine silent(world.runtime, options);
  Choice asked = choice(std::string(driven.kind->name), std::string(driven.mode->name));
  asked.url.endpoint = {"engine", *silent.start("engine", 0), false};
  asked.vocab_size = options.tokenizer->vocab_size();
  asked.model = options.model;
  asked.idle_timeout = std::chrono::seconds(3);
  auto engine = std::move(make_engine(world.runtime, asked).value());
  const TokenIds prompt{1, 2, 3};
  TokenRequest request;
  request.request_id = "r1";
  request.prompt = {prompt};
  request.max_new_tokens = 10;
  const auto began = world.executor.clock().now();
  std::optional<base::Error> error;
  auto stream = co_await engine->generate(std::move(request));
  if (!stream.ok()) error = stream.error();
  while (!error) {
    auto chunk = co_await (*stream)->next();
    if (!chunk.ok()) error = chunk.error();
    EXPECT_TRUE(error || *chunk);
    if (!error && !*chunk) break;
  }
  EXPECT_TRUE(error && error->kind == base::ErrorKind::kTimeout);
  waited = world.executor.clock().now() - began;
  if (stream.ok()) stream->reset();
  co_await engine->stop();
  co_await silent.stop();
}

TEST(Kinds, a_stream_that_falls_silent_is_borne_for_as_long_as_the_choice_says) {
  for (const auto& driven : testing::all_driven(Path::kTokens)) {
    const auto* proof = proof_of(driven, sim::Fault::kNoDone);
    if (proof->verdict == testing::Proof::Verdict::kNoSuch) continue;  // nothing is streamed
    SCOPED_TRACE(driven.name());
    base::sim::SimWorld world{1};
    base::Duration waited{};
    EXPECT_TRUE(world.run(wait_for_silent(world, driven, waited)));
    EXPECT_GE(waited, std::chrono::seconds(3));
    EXPECT_LT(waited, std::chrono::seconds(4));
  }
}

TEST(Kinds, a_relay_has_no_engine_and_says_what_to_do) {
  base::sim::SimWorld world{1};
  const auto made = make_engine(world.runtime, choice("openai", ""));
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

TEST(Kinds, a_release_is_verified_where_a_server_of_it_was_recorded) {
  const Kind& vllm = *find_kind("vllm");
  EXPECT_TRUE(is_recorded(vllm, "0.32"));
  EXPECT_TRUE(is_recorded(vllm, "0.32.0"));
  EXPECT_FALSE(is_recorded(vllm, "0.3"));
  EXPECT_FALSE(is_recorded(vllm, "0.320"));
  EXPECT_FALSE(is_recorded(vllm, "0.30.0"));
  EXPECT_FALSE(is_recorded(vllm, ""));
  EXPECT_TRUE(is_recorded(*find_kind("dynamo"), "1.4.1"));
  EXPECT_FALSE(is_recorded(*find_kind("sglang"), "0.5.18"));
}

TEST(Kinds, what_was_recorded_is_played_and_compared) {
  for (const Kind& kind : kinds()) {
    for (const auto release : kind.recorded) {
      EXPECT_TRUE(sim::has_profile(sim::face_named(kind.name).value(), release)) << release;
      const auto folder = "tests/captures/" + std::string(kind.name) + "/";
      const auto files = base::system_files()->list(folder);
      EXPECT_TRUE(files.ok() && !files->empty()) << folder;
    }
  }
}

}  // namespace
}  // namespace verbatim::engine
