#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/answer_reader.h"
#include "engine/engine.h"
#include "engine/sglang/answer_fields.h"
#include "engine/sglang/repeated.h"
#include "json/value.h"

namespace verbatim::engine::sglang {

// What was sent, against which the answer is proved. The pieces live as long as the reader.
struct Sent {
  std::vector<std::span<const TokenId>> prompt;
  std::uint64_t max_new_tokens = 0;
  std::uint64_t vocab_size = 0;  // sampled ids are below it
  // The engine said of itself that it streams the new entries only. Not needed, but for one case:
  // see AnswerReader.
  bool streams_new_only = false;
};

// Reads the answer of POST /generate and believes nothing. Fed with one object at a time: the data
// of each event of a stream, or the whole body of an answer that is not streamed. Gives out the ids
// that are new, each with its logprob.
//
// SGLang streams in two forms, and nothing on the wire names them: every event holds all ids so far
// (the default), or only the new ones (--incremental-streaming-output). Ids and logprobs may differ
// in form (releases before March 2026). Each list is told apart by its length: completion_tokens is
// the number of all. A list keeps its form, and what it repeats must equal what was read before.
// One case can't be told apart that way: new entries that begin with the same ids and logprobs as
// all entries before, as they would in the other form with a wrong completion_tokens. It is an
// error, unless the form is known from events before or from `streams_new_only`.
//
// Errors are kEngine; they name the field, what was found and what was expected (code
// "malformed_answer"), or what the engine reported (code "engine_error", "engine_abort"). After an
// error the reader is not used again. Pure; memory: what was read, once as values and once as text.
class AnswerReader final : public engine::AnswerReader {
 public:
  explicit AnswerReader(Sent sent);

  base::Result<TokenChunk> feed(std::string_view data) override;
  base::Result<TokenEnd> finish() override;
  base::Result<TokenEnd> cut() override;
  [[nodiscard]] bool engine_is_done() const override { return state_.engine_is_done; }

 private:
  TokenEnd end_so_far();
  using Cuts = RepeatedMembers::Cuts;
  // What changes from event to event, but for the ids and logprobs.
  struct State {
    std::optional<Form> ids_form, logprobs_form, top_logprobs_form;
    std::optional<EngineFinish> finish;
    std::optional<std::uint64_t> cached_tokens;
    std::vector<WeightSpan> weights;
    bool engine_is_done = false;
  };
  struct Lists {
    std::optional<json::Value> ids, logprobs, top_logprobs;
  };
  // The new entries of a list: those behind the first `skip`. Entry i of the list is entry
  // `cut` + i of the answer.
  struct Window {
    std::uint64_t skip = 0;
    std::uint64_t cut = 0;
  };

  base::Status read(std::string text, std::string_view event, const Cuts& cuts, TokenChunk& chunk);
  base::Result<json::Value> check_envelope(const json::Value& root);
  base::Status read_meta(const json::Value& meta, const Counts& counts);
  base::Result<Counts> read_counts(const json::Value& meta) const;
  base::Status check_prompt(const json::Value& root, const json::Value& meta);

  base::Status read_lists(const Lists& lists, const Counts& counts, const Cuts& cuts,
                          TokenChunk& chunk);
  base::Status read_ids(const json::Value& list, const Counts& counts, bool is_cut,
                        TokenChunk& chunk);
  base::Status read_logprobs(const json::Value& list, const Counts& counts, bool is_cut,
                             TokenChunk& chunk);
  base::Status read_top_logprobs(const json::Value& list, const Counts& counts, bool is_cut,
                                 TokenChunk& chunk);
  base::Status check_repeated(const json::Value& list, const Counts& counts,
                              std::optional<Form> before) const;
  // How many of its first entries are what was read before.
  [[nodiscard]] std::uint64_t same_logprobs(const json::Value& list) const;
  static base::Result<Window> window(const json::Value& list, const char* field,
                                     const Counts& counts, bool is_cut, std::optional<Form>& form);
  void remember(const json::Value& root, std::string_view event, const Cuts& cuts,
                const TokenChunk& chunk);

  Sent sent_;
  std::uint64_t prompt_tokens_ = 0;
  bool prompt_is_proved_ = false;
  TokenIds ids_;
  std::vector<double> logprobs_;
  State state_;
  RepeatedMembers repeated_;
};

}  // namespace verbatim::engine::sglang
