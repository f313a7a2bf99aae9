#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/runtime.h"
#include "engine/engine.h"

namespace verbatim::gateway::testing {

// What happens at one call of TokenStream::next().
struct EngineStep {
  base::Duration after{0};  // silence before
  engine::TokenIds ids;
  std::vector<double> logprobs;      // none: -0.5 for each id
  std::optional<base::Error> error;  // in place of ids
  bool hang = false;                 // nothing comes until the turn is cancelled
  std::vector<std::vector<engine::TopLogprob>> top_logprobs;
  std::optional<message::Message> parsed;
};

// One generation. Behind the last step comes the end.
struct EngineScript {
  base::Duration first_after{0};       // before generate() returns
  std::optional<base::Error> refusal;  // generate() fails with it
  bool hang = false;                   // generate() waits until the turn is cancelled
  std::vector<EngineStep> steps;
  engine::EngineFinish finish{engine::EngineFinish::Kind::kStop, "stop", {}, {}};
  std::vector<engine::WeightSpan> weights;
  std::optional<std::uint64_t> cached_tokens;
  std::optional<std::vector<double>> exact_logprobs;
  std::optional<engine::RenderSkew> skew;
  std::string engine_url;
  std::string engine_request_id;
  std::function<void()> at_end;  // runs when the end is read
};

// What the engine was asked, without the views.
struct EngineAsked {
  engine::TokenIds prompt;
  message::Sampling sampling;
  std::uint64_t max_new_tokens = 0;
  std::vector<engine::TokenId> stop_token_ids;
  std::string routing_key;
  std::string last_engine_url;
  net::Headers headers;
};

// An engine that plays scripts, one per request. Without one left it samples "ok" and <|im_end|> of
// the toy vocabulary.
class FakeEngine final : public engine::Engine {
 public:
  explicit FakeEngine(base::Runtime& runtime) : runtime_(runtime) {}

  std::deque<EngineScript> scripts;
  std::vector<EngineAsked> asked;
  bool matches_stops = true;           // matches_stop_strings()
  std::optional<base::Error> refuses;  // check() fails with it
  int aborts = 0;                      // generations that were told to stop before their end
  int running = 0;

  // A script that samples `ids` in one chunk.
  static EngineScript says(engine::TokenIds ids);

  [[nodiscard]] std::string_view kind() const override { return "fake"; }
  [[nodiscard]] std::string_view mode() const override { return "scripted"; }
  [[nodiscard]] bool matches_stop_strings() const override { return matches_stops; }
  [[nodiscard]] base::Status check(const message::Sampling& sampling) const override;
  base::Task<base::Result<std::unique_ptr<engine::TokenStream>>> generate(
      engine::TokenRequest request) override;
  base::Task<base::Result<engine::Probe>> probe(base::MonoTime deadline) override;
  void adopt(const engine::Probe&) override { ++adopted; }
  base::Task<base::Status> ready(base::MonoTime deadline) override;
  base::Task<void> stop() override;

  int probed = 0;     // calls of probe()
  int adopted = 0;    // and of adopt()
  bool deaf = false;  // probe() fails

 private:
  base::Runtime& runtime_;
};

}  // namespace verbatim::gateway::testing
