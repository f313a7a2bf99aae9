#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/answer_reader.h"
#include "engine/engine.h"
#include "engine/vllm/request_builder.h"
#include "json/value.h"

namespace verbatim::engine::vllm {

// What was sent, against which the answer is proved. The pieces live as long as the reader.
struct Sent {
  std::vector<std::span<const TokenId>> prompt;
  std::uint64_t max_new_tokens = 0;
  std::uint64_t vocab_size = 0;  // sampled ids are below it
  unsigned top_logprobs = 0;     // alternatives the client wants for each id
};

// Reads the answer of a route that was sent ids (vLLM 0.10 to 0.32): events with the new ids each,
// or one whole body. Usage, where the release reports it (generate: from 0.27 on), must count the
// prompt and the ids as they are; prompt ids that are said again must be those that were sent. Life
// and errors: see engine::AnswerReader. Pure.
class AnswerReader final : public engine::AnswerReader {
 public:
  AnswerReader(Route route, Sent sent);

  base::Result<TokenChunk> feed(std::string_view data) override;
  // feed() of an object that is parsed already.
  base::Result<TokenChunk> take(const json::Value& root);
  base::Result<TokenEnd> finish() override;
  base::Result<TokenEnd> cut() override;
  [[nodiscard]] bool engine_is_done() const override { return engine_is_done_; }

 private:
  base::Result<json::Value> check_envelope(const json::Value& root);
  base::Status read_choice(const json::Value& choice, TokenChunk& chunk);
  base::Status read_ids(const json::Value& choice, TokenChunk& chunk);
  base::Status read_finish(const json::Value& choice);
  base::Status read_usage(const json::Value& usage);
  base::Status check_prompt(const json::Value& ids, std::string_view field);
  TokenEnd end_so_far();

  const Route route_;
  const Sent sent_;
  std::uint64_t prompt_tokens_ = 0;
  bool prompt_is_proved_ = false;
  std::optional<TokenId> last_id_;
  std::uint64_t ids_ = 0;  // read so far
  std::optional<EngineFinish> finish_;
  std::optional<std::uint64_t> cached_tokens_;
  std::vector<WeightSpan> weights_;
  bool engine_is_done_ = false;
};

}  // namespace verbatim::engine::vllm
