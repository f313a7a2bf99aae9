#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/completion.h"
#include "sim/faults.h"
#include "tokenizer/tokenizer.h"

namespace verbatim::sim {

// SGLang's wire (0.5.16): reads requests, prints answers. Pure.

// How a stream brings ids and logprobs.
enum class Streaming {
  kCumulative,   // all so far, in each event: SGLang's default
  kIncremental,  // the new ones
  kMixed,        // new ids, all logprobs: releases before March 2026 with incremental output
};
std::string_view name(Streaming streaming);  // "cumulative" ...
std::optional<Streaming> streaming_named(std::string_view text);

// POST /generate.
struct GenerateCall {
  std::string rid;
  TokenIds prompt;
  Limits limits;
  std::uint64_t samples = 1;  // n
  std::uint64_t top_logprobs = 0;
  std::optional<std::int64_t> seed;
  bool stream = false;
  bool logprobs = false;
  bool echoes_prompt = false;
  bool skips_special = true;
};
// Refuses what SGLang refuses, and every key it does not know. Errors are kInvalidRequest.
base::Result<GenerateCall> read_generate(std::string_view body, std::uint64_t vocab_size);

// {"rid":..., "abort_all":...}
struct AbortCall {
  std::string rid;
  bool all = false;
};
base::Result<AbortCall> read_abort(std::string_view body);

// {"error":{"message":...}}
std::string error_json(std::string_view message);

// One answer, with its numbers spelled already, so that faults can spell them wrong.
class Answer {
 public:
  // What stays the same in all its events.
  struct Setup {
    Streaming streaming = Streaming::kCumulative;
    std::uint64_t seed = 0;
    std::uint64_t vocab_size = 0;
  };
  Answer(const tokenizer::Tokenizer& tokenizer, const GenerateCall& call, const Completion& done,
         Setup setup);

  // Spoils the answer; false where it has nothing to spoil (no ids). `at` picks the id.
  bool apply(Fault fault, std::uint64_t at);

  [[nodiscard]] std::size_t size() const { return ids_.size(); }
  [[nodiscard]] const Finish& finish() const { return finish_; }
  // The event that brings ids [from, to), or the whole answer (from 0). `finish` is null but for
  // the last one.
  [[nodiscard]] std::string event(std::size_t from, std::size_t to, const Finish* finish,
                                  std::string_view weight_version) const;

 private:
  void decode(const tokenizer::Tokenizer& tokenizer, const TokenIds& ids, bool skips_special);
  void append_ids(std::string& out, std::size_t from, std::size_t to) const;
  void append_logprobs(std::string& out, std::size_t from, std::size_t to, bool last) const;
  void append_top_logprobs(std::string& out, std::size_t from, std::size_t to) const;
  void append_meta(std::string& out, std::size_t from, std::size_t to, const Finish* finish,
                   std::string_view weight_version) const;

  const GenerateCall& call_;
  Setup setup_;
  Finish finish_;
  TokenIds plain_ids_;
  std::vector<std::string> ids_;
  std::vector<std::string> logprobs_;
  std::string text_;
  std::vector<std::size_t> text_ends_;  // of text_, behind each id
  std::uint64_t prompt_tokens_ = 0;
  std::uint64_t extra_count_ = 0;  // added to the last completion_tokens
  std::size_t logprobs_cut_ = 0;   // left out at the end
  bool has_ids_ = true;
  bool has_logprobs_ = true;
  bool has_finish_ = true;
};

}  // namespace verbatim::sim
