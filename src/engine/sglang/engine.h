#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/runtime.h"
#include "engine/answer_stream.h"
#include "engine/engine.h"
#include "engine/http_peer.h"
#include "engine/sglang/request_builder.h"
#include "engine/trace.h"
#include "json/value.h"

namespace verbatim::engine::sglang {

// Cumulative events grow by about 40 bytes for each sampled token (max_event).
struct Options : PeerOptions {
  Route route = Route::kGenerate;
  // The model's vocab_size: every id the engine names must be below it.
  std::uint64_t vocab_size = 0;
};

// SGLang driven by token ids over one of its routes: prompts as ids, sampled ids with logprobs
// back. One per base URL and executor; see Engine for its life.
class SglangEngine final : public Engine {
 public:
  SglangEngine(base::Runtime& runtime, const Options& options);

  [[nodiscard]] std::string_view kind() const override { return "sglang"; }
  [[nodiscard]] std::string_view mode() const override { return name(route_); }
  [[nodiscard]] bool reads_chat() const override { return route_ == Route::kChat; }
  [[nodiscard]] base::Status check(const message::Sampling& sampling) const override;
  base::Task<base::Result<std::unique_ptr<TokenStream>>> generate(TokenRequest request) override;
  base::Task<base::Result<Probe>> probe(base::MonoTime deadline) override;
  void adopt(const Probe& probe) override;
  base::Task<base::Status> ready(base::MonoTime deadline) override;
  base::Task<void> stop() override { return peer_.stop(); }

 private:
  base::Task<base::Result<std::optional<json::Document>>> get_either(std::string path,
                                                                     std::string older,
                                                                     base::MonoTime deadline);
  void send_abort(std::string_view request_id, Heard heard);

  HttpPeer peer_;
  const Route route_;
  const std::uint64_t vocab_size_;
  // As the last probe() found.
  bool streams_new_only_ = false;
  bool low_values_first_ = false;  // of priorities
  std::string engine_version_;
};

// Traces of this kind (see Kind): what GETs that only it answers say.
base::Task<std::vector<Trace>> recognise(HttpPeer& peer, base::MonoTime deadline);

}  // namespace verbatim::engine::sglang
