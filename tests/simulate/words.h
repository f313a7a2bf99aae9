#pragma once

#include <string>
#include <string_view>

#include "base/random.h"

namespace verbatim::simulate {

// `count` words, some of them odd: other scripts, emoji, quotes, spelled-out control tokens.
std::string some_words(base::Random& random, std::uint64_t count);
// A JSON object of a few members.
std::string some_arguments(base::Random& random);
// The same value in another spelling; what is no JSON stays.
std::string spelled_otherwise(std::string_view json, base::Random& random);
// One spelling for all equal values; what is no JSON stays.
std::string canonical(std::string_view json);
std::string trimmed(std::string_view text);

}  // namespace verbatim::simulate
