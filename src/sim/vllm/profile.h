#pragma once

#include <cstddef>
#include <string_view>

namespace verbatim::sim::vllm {

// What differs between the releases of vLLM's Python front end that can be played. 0.32 was
// recorded from a running server (tests/captures/vllm); of the others, each field names the pull
// request that changed it, and the release in which it came.
struct Profile {
  std::string_view name;
  std::string_view version;  // GET /version
  // The answer of the generate route names `usage`, `model`, `created` and the request's id; before
  // that `request_id` is random and unrelated. #42748, 0.27.
  bool names_request;
  // n > 1 without a stream gives every choice. Before, choices get lost unless output_kind is 2.
  // #52399, 0.28.
  bool keeps_choices;
  // Token routes only with --enable-scale-out. #55176, 0.30.
  bool gated;
  // /inference/v1/abort_requests, with the gate. 0.30.
  bool aborts_by_id;
  // A stream that is aborted says so in a frame of its own; before, it goes straight to [DONE].
  bool says_abort;
  // Choices carry `weight_versions`. RFC #54443, 0.30.
  bool weight_spans;
  // Logprobs name ids as numbers, not as "token_id:N". #57574 and #58181, 0.31.
  bool integer_logprobs;
  // output_mode, return_token_ids, stop_reason, empty and negative ids refused. RFC #56851, 0.31.
  bool newest_fields;
  // cache_salt: longest, 0 for no bound. #54353 and #51444, 0.29 and 0.30.
  std::size_t longest_salt;
  // Derendering without the chat request, though a parser is configured, is an error. #50550, 0.30.
  bool derender_needs_chat;
};

// Null when there is no such profile.
const Profile* profile_named(std::string_view name);

}  // namespace verbatim::sim::vllm
