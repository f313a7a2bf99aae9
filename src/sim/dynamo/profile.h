#pragma once

#include <string_view>

namespace verbatim::sim::dynamo {

// What differs between the releases of the Dynamo frontend that can be played. Both were recorded
// (tests/captures/dynamo).
struct Profile {
  std::string_view name;
  bool repeats_role;       // in each delta, not in the first only
  bool writes_nulls;       // service_tier, usage, reasoning_content ... where they say nothing
  bool logprobs_name_ids;  // choices[].logprobs.content[].token_id
  bool times_prefill;      // nvext.timing has more than the whole time
  bool zero_tops_is_one;   // top_logprobs 0 gives the sampled one
  bool echoes_prompt;      // nvext.prompt_token_ids
  bool has_ready_route;    // GET /v1/models/{model}/ready
  bool explains_404;       // of unknown routes; else the body is empty
  bool sampling_mask;      // in the choices of the generate route
  bool checks_vocabulary;  // of token_data
  bool keeps_error_codes;  // in streams; else each is 500
};

// Null when there is no such profile.
const Profile* profile_named(std::string_view name);

}  // namespace verbatim::sim::dynamo
