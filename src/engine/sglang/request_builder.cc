#include "engine/sglang/request_builder.h"

#include <algorithm>
#include <array>

#include "engine/kinds.h"
#include "engine/request_fields.h"
#include "json/value.h"
#include "json/writer.h"

namespace verbatim::engine::sglang {
namespace {

using message::Sampling;

std::string sampling_params(const TokenRequest& request) {
  const Sampling& s = request.sampling;
  json::Writer w;
  w.begin_object();
  w.field("max_new_tokens", request.max_new_tokens);
  write_shared_sampling(w, s);
  optional_field(w, "sampling_seed", s.seed);
  if (!s.stop.empty()) write_strings(w, "stop", s.stop);
  if (const auto ids = stop_ids(request); !ids.empty()) write_ids(w, "stop_token_ids", ids);
  w.field("skip_special_tokens", false);
  w.field("spaces_between_special_tokens", false);
  w.field("no_stop_trim", true);
  w.end_object();
  return w.take();
}

void append_scheduling(std::string& body, const Sampling& sampling) {
  // Earlier releases, and servers without priority scheduling, ignore it: it is a wish.
  if (sampling.priority != 0) body += ",\"priority\":" + std::to_string(sampling.priority);
  if (!sampling.cache_salt.empty()) {
    body += ",\"cache_salt\":";
    json::append_string(body, sampling.cache_salt);
  }
}

// What this side says in place of the client.
bool is_forced(std::string_view name) {
  static constexpr std::array<std::string_view, 17> kForced = {"model",
                                                               "stream",
                                                               "stream_options",
                                                               "logprobs",
                                                               "top_logprobs",
                                                               "max_tokens",
                                                               "max_completion_tokens",
                                                               "stop_token_ids",
                                                               "input_ids",
                                                               "rid",
                                                               "priority",
                                                               "cache_salt",
                                                               "return_meta_info",
                                                               "return_prompt_token_ids",
                                                               "no_stop_trim",
                                                               "n",
                                                               "extra_key"};
  return std::find(kForced.begin(), kForced.end(), name) != kForced.end();
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
  append_scheduling(body, request.sampling);
  body += ",\"stream\":true}";
  return body;
}

base::Result<std::string> chat_body(const TokenRequest& request) {
  const auto chat = json::Document::parse(std::string(request.chat));
  if (!chat.ok() || !chat->root().is_object()) {
    return base::error(base::ErrorKind::kUnsupported,
                       "mode chat drives chat requests only: this one has none");
  }
  std::string body;
  body.reserve(bytes_for_prompt(request) + request.chat.size());
  json::Writer w;
  w.begin_object().field("rid", request.request_id).field("model", request.model);
  for (const auto& member : chat->root()) {
    const std::string name = member.name();
    if (!is_forced(name)) w.key(name).raw(member.value.raw());
  }
  const Sampling& s = request.sampling;
  w.field("max_tokens", request.max_new_tokens).field("logprobs", true);
  w.field("top_logprobs", std::uint64_t{s.logprobs ? s.top_logprobs : 0});
  if (const auto ids = stop_ids(request); !ids.empty()) write_ids(w, "stop_token_ids", ids);
  w.field("return_meta_info", true).field("return_prompt_token_ids", true);
  w.field("no_stop_trim", false).field("stream", false).end_object();
  body += w.text();
  body.pop_back();
  append_scheduling(body, s);
  body += ",\"input_ids\":[";
  append_ids(body, request.prompt);
  body += "]}";
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
