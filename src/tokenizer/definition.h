#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tokenizer/tokenizer.h"

namespace verbatim::tokenizer {

// Pre-tokenizer patterns that are known here, one row each in pre_tokenizer.cc. The numbers stand
// in cache files.
enum class Pattern : std::uint32_t { kGpt2 = 1, kQwen2 = 2, kLlama3 = 3 };

// Bounds of a vocabulary: an id fits 22 bits and a rank 20, so that a merge fits one word
// (merge_table.h).
inline constexpr TokenId kMaxVocabSize = (1U << 22) - 1;
inline constexpr std::size_t kMaxMerges = (1U << 20) - 1;

// Errors of tokenizer.json. `part` is a path in it ("model.merges[3]").
inline base::Error malformed(std::string_view part, std::string_view message) {
  return base::invalid(std::string(part),
                       "tokenizer.json: " + std::string(part) + ": " + std::string(message));
}
inline base::Error unsupported(std::string_view component) {
  return base::error(base::ErrorKind::kUnsupported,
                     "tokenizer.json: " + std::string(component) + " is not supported");
}

// A byte-level BPE tokenizer as tokenizer.json states it, checked for shape but not yet for
// consistency. Texts live in one arena.
struct Definition {
  struct Text {
    std::uint32_t begin = 0;
    std::uint32_t size = 0;
  };
  struct VocabEntry {
    Text text;  // the bytes the token stands for, or its text as written where it has no byte-level
                // form
    TokenId id = 0;
    bool byte_level = true;
  };
  struct Merge {
    Text left;
    Text right;
  };

  Pattern pattern = Pattern::kQwen2;
  bool nfc = false;
  bool ignore_merges = false;
  std::string arena;
  std::vector<VocabEntry> vocab;
  std::vector<Merge> merges;  // by rank; only those whose two sides have a byte-level form, the
                              // others can't happen
  std::vector<AddedToken> added;

  [[nodiscard]] std::string_view view(Text text) const {
    return std::string_view(arena).substr(text.begin, text.size);
  }
};

}  // namespace verbatim::tokenizer
