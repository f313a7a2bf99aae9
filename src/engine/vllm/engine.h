#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/runtime.h"
#include "engine/answer_stream.h"
#include "engine/engine.h"
#include "engine/http_peer.h"
#include "engine/trace.h"
#include "engine/vllm/request_builder.h"

namespace verbatim::engine::vllm {

struct Options : PeerOptions {
  Route route = Route::kGenerate;
  // The model's vocab_size: every id the engine names must be below it.
  std::uint64_t vocab_size = 0;
};

// vLLM driven by token ids over one of its routes. One per base URL and executor; see Engine for
// its life. Closing the connection is what aborts; the abort call comes on top, for proxies that
// keep the connection to the server open.
class VllmEngine final : public Engine {
 public:
  VllmEngine(base::Runtime& runtime, const Options& options);

  [[nodiscard]] std::string_view kind() const override { return "vllm"; }
  [[nodiscard]] std::string_view mode() const override { return name(route_); }
  [[nodiscard]] base::Status check(const message::Sampling& sampling) const override;
  base::Task<base::Result<std::unique_ptr<TokenStream>>> generate(TokenRequest request) override;
  base::Task<base::Result<Probe>> probe(base::MonoTime deadline) override;
  void adopt(const Probe& probe) override;
  // Samples one token: a server that sleeps answers /health, and hangs.
  base::Task<base::Status> ready(base::MonoTime deadline) override;
  base::Task<void> stop() override { return peer_.stop(); }

  // Starts the abort call; stop() waits for it.
  void send_abort(std::string_view request_id, Heard heard);
  // The one model that the server listed last; empty: none, or several.
  [[nodiscard]] std::string_view model() const { return model_; }

 private:
  HttpPeer peer_;
  const Route route_;
  const std::uint64_t vocab_size_;
  std::string model_;
};

// Traces of this kind (see Kind): what GETs that only it answers say.
base::Task<std::vector<Trace>> recognise(HttpPeer& peer, base::MonoTime deadline);

}  // namespace verbatim::engine::vllm
