#include "engine/sglang/request_builder.h"

#include "engine/kinds.h"
#include "engine/request_fields.h"
#include "json/writer.h"

namespace verbatim::engine::sglang {
namespace {

using message::Sampling;

std::string sampling_params(const TokenRequest& request) {
  const Sampling& s = request.sampling;
  json::Writer w;
  w.begin_object();
  w.field("max_new_tokens", request.max_new_tokens);
  optional_field(w, "temperature", s.temperature);
  optional_field(w, "top_p", s.top_p);
  optional_field(w, "top_k", s.top_k);
  optional_field(w, "min_p", s.min_p);
  optional_field(w, "frequency_penalty", s.frequency_penalty);
  optional_field(w, "presence_penalty", s.presence_penalty);
  optional_field(w, "repetition_penalty", s.repetition_penalty);
  optional_field(w, "sampling_seed", s.seed);
  if (!s.stop.empty()) write_strings(w, "stop", s.stop);
  if (const auto ids = stop_ids(request); !ids.empty()) write_ids(w, "stop_token_ids", ids);
  w.field("skip_special_tokens", false);
  w.field("spaces_between_special_tokens", false);
  w.field("no_stop_trim", true);
  w.end_object();
  return w.take();
}

}  // namespace

std::string generate_body(const TokenRequest& request) {
  std::string body;
  body.reserve(bytes_for_prompt(request));
  body += "{\"rid\":";
  json::append_string(body, request.request_id);
  body += ",\"input_ids\":[";
  append_ids(body, request.prompt);
  body += "],\"sampling_params\":";
  body += sampling_params(request);
  body += ",\"return_logprob\":true,\"logprob_start_len\":-1,\"top_logprobs_num\":";
  body += std::to_string(request.sampling.logprobs ? request.sampling.top_logprobs : 0);
  // Earlier releases, and servers without priority scheduling, ignore it: it is a wish.
  if (request.sampling.priority != 0)
    body += ",\"priority\":" + std::to_string(request.sampling.priority);
  if (!request.sampling.cache_salt.empty()) {
    body += ",\"cache_salt\":";
    json::append_string(body, request.sampling.cache_salt);
  }
  body += ",\"stream\":true}";
  return body;
}

std::string abort_body(std::string_view request_id) {
  json::Writer w;
  w.begin_object().field("rid", request_id).end_object();
  return w.take();
}

// GenerateReqInput has the key since sgl-project/sglang#30827; before #23300 the older extra_key
// was read and forgotten on its way to the cache. What is ignored would share the cache with
// everybody.
base::Status check_salting(std::string_view version) {
  // A name without a number may be any release.
  const bool numbered = !version.empty() && version.front() >= '0' && version.front() <= '9';
  if (numbered && release_has(version, "0.5.18")) return {};
  auto error = base::error(base::ErrorKind::kUnsupported,
                           "needs SGLang 0.5.18, found " +
                               (version.empty() ? "no release" : std::string(version)) +
                               ": it may share cached prefixes in spite of the salt");
  error.field = "cache_salt";
  return error;
}

}  // namespace verbatim::engine::sglang
