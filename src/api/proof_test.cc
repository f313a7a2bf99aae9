// The rule-to-case table of docs/design.md 5: each way in which a simulated engine's answer can go
// wrong, through the whole gateway, for each kind and mode that drives it.

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/testing/gateway_on_sim.h"
#include "engine/testing/proofs.h"
#include "trajectory/turn.h"

namespace verbatim::api {
namespace {

using base::Task;
using engine::testing::Driven;
using engine::testing::Proof;
using engine::testing::proof_of;
using sim::Fault;
using testing::Answer;
using testing::chat_body;
using testing::GatewayOnSim;
using testing::HttpCaller;
using testing::message;
using Verdict = Proof::Verdict;

std::vector<Fault> all_faults() {
  std::vector<Fault> all;
  for (std::size_t i = 0; i < sim::kFaults; ++i) all.push_back(static_cast<Fault>(i));
  return all;
}

// "output_ids[3]" is "output_ids[]": which one it is, is drawn.
std::string without_indices(const std::string& field) {
  std::string out;
  bool inside = false;
  for (const char c : field) {
    if (c == ']') inside = false;
    if (!inside || std::isdigit(static_cast<unsigned char>(c)) == 0) out += c;
    if (c == '[') inside = true;
  }
  return out;
}

// A member of an error, "" where it is null.
std::string said(const std::string& json, const char* name) {
  const auto text = Answer::text_at(json, {"error", name});
  return text == "null" ? "" : text;
}

// The error event of a stream, or "".
std::string error_in(const Answer& answer) {
  for (const auto& event : answer.events()) {
    if (!Answer::text_at(event, {"error", "message"}).empty()) return event;
  }
  return {};
}

constexpr const char* kText = "one two three four five";

bool same_double(double a, double b) {
  return a == b;
}
bool same_float(double a, double b) {
  return static_cast<float>(a) == static_cast<float>(b);
}

class EveryProof : public ::testing::TestWithParam<Driven> {
 protected:
  enum class Client { kWhole, kStreaming };

  // One request, to an engine that goes wrong as the row says.
  void ask(const Proof& proof, std::uint64_t seed, Client client) {
    SCOPED_TRACE(std::string(sim::name(proof.fault)) + ", seed " + std::to_string(seed) +
                 (client == Client::kStreaming ? ", streaming" : ", whole"));
    GatewayOnSim gateway(seed);
    gateway.kind = GetParam().kind->name;
    gateway.mode = GetParam().mode->name;
    gateway.engine_options.seed = seed;
    gateway.engine_options.model = "toy";
    gateway.engine_options.fixed_text = kText;
    gateway.engine_options.ids_per_event = 1 + seed % 3;
    gateway.engine_options.keeps_log = true;
    if (GetParam().by_messages()) {
      gateway.model = std::make_unique<gateway::Model>();
      gateway.model->name = "toy";
    }
    gateway.engine_options.faults.set(proof.fault, 1000);
    gateway.run([&](HttpCaller& c) -> Task<void> {
      EXPECT_TRUE((co_await gateway.store.create_session(store::SessionSpec("s", 1))).ok());
      const auto before = gateway.store.dump();
      const std::string more =
          client == Client::kStreaming ? R"(,"stream":true,"model":"toy")" : R"(,"model":"toy")";
      const std::vector<std::string> messages(1, message("user", "a"));
      const auto answer =
          co_await c.post("/sessions/s/v1/chat/completions", chat_body(messages, more));
      EXPECT_FALSE(answer.cut);
      const auto turns = (co_await gateway.store.turns("s")).value();
      judge(proof, gateway, answer, turns);
      const bool unchanged = gateway.store.dump() == before;
      EXPECT_EQ(unchanged, turns.empty());
    });
    const bool recorded = gateway.world.files.read("records/s.jsonl", 1 << 20).ok();
    EXPECT_EQ(recorded, proof.verdict != Verdict::kError);
  }

  void judge(const Proof& proof, const GatewayOnSim& gateway, const Answer& answer,
             const std::vector<store::TurnPtr>& turns) {
    const auto fired = gateway.engine->stats().faults[static_cast<std::size_t>(proof.fault)];
    EXPECT_EQ(fired > 0, proof.verdict != Verdict::kNoSuch);
    if (proof.verdict == Verdict::kError) {
      EXPECT_TRUE(turns.empty());
      judge_error(proof, answer);
      // Dynamo's streams tell of errors behind a 200, whose fields are not the error's.
      const bool behind_200 = GetParam().name() == "dynamo/chat";
      const bool keeps = proof.fault == Fault::kHttp429 && answer.status == 429 && !behind_200;
      EXPECT_TRUE(!keeps || answer.header("retry-after") == "3");
      return;
    }
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(error_in(answer), "");
    ASSERT_EQ(turns.size(), 1u) << answer.body;
    const auto& served = gateway.engine->served().back();
    GetParam().by_messages() ? judge_words(served, *turns.front())
                             : judge_ids(served, *turns.front());
  }

  // By messages: all that was said, and as much as the engine counted.
  static void judge_words(const sim::Served& served, const trajectory::Turn& turn) {
    EXPECT_EQ(turn.answer.text, kText);
    ASSERT_TRUE(turn.usage);
    EXPECT_EQ(turn.usage->prompt_tokens, served.prompt.size());
    EXPECT_EQ(turn.usage->completion_tokens, served.sent);
    EXPECT_TRUE(served.whole);
  }

  static void judge_error(const Proof& proof, const Answer& answer) {
    const std::string event = answer.status == 200 ? error_in(answer) : "";
    EXPECT_TRUE(answer.status == proof.status || !event.empty()) << answer.status << answer.body;
    // What the engine says itself passes on with its own words.
    const bool ours = !event.empty() || proof.status == 502 || proof.status == 504;
    if (!ours) return;
    const std::string& told = event.empty() ? answer.body : event;
    EXPECT_EQ(said(told, "code"), proof.code) << told;
    EXPECT_EQ(without_indices(said(told, "param")), proof.field) << told;
  }

  // What is recorded was sampled: all that the engine sent.
  void judge_ids(const sim::Served& served, const trajectory::Turn& turn) {
    auto ids = turn.completion;
    ids.insert(ids.end(), turn.discarded.begin(), turn.discarded.end());
    auto logprobs = turn.logprobs;
    logprobs.insert(logprobs.end(), turn.discarded_logprobs.begin(), turn.discarded_logprobs.end());
    ASSERT_EQ(ids.size(), served.sent);
    EXPECT_TRUE(std::equal(ids.begin(), ids.end(), served.ids.begin()));
    ASSERT_EQ(logprobs.size(), ids.size());
    EXPECT_TRUE(std::equal(logprobs.begin(), logprobs.end(), served.logprobs.begin(),
                           GetParam().mode->floats ? same_float : same_double));
    EXPECT_EQ(turn.prompt, served.prompt);
  }
};

TEST_P(EveryProof, a_fault_is_named_or_the_answer_is_what_was_sampled) {
  constexpr std::uint64_t kSeeds = 4;  // the fault strikes at an id that is drawn
  for (const Fault fault : all_faults()) {
    // Whether it has a row where it should is a test of its own.
    const Proof* proof = proof_of(GetParam(), fault);
    if (proof == nullptr) continue;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      // By messages the engine answers as the client is answered.
      if (!GetParam().by_messages() || !sim::needs_events(fault)) ask(*proof, seed, Client::kWhole);
      ask(*proof, seed, Client::kStreaming);
    }
  }
}

// A fault that is new in src/sim fails here until its row says what becomes of it.
TEST_P(EveryProof, each_fault_that_applies_has_a_row_and_no_other_has_one) {
  for (const Fault fault : all_faults()) {
    EXPECT_EQ(proof_of(GetParam(), fault) != nullptr, GetParam().can_have(fault))
        << sim::name(fault);
  }
}

TEST_P(EveryProof, no_list_has_a_fault_twice) {
  for (const auto list : engine::testing::proof_lists(GetParam())) {
    std::vector<Fault> seen;
    for (const Proof& proof : list) seen.push_back(proof.fault);
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryProof, ::testing::ValuesIn(engine::testing::all_driven()),
                         [](const auto& driven) { return driven.param.test_name(); });

}  // namespace
}  // namespace verbatim::api
