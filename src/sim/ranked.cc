#include "sim/ranked.h"

#include <span>

#include "sim/sampler.h"

namespace verbatim::sim {
namespace {

constexpr std::uint64_t kHighestRank = 13;

}  // namespace

std::vector<Ranked> ranked(TokenId sampled, double logprob, std::size_t count,
                           std::uint64_t vocab_size) {
  const std::uint64_t own = logprob > -0.5 ? 1 : 2 + mix(sampled) % (kHighestRank - 1);
  std::vector<Ranked> entries = {{sampled, logprob, own}};
  for (std::uint64_t rank = 1; entries.size() < count; ++rank) {
    if (rank == own) continue;
    const auto id = static_cast<TokenId>((sampled + entries.size()) % vocab_size);
    const auto steps = static_cast<double>(rank), places = static_cast<double>(own);
    entries.push_back(
        {id, rank < own ? logprob * steps / places : logprob - (steps - places), rank});
  }
  return entries;
}

std::string bytes_json(std::string_view bytes) {
  std::string out = "[";
  for (const char byte : bytes) {
    if (out.size() > 1) out += ',';
    out += std::to_string(static_cast<unsigned char>(byte));
  }
  return out + "]";
}

std::string token_text(const tokenizer::Tokenizer& tokenizer, TokenId id) {
  return tokenizer.decode(std::span(&id, 1));
}

}  // namespace verbatim::sim
