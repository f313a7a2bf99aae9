#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/runtime.h"
#include "engine/answer_stream.h"
#include "engine/engine.h"
#include "engine/http_peer.h"

namespace verbatim::engine::dynamo {

struct Options : PeerOptions {
  // The model's vocab_size: every id the engine names must be below it.
  std::uint64_t vocab_size = 0;
  // The model's name at a frontend that lists several; one that lists a single model is asked for
  // that.
  std::string model;
};

// NVIDIA Dynamo (1.4 to 1.6) over its frontend's POST /v1/chat/completions: prompts as ids in
// `nvext.token_data`, sampled ids and logprobs back. Closing the connection is how a generation is
// aborted. One per base URL and executor; see Engine for its life.
class DynamoEngine final : public Engine {
 public:
  DynamoEngine(base::Runtime& runtime, const Options& options);

  [[nodiscard]] std::string_view kind() const override { return "dynamo"; }
  [[nodiscard]] std::string_view mode() const override { return "chat"; }
  [[nodiscard]] bool matches_stop_strings() const override { return false; }
  [[nodiscard]] base::Status check(const message::Sampling& sampling) const override;
  base::Task<base::Result<std::unique_ptr<TokenStream>>> generate(TokenRequest request) override;
  base::Task<base::Result<Probe>> probe(base::MonoTime deadline) override;
  base::Task<base::Status> ready(base::MonoTime deadline) override;
  base::Task<void> stop() override { return peer_.stop(); }

 private:
  base::Task<base::Result<Probe>> list_models(base::MonoTime deadline);
  base::Task<base::Status> sample_one(base::MonoTime deadline);

  HttpPeer peer_;
  const std::uint64_t vocab_size_;
  std::string model_;  // the name that is sent
};

}  // namespace verbatim::engine::dynamo
