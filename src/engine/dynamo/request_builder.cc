#include "engine/dynamo/request_builder.h"

#include <cmath>
#include <limits>
#include <optional>

#include "engine/request_fields.h"
#include "json/writer.h"

namespace verbatim::engine::dynamo {
namespace {

using base::Status;
using message::Sampling;

constexpr std::size_t kMaxStopIds = 32;

// A parameter's name and range here and there; what is absent is not sent.
struct Range {
  const char* field;
  std::optional<double> Sampling::* value;
  double least;
  double most;
};
constexpr Range kRanges[] = {
    {"temperature", &Sampling::temperature, 0, 2},
    {"top_p", &Sampling::top_p, 0, 1},
    {"min_p", &Sampling::min_p, 0, 1},
    {"frequency_penalty", &Sampling::frequency_penalty, -2, 2},
    {"presence_penalty", &Sampling::presence_penalty, -2, 2},
    {"repetition_penalty", &Sampling::repetition_penalty, 0, 2},
};

std::string shortest(double value) {
  std::string text;
  if (!std::isfinite(value)) return std::to_string(value);
  json::append_double(text, value);
  return text;
}

Status check_range(const Range& range, double value) {
  if (value >= range.least && value <= range.most) return {};
  return base::invalid(range.field, "found " + shortest(value) + ", expected a number from " +
                                        shortest(range.least) + " to " + shortest(range.most));
}

void write_ranges(json::Writer& w, const Sampling& s) {
  for (const Range& range : kRanges) {
    optional_field(w, range.field, s.*range.value);
  }
  optional_field(w, "top_k", s.top_k);
  optional_field(w, "seed", s.seed);
}

void write_sampling(json::Writer& w, const TokenRequest& request) {
  const Sampling& s = request.sampling;
  w.field("max_completion_tokens", request.max_new_tokens);
  write_ranges(w, s);
  if (const auto ids = stop_ids(request); !ids.empty()) write_ids(w, "stop_token_ids", ids);
  w.field("skip_special_tokens", false);
  w.field("logprobs", true).field("return_tokens_as_token_ids", true);
  // Left out, it is 1. With 0, releases before 1.5 gave no logprobs at all.
  if (s.logprobs && s.top_logprobs > 0) w.field("top_logprobs", std::uint64_t{s.top_logprobs});
}

}  // namespace

std::string chat_body(const TokenRequest& request) {
  json::Writer w;
  w.begin_object().field("model", request.model);
  w.key("messages").begin_array().begin_object();
  w.field("role", "user").field("content", "").end_object().end_array();
  w.field("stream", true).key("stream_options").begin_object();
  w.field("include_usage", true).field("continuous_usage_stats", true).end_object();
  write_sampling(w, request);
  std::string body;
  body.reserve(bytes_for_prompt(request));
  body += w.text();
  body += R"(,"nvext":{"extra_fields":["engine_data","completion_token_ids","stop_reason"],)";
  body += R"("token_data":[)";
  append_ids(body, request.prompt);
  body += ']';
  const Sampling& s = request.sampling;
  if (!s.cache_salt.empty()) {
    body += ",\"cache_salt\":";
    json::append_string(body, s.cache_salt);
  }
  // Higher is sooner here too: the frontend turns it round for the workers that want it.
  if (s.priority != 0) body += ",\"agent_hints\":{\"priority\":" + std::to_string(s.priority) + "}";
  body += "}}";
  return body;
}

std::string generate_body(const TokenRequest& request) {
  const Sampling& s = request.sampling;
  json::Writer w;
  w.begin_object().field("max_tokens", request.max_new_tokens);
  write_ranges(w, s);
  if (const auto ids = stop_ids(request); !ids.empty()) write_ids(w, "stop_token_ids", ids);
  w.field("logprobs", vllm::logprobs_asked(vllm::Route::kGenerate, s)).end_object();
  std::string body;
  body.reserve(bytes_for_prompt(request));
  body += "{\"request_id\":";
  json::append_string(body, request.request_id);
  body += ",\"model\":";
  json::append_string(body, request.model);
  body += ",\"token_ids\":[";
  append_ids(body, request.prompt);
  body.append("],\"sampling_params\":").append(w.text());
  vllm::append_scheduling(body, s);
  return body += '}';
}

Status check_sampling(const Sampling& s, std::uint64_t vocab_size) {
  for (const Range& range : kRanges) {
    const auto& value = s.*range.value;
    if (!value) continue;
    if (auto status = check_range(range, *value); !status.ok()) return status;
  }
  if (s.top_k && *s.top_k > std::numeric_limits<std::int32_t>::max())
    return base::invalid("top_k", "found " + std::to_string(*s.top_k) + ", expected 32 bits");
  if (s.stop_token_ids.size() > kMaxStopIds) {
    return base::invalid("stop_token_ids", "found " + std::to_string(s.stop_token_ids.size()) +
                                               " ids, expected at most " +
                                               std::to_string(kMaxStopIds));
  }
  return engine::check_sampling(s, vocab_size);
}

Status check_stop_ids(const TokenRequest& request) {
  const std::size_t count = stop_ids(request).size();
  if (count <= kMaxStopIds) return {};
  return base::invalid("stop_token_ids", "found " + std::to_string(count) +
                                             " ids with those of the model's family, expected at "
                                             "most " +
                                             std::to_string(kMaxStopIds));
}

}  // namespace verbatim::engine::dynamo
