#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/runtime.h"
#include "net/http_server.h"
#include "sim/behaviour.h"
#include "sim/faults.h"
#include "sim/sampler.h"
#include "sim/script.h"
#include "sim/sglang_face.h"
#include "tokenizer/tokenizer.h"

namespace verbatim::sim {

// Which engine's wire is spoken.
enum class Face { kSglang };
std::optional<Face> face_named(std::string_view text);  // "sglang"

struct SimOptions {
  Face face = Face::kSglang;
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer;
  std::uint64_t vocab_size = 0;  // of the model; 0: the tokenizer's
  std::string model = "sim";
  std::string weight_version = "default";
  std::uint64_t max_model_len = 32768;
  // Ends each turn; absent: <|im_end|> where the vocabulary has it, else the request's first stop
  // id.
  std::optional<TokenId> stop_id;
  std::optional<Script> script;  // first; behind its end, or without one:
  Behaviour behaviour = Behaviour::kCallFirstToolThenAnswer;
  std::string fixed_text = "All is well.";
  std::uint64_t seed = 1;
  Streaming streaming = Streaming::kCumulative;
  std::size_t ids_per_event = 1;  // at most; drawn for each event
  base::Duration delay{0};        // before the first id
  base::Duration token_delay{0};  // for each id
  FaultRates faults;
  net::ServerOptions server{.name = "uvicorn"};
  // Sees each accepted request and what will be sampled for it, before a fault spoils the answer.
  std::function<void(const GenerateCall&, const Completion&, std::optional<Fault>)> on_planned;
};

struct SimStats {
  std::uint64_t requests = 0;  // POST /generate
  std::uint64_t running = 0;
  std::uint64_t finished = 0;          // answered whole, as far as the engine knows
  std::uint64_t refused = 0;           // 400 for a bad or too long request
  std::uint64_t abort_calls = 0;       // POST /abort_request
  std::uint64_t aborted_by_id = 0;     // requests that such a call ended
  std::uint64_t aborted_by_close = 0;  // requests whose client hung up
  std::uint64_t prompt_tokens = 0;
  std::uint64_t completion_tokens = 0;  // sent
  FaultCounts faults{};
};

// An inference engine without a model: speaks the wire of a real one, samples ids that are
// deliberately not the canonical encoding of their text, can be scripted, slowed down and broken.
// Everything it draws comes from its seed and the order of its requests. Serves GET /sim/stats.
// Life: created, start()ed, stop()ped to the end, destroyed; on one executor.
class SimEngine {
 public:
  SimEngine(base::Runtime& runtime, SimOptions options);
  SimEngine(const SimEngine&) = delete;
  ~SimEngine();

  base::Result<std::uint16_t> start(const std::string& host, std::uint16_t port);
  base::Task<void> stop();

  [[nodiscard]] const SimStats& stats() const;
  // Unhealthy engines answer /health and /health_generate with 503.
  void set_healthy(bool healthy);
  void set_weight_version(std::string version);

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace verbatim::sim
