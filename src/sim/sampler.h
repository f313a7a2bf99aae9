#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "tokenizer/tokenizer.h"

namespace verbatim::sim {

using base::TokenId;
using base::TokenIds;

// Stands in for a model's sampling: spells a text in ids that are deliberately not its canonical
// encoding, as models do. The text is cut at random places and each piece encoded alone; now and
// then a character comes as its single bytes. Added tokens stay whole. Decoding gives the text.
class Sampler {
 public:
  explicit Sampler(const tokenizer::Tokenizer& tokenizer);

  [[nodiscard]] TokenIds sample(std::string_view text, base::Random& random) const;

 private:
  // The longest added token that `text` begins with, or null.
  [[nodiscard]] const tokenizer::AddedToken* added_at(std::string_view text) const;
  void sample_plain(std::string_view text, base::Random& random, TokenIds& ids) const;
  bool sample_bytes(std::string_view character, TokenIds& ids) const;

  const tokenizer::Tokenizer& tokenizer_;
  std::vector<bool> added_begins_;      // whether an added token begins with a byte
  std::vector<std::int64_t> byte_ids_;  // the id that stands for a byte, or -1
};

// The logprob of `id` at `position`: always the same for one seed. A multiple of 2^-13, so that it
// is printed and read exactly.
double logprob(std::uint64_t seed, std::uint64_t position, TokenId id);

// Scrambles (splitmix64, Steele, Lea and Flood 2014).
std::uint64_t mix(std::uint64_t value);

}  // namespace verbatim::sim
