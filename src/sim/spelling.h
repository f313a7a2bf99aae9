#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/call.h"
#include "sim/faults.h"
#include "tokenizer/tokenizer.h"

namespace verbatim::sim {

// A completion with its numbers spelled already, so that faults can spell them wrong. What a face
// prints is read off it.
struct Spelling {
  Spelling(const tokenizer::Tokenizer& tokenizer, const GenerateCall& call, const Completion& done,
           std::uint64_t vocab_size);

  // Spoils it; false where there is nothing to spoil (no ids). `at` picks the id.
  bool apply(Fault fault, std::uint64_t at);

  // The text of ids [from, to); characters that are not complete at `to` belong to a later id.
  [[nodiscard]] std::string_view text_of(std::size_t from, std::size_t to) const;
  [[nodiscard]] std::size_t size() const { return ids.size(); }

  // The first `count` ids; text stays.
  void keep(std::size_t count);

  std::uint64_t vocab_size;
  Finish finish;
  TokenIds plain_ids;
  std::vector<std::string> ids;
  std::vector<std::string> logprob_ids;  // the ids as the logprobs name them
  std::vector<std::string> logprobs;     // one per id
  std::vector<double> values;            // the same as numbers
  std::string text;
  std::vector<std::size_t> text_ends;  // of `text`, behind each id
  std::string routed_experts;          // JSON, or empty
  std::uint64_t prompt_tokens;
  std::uint64_t extra_count = 0;  // added to the last count of completion tokens
  std::size_t logprobs_cut = 0;   // left out at the end
  std::uint64_t index = 0;        // of the first choice
  bool has_ids = true;
  bool has_engine_data = true;  // Dynamo: what the worker itself says
  bool has_logprobs;
  bool has_finish;
};

// As a wire spells a double.
std::string spelled(double value);
// The ids [from, to), commas between them.
void append_joined(std::string& out, const std::vector<std::string>& parts, std::size_t from,
                   std::size_t to);
// "1,2,3".
std::string joined(const TokenIds& ids);

}  // namespace verbatim::sim
