#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/runtime.h"
#include "engine/answer_stream.h"
#include "engine/dynamo/request_builder.h"
#include "engine/engine.h"
#include "engine/http_peer.h"
#include "engine/trace.h"

namespace verbatim::engine::dynamo {

struct Options : PeerOptions {
  Route route = Route::kChat;
  // The frontend leaves Nagle's algorithm on: 40 ms are lost in each stream otherwise.
  Options() { client.acks = base::Acks::kAtOnce; }
  // The model's vocab_size: every id the engine names must be below it.
  std::uint64_t vocab_size = 0;
  // The model's name at a frontend that lists several, for requests that don't say one (readiness).
  std::string model;
};

// NVIDIA Dynamo (1.4 to 1.6) over one of its frontend's routes. kChat: prompts as ids in
// `nvext.token_data`, sampled ids and logprobs back, streamed. kGenerate: the wire of vLLM's route
// of that name, whole answers, and nothing in them that proves the prompt's length. Closing the
// connection is how a generation is aborted. One per base URL and executor; see Engine for its
// life.
class DynamoEngine final : public Engine {
 public:
  DynamoEngine(base::Runtime& runtime, const Options& options);

  [[nodiscard]] std::string_view kind() const override { return "dynamo"; }
  [[nodiscard]] std::string_view mode() const override { return name(route_); }
  [[nodiscard]] bool matches_stop_strings() const override { return false; }
  [[nodiscard]] base::Status check(const message::Sampling& sampling) const override;
  base::Task<base::Result<std::unique_ptr<TokenStream>>> generate(TokenRequest request) override;
  base::Task<base::Result<Probe>> probe(base::MonoTime deadline) override;
  void adopt(const Probe& probe) override;
  base::Task<base::Status> ready(base::MonoTime deadline) override;
  base::Task<void> stop() override { return peer_.stop(); }

 private:
  base::Task<base::Result<Probe>> list_models(base::MonoTime deadline);

  [[nodiscard]] std::unique_ptr<engine::AnswerReader> reader_for(TokenRequest& request) const;

  HttpPeer peer_;
  const Route route_;
  const std::uint64_t vocab_size_;
  const std::string usual_model_;
  bool listed_ = false;     // the frontend has told its models
  std::string only_model_;  // the one model that the frontend listed last; empty: none, or several
};

// Traces of this kind (see Kind): what GETs that only it answers say.
base::Task<std::vector<Trace>> recognise(HttpPeer& peer, base::MonoTime deadline);

}  // namespace verbatim::engine::dynamo
