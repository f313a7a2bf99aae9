#include "sim/sampler.h"

#include <algorithm>

namespace verbatim::sim {
namespace {

constexpr std::uint64_t kLongestPiece = 12;  // characters
constexpr unsigned kByteChance = 30;         // of pieces: a character in single bytes, thousandths

std::size_t character_size(std::string_view text) {
  std::size_t n = 1;
  while (n < text.size() && (static_cast<unsigned char>(text[n]) & 0xc0) == 0x80) ++n;
  return n;
}

}  // namespace

std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

double logprob(std::uint64_t seed, std::uint64_t position, TokenId id) {
  const auto drawn = mix(mix(seed ^ mix(position)) ^ id) % 65536;
  return -static_cast<double>(drawn) / 8192.0;
}

Sampler::Sampler(const tokenizer::Tokenizer& tokenizer)
    : tokenizer_(tokenizer), added_begins_(256), byte_ids_(256, -1) {
  for (const auto& token : tokenizer.added_tokens()) {
    if (!token.content.empty()) added_begins_[static_cast<unsigned char>(token.content[0])] = true;
  }
  for (TokenId id = 0; id < tokenizer.vocab_size(); ++id) {
    const auto bytes = tokenizer.bytes(id);
    if (bytes.size() == 1 && tokenizer.added(id) == nullptr)
      byte_ids_[static_cast<unsigned char>(bytes[0])] = id;
  }
}

const tokenizer::AddedToken* Sampler::added_at(std::string_view text) const {
  if (!added_begins_[static_cast<unsigned char>(text[0])]) return nullptr;
  const tokenizer::AddedToken* best = nullptr;
  for (const auto& token : tokenizer_.added_tokens()) {
    if (token.content.empty() || !text.starts_with(token.content)) continue;
    if (best == nullptr || token.content.size() > best->content.size()) best = &token;
  }
  return best;
}

TokenIds Sampler::sample(std::string_view text, base::Random& random) const {
  TokenIds ids;
  std::size_t plain = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto* token = added_at(text.substr(at));
    if (token == nullptr) {
      ++at;
      continue;
    }
    sample_plain(text.substr(plain, at - plain), random, ids);
    ids.push_back(token->id);
    at += token->content.size();
    plain = at;
  }
  sample_plain(text.substr(plain), random, ids);
  return ids;
}

void Sampler::sample_plain(std::string_view text, base::Random& random, TokenIds& ids) const {
  while (!text.empty()) {
    if (random.chance(kByteChance)) {
      const std::size_t n = character_size(text);
      if (sample_bytes(text.substr(0, n), ids)) {
        text.remove_prefix(n);
        continue;
      }
    }
    std::size_t n = 0;
    for (auto left = 1 + random.below(kLongestPiece); left > 0 && n < text.size(); --left)
      n += character_size(text.substr(n));
    const tokenizer::ByteRange whole{0, n};
    tokenizer_.encode(text.substr(0, n), std::span(&whole, 1), ids, nullptr);
    text.remove_prefix(n);
  }
}

bool Sampler::sample_bytes(std::string_view character, TokenIds& ids) const {
  for (const char c : character) {
    if (byte_ids_[static_cast<unsigned char>(c)] < 0) return false;
  }
  for (const char c : character)
    ids.push_back(static_cast<TokenId>(byte_ids_[static_cast<unsigned char>(c)]));
  return true;
}

}  // namespace verbatim::sim
