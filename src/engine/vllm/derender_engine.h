#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "engine/engine.h"
#include "engine/http_peer.h"
#include "engine/vllm/engine.h"
#include "engine/vllm/modes.h"

namespace verbatim::engine::vllm {

// vLLM whose own parsers read what it sampled: three calls per turn on one server (see
// derender_wire.h), the answer in one piece. The ids are ours all the same: those that render made
// are only compared. An error of a call passes on, and the calls behind it are not made. See Engine
// for its life.
class DerenderEngine final : public Engine {
 public:
  DerenderEngine(base::Runtime& runtime, const Options& options);

  [[nodiscard]] std::string_view kind() const override { return "vllm"; }
  [[nodiscard]] std::string_view mode() const override { return kDerenderMode; }
  [[nodiscard]] bool reads_chat() const override { return true; }
  [[nodiscard]] base::Status check(const message::Sampling& sampling) const override;
  base::Task<base::Result<std::unique_ptr<TokenStream>>> generate(TokenRequest request) override;
  base::Task<base::Result<Probe>> probe(base::MonoTime deadline) override {
    return tokens_.probe(deadline);
  }
  void adopt(const Probe& probe) override { tokens_.adopt(probe); }
  // By all three calls.
  base::Task<base::Status> ready(base::MonoTime deadline) override;
  base::Task<void> stop() override;

 private:
  // Success, or the refusal of the call as an error.
  base::Task<base::Result<json::Document>> call(std::string_view path, std::string_view body,
                                                const TokenRequest& request);

  HttpPeer peer_;
  VllmEngine tokens_;  // the generate route; what is known of the server
  const std::uint64_t vocab_size_;
};

}  // namespace verbatim::engine::vllm
