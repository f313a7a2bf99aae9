#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "engine/sglang/answer_fields.h"
#include "json/value.h"

namespace verbatim::engine::sglang {

// What was sent, against which the answer is proved. The pieces live as long as the reader.
struct Sent {
  std::vector<std::span<const TokenId>> prompt;
  std::uint64_t max_new_tokens = 0;
  std::uint64_t vocab_size = 0;  // sampled ids are below it
};

// Reads the answer of POST /generate and believes nothing. Fed with one object at a time: the data
// of each event of a stream, or the whole body of an answer that is not streamed. Gives out the ids
// that are new, each with its logprob.
//
// SGLang streams in two forms, and nothing on the wire names them: every event holds all ids so far
// (the default), or only the new ones (--incremental-streaming-output). Ids and logprobs may differ
// in form (releases before March 2026). Each list is told apart by its length: completion_tokens is
// the number of all. What a list repeats must equal what was read before.
//
// Errors are kEngine; they name the field, what was found and what was expected (code
// "malformed_answer"), or what the engine reported (code "engine_error", "engine_abort"). After an
// error the reader is not used again. Pure; memory: the ids and the last object.
class AnswerReader {
 public:
  explicit AnswerReader(Sent sent);

  // `data` is one JSON object.
  base::Result<TokenChunk> feed(std::string_view data);
  // Called behind the last object: the proved end.
  base::Result<TokenEnd> finish();
  // The engine has nothing more to do: it gave a finish reason, or reported an error.
  [[nodiscard]] bool engine_is_done() const { return engine_is_done_; }

 private:
  struct Counts {
    std::uint64_t seen = 0;   // ids before this object
    std::uint64_t total = 0;  // ids with it
    [[nodiscard]] std::uint64_t fresh() const { return total - seen; }
  };
  struct Lists {
    std::optional<json::Value> ids, logprobs, top_logprobs;
  };

  base::Status read(const json::Value& root, TokenChunk& chunk);
  base::Status read_lists(const Lists& lists, const Counts& counts, TokenChunk& chunk);
  base::Status read_meta(const json::Value& meta, const Counts& counts);
  base::Result<Counts> read_counts(const json::Value& meta) const;
  base::Status check_prompt(const json::Value& root, const json::Value& meta) const;
  base::Status read_ids(const json::Value& list, const Counts& counts, TokenChunk& chunk) const;
  base::Status read_logprobs(const json::Value& list, const Counts& counts,
                             TokenChunk& chunk) const;
  base::Status check_repeated(const json::Value& list, std::uint64_t count) const;
  base::Status read_top_logprobs(const json::Value& list, const Counts& counts,
                                 TokenChunk& chunk) const;
  base::Result<TokenId> token_id(const json::Value& value, const std::string& field) const;
  void remember(const Lists& lists, const Counts& counts, const TokenChunk& chunk);

  Sent sent_;
  std::uint64_t prompt_tokens_ = 0;
  TokenIds ids_;
  std::vector<double> logprobs_;
  std::optional<json::Document> last_;
  // Lists of last_ that hold everything so far, without their "]": what the next ones begin with.
  std::string_view all_ids_;
  std::string_view all_logprobs_;
  std::optional<EngineFinish> finish_;
  std::optional<std::uint64_t> cached_tokens_;
  std::vector<WeightSpan> weights_;
  bool engine_is_done_ = false;
};

}  // namespace verbatim::engine::sglang
