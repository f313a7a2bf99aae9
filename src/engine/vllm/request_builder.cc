#include "engine/vllm/request_builder.h"

#include <algorithm>

#include "engine/request_fields.h"
#include "json/writer.h"

namespace verbatim::engine::vllm {
namespace {

// vLLM's RequestOutputKind: each event brings what is new. Releases up to 0.27 need it said.
constexpr int kDeltas = 1;
// What --max-logprobs is where nobody says otherwise.
constexpr std::uint64_t kMostLogprobs = 20;

void write_sampling(json::Writer& w, Route route, const TokenRequest& request) {
  const message::Sampling& s = request.sampling;
  w.field("max_tokens", request.max_new_tokens);
  write_shared_sampling(w, s);
  optional_field(w, "seed", s.seed);
  if (!s.stop.empty()) write_strings(w, "stop", s.stop);
  if (const auto ids = stop_ids(request); !ids.empty()) write_ids(w, "stop_token_ids", ids);
  w.field("logprobs", logprobs_asked(route, s));
  w.field("skip_special_tokens", false);
  w.field("spaces_between_special_tokens", false);
}

void open_ids(std::string& body, std::string_view name, const TokenRequest& request) {
  body.append(",\"").append(name).append("\":[");
  append_ids(body, request.prompt);
  body += ']';
}

}  // namespace

std::uint64_t logprobs_asked(Route route, const message::Sampling& sampling) {
  const std::uint64_t wanted = sampling.logprobs ? sampling.top_logprobs : 0;
  if (route == Route::kCompletions || wanted == 0 || wanted >= kMostLogprobs) return wanted;
  return wanted + 1;
}

std::string token_body(Route route, const TokenRequest& request, std::string_view model) {
  std::string body;
  body.reserve(bytes_for_prompt(request));
  body += "{\"request_id\":";
  json::append_string(body, request.request_id);
  if (!model.empty()) {
    body += ",\"model\":";
    json::append_string(body, model);
  }
  open_ids(body, route == Route::kGenerate ? "token_ids" : "prompt", request);
  json::Writer w;
  w.begin_object();
  write_sampling(w, route, request);
  if (route == Route::kGenerate) {
    w.field("output_kind", kDeltas);
    // Text is nobody's here, but stop strings are looked for in it.
    w.field("detokenize", !request.sampling.stop.empty());
    w.end_object();
    body.append(",\"sampling_params\":").append(w.text());
  } else {
    w.field("add_special_tokens", false);
    w.field("return_token_ids", true);
    w.field("return_tokens_as_token_ids", true);
    w.end_object();
    body.append(",").append(std::string_view(w.text()).substr(1));
    body.pop_back();
  }
  append_scheduling(body, request.sampling);
  body += ",\"stream\":true,\"stream_options\":{\"include_usage\":true}}";
  return body;
}

void append_scheduling(std::string& body, const message::Sampling& sampling) {
  // Lower is sooner here. A server without priority scheduling refuses it.
  if (sampling.priority != 0) body += ",\"priority\":" + std::to_string(-sampling.priority);
  if (sampling.cache_salt.empty()) return;
  body += ",\"cache_salt\":";
  json::append_string(body, sampling.cache_salt);
}

base::Status check_salt(std::string_view salt) {
  constexpr std::size_t kMaxCharacters = 128;
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  const auto characters =
      salt.size() - static_cast<std::size_t>(std::count_if(salt.begin(), salt.end(), continues));
  if (characters > kMaxCharacters) {
    return base::invalid("cache_salt", "expected at most " + std::to_string(kMaxCharacters) +
                                           " characters, found " + std::to_string(characters));
  }
  for (const char c : salt) {
    if (c == '@' || c == '/' || c == '\\' || c == '\0')
      return base::invalid("cache_salt", R"(expected none of "@", "/", "\", NUL)");
  }
  return {};
}

std::string abort_body(std::string_view request_id) {
  json::Writer w;
  w.begin_object().key("request_ids").begin_array();
  w.string("generate-tokens-" + std::string(request_id)).end_array().end_object();
  return w.take();
}

}  // namespace verbatim::engine::vllm
