#include "tokenizer/pre_tokenizer.h"

#include <algorithm>
#include <iterator>

namespace verbatim::tokenizer {
namespace {

struct Known {
  std::string_view regex;
  Pattern pattern;
};

// The regular expressions as the files of these models write them.
constexpr Known kKnown[] = {
    {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
     Pattern::kGpt2},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     Pattern::kQwen2},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     Pattern::kLlama3},
};

}  // namespace

std::optional<Pattern> pattern_named(std::string_view regex) {
  const auto* found = std::find_if(std::begin(kKnown), std::end(kKnown),
                                   [&](const Known& k) { return k.regex == regex; });
  return found == std::end(kKnown) ? std::nullopt : std::optional(found->pattern);
}

}  // namespace verbatim::tokenizer
