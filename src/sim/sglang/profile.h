#pragma once

#include <string_view>

namespace verbatim::sim::sglang {

// What differs between the releases of SGLang that can be played. No server of any of them was
// recorded: each field names the pull request of sgl-project/sglang that made the difference, and
// the release in which it came.
struct Profile {
  std::string_view name;
  // POST /v1/chat/completions takes input_ids, return_prompt_token_ids and return_meta_info.
  // Before, it renders the messages and ignores all three without a word. #23751, 0.5.13.
  bool chat_takes_ids;
  // return_token_ids gives choices[].token_ids, not in streams. #30917, 0.5.16.
  bool chat_names_ids;
  // meta_info.weight_versions: the spans of all weights; weight_version is then the last one's.
  // #32660 and #35926, 0.5.18.
  bool weight_spans;
  // cache_salt separates the prefix cache. #30827, 0.5.18. Before, the key is unknown.
  bool takes_salt;
};

// Null when there is no such profile.
const Profile* profile_named(std::string_view name);

}  // namespace verbatim::sim::sglang
