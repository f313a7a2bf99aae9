#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/answer_reader.h"
#include "engine/engine.h"
#include "json/value.h"

namespace verbatim::engine::dynamo {

// What was sent, against which the answer is proved. The pieces live as long as the reader.
struct Sent {
  std::vector<std::span<const TokenId>> prompt;
  TokenIds stop_ids;
  std::uint64_t max_new_tokens = 0;
  std::uint64_t vocab_size = 0;     // sampled ids are below it
  bool wants_top_logprobs = false;  // else the alternatives that come unasked are not read
};

// Reads the answer of POST /v1/chat/completions to a prompt in `nvext.token_data` (Dynamo 1.4 to
// 1.6): chunks of a stream, or one whole completion. The text of the answer is not looked at.
//
// The same facts come several ways, and all must agree:
// - ids: `nvext.completion_token_ids` of each event (the new ones), those named by the entries of
//   `choices[0].logprobs`, and all of them once more in `nvext.engine_data` at the end;
// - logprobs: as 32-bit floats in `choices[0].logprobs`, and as the worker's own doubles in
//   engine_data, which round to those and are the exact ones (TokenEnd::exact_logprobs). An entry
//   that an event lacks makes its id wait; at the latest engine_data brings its logprob;
// - the prompt: its length in `usage` of each event, its ids in engine_data.
// A frontend that drops nvext generates from the placeholder message, without a word: the missing
// members and the prompt's length tell. A generation that was cancelled inside Dynamo ends with
// finish reason "stop": it is told from a true one by its ids, which hold no stop id.
//
// Errors: see engine::AnswerReader. Pure; memory: the ids and logprobs read.
class AnswerReader final : public engine::AnswerReader {
 public:
  explicit AnswerReader(Sent sent);

  base::Result<TokenChunk> feed(std::string_view data) override;
  base::Result<TokenEnd> finish() override;
  base::Result<TokenEnd> cut() override;
  [[nodiscard]] bool engine_is_done() const override { return engine_is_done_; }

 private:
  base::Status read(const json::Value& root);
  base::Status read_usage(const json::Value& root);
  base::Status read_nvext(const json::Value& nvext);
  base::Status read_ids(const json::Value& list);
  base::Status read_stop_reason(const json::Value& reason);
  base::Status read_choice(const json::Value& choices);
  base::Status read_finish(const json::Value& reason);
  base::Status read_logprobs(const json::Value& list);
  base::Status read_entry(const json::Value& item, std::uint64_t at);
  base::Status check_entry_id(const json::Value& item, std::uint64_t at) const;
  base::Status read_top_logprobs(const json::Value& item, std::uint64_t at);
  base::Status read_engine_data(const json::Value& data);
  base::Status check_prompt(const json::Value& data) const;
  base::Status check_all_ids(const json::Value& data) const;
  base::Status read_exact_logprobs(const json::Value& data);
  [[nodiscard]] base::Status check_finish() const;
  TokenChunk give_out();
  [[nodiscard]] TokenEnd end_of(std::size_t ids) const;

  const Sent sent_;
  std::uint64_t prompt_tokens_ = 0;
  // Entry i of each list belongs to id i; the first `given_` are given out. Of ids and logprobs one
  // may be ahead of the other.
  TokenIds ids_;
  std::vector<double> logprobs_;
  std::vector<std::vector<TopLogprob>> top_logprobs_;
  std::size_t given_ = 0;
  std::optional<std::vector<double>> exact_;  // as the newest engine_data says them
  std::optional<EngineFinish> finish_;
  std::optional<TokenId> stop_id_;
  std::optional<std::uint64_t> completion_tokens_;  // of the newest usage
  std::optional<std::uint64_t> cached_tokens_;
  bool prompt_is_proved_ = false;
  bool engine_is_done_ = false;
};

}  // namespace verbatim::engine::dynamo
