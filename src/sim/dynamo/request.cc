#include "sim/dynamo/request.h"

#include <algorithm>
#include <array>
#include <utility>

#include "json/value.h"
#include "sim/chatml.h"
#include "sim/dynamo/errors.h"

namespace verbatim::sim::dynamo {
namespace {

using base::Error;
using base::Result;
using base::Status;
using json::Value;

// Chat Completions, what Dynamo adds, and what it passes through.
constexpr std::string_view kRootKeys[] = {"model",
                                          "messages",
                                          "stream",
                                          "stream_options",
                                          "max_tokens",
                                          "max_completion_tokens",
                                          "temperature",
                                          "top_p",
                                          "n",
                                          "stop",
                                          "seed",
                                          "logprobs",
                                          "top_logprobs",
                                          "logit_bias",
                                          "presence_penalty",
                                          "frequency_penalty",
                                          "response_format",
                                          "tools",
                                          "tool_choice",
                                          "parallel_tool_calls",
                                          "user",
                                          "metadata",
                                          "store",
                                          "service_tier",
                                          "reasoning_effort",
                                          "prompt_cache_key",
                                          "web_search_options",
                                          "modalities",
                                          "prediction",
                                          "audio",
                                          "nvext",
                                          "ignore_eos",
                                          "min_tokens",
                                          "top_k",
                                          "min_p",
                                          "repetition_penalty",
                                          "include_stop_str_in_output",
                                          "guided_json",
                                          "guided_regex",
                                          "guided_grammar",
                                          "guided_choice",
                                          "guided_decoding_backend",
                                          "guided_whitespace_pattern",
                                          "skip_special_tokens",
                                          "prompt_logprobs",
                                          "chat_template_args",
                                          "chat_template_kwargs",
                                          "thinking",
                                          "media_io_kwargs",
                                          "mm_processor_kwargs",
                                          "return_tokens_as_token_ids",
                                          "cache_salt",
                                          "stop_token_ids",
                                          "detokenize",
                                          "allowed_token_ids",
                                          "bad_words_token_ids",
                                          "logprob_token_ids"};
// Since 1.5.
constexpr std::string_view kNewRootKeys[] = {"add_generation_prompt", "continue_final_message"};

constexpr std::array<std::string_view, 17> kNvextKeys = {
    "greed_sampling",  "use_raw_prompt",      "annotations",          "backend_instance_id",
    "token_data",      "max_thinking_tokens", "cache_salt",           "extra_fields",
    "metadata_upload", "prefill_worker_id",   "decode_worker_id",     "dp_rank",
    "prefill_dp_rank", "agent_hints",         "request_timestamp_ms", "routing_constraints",
    "router"};

template <class Names>
bool among(const Names& names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

std::string quoted(std::string_view name) {
  return "`" + std::string(name) + "`";
}

// "integer `-1`", "string "5"": a value as serde names it.
std::string unexpected(const Value& value) {
  switch (value.kind()) {
    case json::Kind::kString:
      return "string " + std::string(value.raw());
    case json::Kind::kNumber:
      return (value.written_as_integer() ? "integer `" : "floating point `") +
             std::string(value.raw()) + "`";
    case json::Kind::kBool:
      return "boolean `" + std::string(value.raw()) + "`";
    case json::Kind::kArray:
      return "sequence";
    case json::Kind::kObject:
      return "map";
    default:
      return "null";
  }
}

// What `value` is not; empty where it is a u32.
std::string no_u32(const Value& value) {
  if (!value.is_number() || !value.written_as_integer())
    return "invalid type: " + unexpected(value) + ", expected u32";
  const auto number = value.integer();
  if (number && *number >= 0 && *number <= UINT32_MAX) return {};
  return "invalid value: " + unexpected(value) + ", expected u32";
}

Result<std::optional<std::uint64_t>> u32(const Value& object, const char* name,
                                         std::string_view body) {
  const auto value = object.get(name);
  if (!value) return std::optional<std::uint64_t>();
  if (const auto wrong = no_u32(*value); !wrong.empty()) return wrong_type(wrong, body);
  return std::optional(static_cast<std::uint64_t>(*value->integer()));
}

Status read_ids(const Value& list, const std::string& place, std::string_view body, TokenIds& ids) {
  if (!list.is_array())
    return wrong_type("invalid type: " + unexpected(list) + ", expected a sequence", body);
  ids.reserve(list.size());
  for (const auto& member : list) {
    if (const auto wrong = no_u32(member.value); !wrong.empty()) {
      std::string where = place;
      if (!place.empty()) where.append("[").append(std::to_string(ids.size())).append("]: ");
      return wrong_type(where + wrong, body);
    }
    ids.push_back(static_cast<TokenId>(*member.value.integer()));
  }
  return {};
}

bool flag(const Value& object, const char* name) {
  const auto value = object.get(name);
  return value && value->is_bool() && value->boolean();
}

Result<json::Document> parse(std::string_view body) {
  auto document = json::Document::parse(std::string(body));
  if (!document.ok())
    return wrong_type(body.empty() ? "EOF while parsing a value" : "EOF while parsing an object",
                      body);
  if (!document->root().is_object())
    return wrong_type("invalid type: " + unexpected(document->root()) +
                          ", expected struct NvCreateChatCompletionRequest",
                      body);
  return document;
}

Status check_names(const Value& root, const Profile& profile) {
  std::string unknown;
  for (const auto& member : root) {
    const std::string name = member.name();
    if (name == "functions" || name == "function_call") {
      const char* other = name == "functions" ? "`tools`" : "`tool_choice`";
      return as_error(flat_error(501, "Validation: " + quoted(name) +
                                          " is deprecated. Please migrate to use " + other +
                                          " instead."));
    }
    const bool known =
        among(kRootKeys, name) || (profile.echoes_prompt && among(kNewRootKeys, name));
    if (!known) unknown += (unknown.empty() ? "" : ", ") + quoted(name);
  }
  return unknown.empty() ? Status() : invalid("Unsupported parameter(s): " + unknown);
}

Status check_messages(const Value& root, std::string_view body) {
  const auto messages = root.find("messages");
  if (!messages) return wrong_type("missing field `messages`", body);
  if (!messages->is_array())
    return wrong_type("invalid type: " + unexpected(*messages) + ", expected a sequence", body);
  constexpr std::string_view kRoles[] = {"developer", "system", "user",
                                         "assistant", "tool",   "function"};
  for (const auto& each : *messages) {
    const auto role = each.value.is_object() ? each.value.get("role") : std::nullopt;
    if (!role || !role->is_string()) return wrong_type("missing field `role`", body);
    if (among(kRoles, role->string())) continue;
    std::string known;
    for (const auto name : kRoles) known += (known.empty() ? "" : ", ") + quoted(name);
    return wrong_type("unknown variant " + quoted(role->string()) + ", expected one of " + known,
                      body);
  }
  return {};
}

Status check_model(const Value& root, std::string_view body) {
  const auto model = root.get("model");
  if (!model) return wrong_type("missing field `model`", body);
  if (!model->is_string())
    return wrong_type("invalid type: " + unexpected(*model) + ", expected a string", body);
  if (model->string().empty()) return invalid("Model cannot be empty");
  return {};
}

Status check_values(const Value& root) {
  const auto number = [&](const char* name) {
    const auto value = root.get(name);
    return value && value->is_number() ? value->number() : std::nullopt;
  };
  const auto raw = [&](const char* name) { return std::string(root.get(name)->raw()); };
  if (const auto t = number("temperature"); t && (*t < 0 || *t > 2))
    return invalid("Temperature must be between 0 and 2, got " + raw("temperature"));
  if (const auto p = number("top_p"); p && (*p < 0 || *p > 1))
    return invalid("Top_p must be between 0 and 1, got " + raw("top_p"));
  if (const auto k = number("top_logprobs"); k && *k > 20)
    return invalid("Top_logprobs must be between 0 and 20, got " + raw("top_logprobs"));
  if (const auto n = number("n"); n && (*n < 1 || *n > 128))
    return invalid("n must be between 1 and 128, got " + raw("n"));
  if (root.get("stream_options") && !flag(root, "stream"))
    return invalid("The 'stream_options' field is only allowed when 'stream' is set to true.");
  if (root.get("messages")->empty())
    return invalid("The 'messages' field cannot be empty. At least one message is required.");
  return {};
}

Status read_stops(const Value& root, Limits& limits) {
  const auto stop = root.get("stop");
  if (!stop) return {};
  if (stop->is_string()) {
    if (stop->string().empty()) return invalid("Stop sequence cannot be empty");
    limits.stop_strings.push_back(stop->string());
    return {};
  }
  if (!stop->is_array()) return invalid("Stop must be a string or a list");
  if (stop->empty()) return invalid("Stop sequences array cannot be empty");
  if (stop->size() > 32)
    return as_error(flat_error(
        400, "Maximum of 32 stop sequences allowed, got " + std::to_string(stop->size())));
  for (const auto& each : *stop) {
    if (each.value.is_string()) {
      limits.stop_strings.push_back(each.value.string());
    } else if (no_u32(each.value).empty()) {
      limits.stop_ids.push_back(static_cast<TokenId>(*each.value.integer()));
    }
  }
  return {};
}

// The names in `list`, or why it is none.
Result<std::vector<std::string>> names_in(const Value& object, const char* name,
                                          std::string_view body) {
  std::vector<std::string> names;
  const auto list = object.get(name);
  if (!list) return names;
  if (!list->is_array())
    return wrong_type("invalid type: " + unexpected(*list) + ", expected a sequence", body);
  for (const auto& each : *list) {
    if (each.value.is_string()) names.push_back(each.value.string());
  }
  return names;
}

Status check_nvext(const Value& nvext, std::string_view body) {
  if (!nvext.is_object())
    return wrong_type("invalid type: " + unexpected(nvext) + ", expected struct NvExt", body);
  for (const auto& member : nvext) {
    if (among(kNvextKeys, member.name())) continue;
    std::string known;
    for (const auto name : kNvextKeys) known += (known.empty() ? "" : ", ") + quoted(name);
    return wrong_type("unknown field " + quoted(member.name()) + ", expected one of " + known,
                      body);
  }
  return {};
}

Extras extras_of(const std::vector<std::string>& fields, const Profile& profile) {
  const auto asks = [&](std::string_view name) { return among(fields, name); };
  return {.worker_id = asks("worker_id"),
          .completion_ids = asks("completion_token_ids"),
          .timing = asks("timing"),
          .routed_experts = asks("routed_experts"),
          .engine_data = asks("engine_data"),
          .stop_reason = asks("stop_reason"),
          .prompt_ids = asks("prompt_token_ids") && profile.echoes_prompt};
}

// True: the prompt's ids came with it. Switched off, it is checked and dropped.
Result<bool> read_nvext(const Value& root, const FrontendFacts& frontend, std::string_view body,
                        Request& request) {
  const auto nvext = root.get("nvext");
  if (!nvext) return false;
  if (auto status = check_nvext(*nvext, body); !status.ok()) return std::move(status).error();
  TokenIds ids;
  const auto data = nvext->get("token_data");
  if (data) {
    if (auto status = read_ids(*data, "", body, ids); !status.ok())
      return std::move(status).error();
  }
  const auto fields = names_in(*nvext, "extra_fields", body);
  if (!fields.ok()) return fields.error();
  auto annotations = names_in(*nvext, "annotations", body);
  if (!annotations.ok()) return annotations.error();
  if (!frontend.nvext) return false;
  const bool beyond =
      std::any_of(ids.begin(), ids.end(), [&](TokenId id) { return id >= frontend.vocab_size; });
  if (frontend.profile.checks_vocabulary && beyond)
    return as_error(flat_error(400, "Invalid request"));
  request.extras = extras_of(*fields, frontend.profile);
  request.annotations = std::move(*annotations);
  request.call.prompt = std::move(ids);
  return data.has_value();
}

Status read_limits(const Value& root, std::string_view body, GenerateCall& call) {
  const auto max = u32(root, "max_tokens", body);
  if (!max.ok()) return max.error();
  const auto max_completion = u32(root, "max_completion_tokens", body);
  if (!max_completion.ok()) return max_completion.error();
  for (const auto& each : {*max, *max_completion}) {
    if (each == 0U) return invalid("Max tokens must be greater than 0, got 0");
  }
  call.limits.max_new_tokens = *max_completion ? **max_completion : max->value_or(UINT32_MAX);
  if (const auto ids = root.get("stop_token_ids")) {
    if (auto status = read_ids(*ids, "", body, call.limits.stop_ids); !status.ok()) return status;
  }
  return read_stops(root, call.limits);
}

void read_flags(const Value& root, Request& request) {
  GenerateCall& call = request.call;
  call.stream = flag(root, "stream");
  call.logprobs = flag(root, "logprobs");
  call.ignores_stop_id = flag(root, "ignore_eos");
  const auto skips = root.get("skip_special_tokens");
  call.skips_special = !skips || !skips->is_bool() || skips->boolean();
  request.names_ids = flag(root, "return_tokens_as_token_ids");
  request.keeps_stop_string = flag(root, "include_stop_str_in_output");
  if (const auto seed = root.get("seed"); seed && seed->is_number()) call.seed = seed->integer();
  if (const auto tops = root.get("top_logprobs"); tops && tops->is_number())
    request.top_logprobs = static_cast<std::uint64_t>(tops->integer().value_or(0));
  const auto options = root.get("stream_options");
  if (!options || !options->is_object()) return;
  request.include_usage = flag(*options, "include_usage");
  request.continuous_usage = flag(*options, "continuous_usage_stats");
}

void render(const Value& root, const FrontendFacts& frontend, TokenIds& prompt) {
  const auto tools = root.get("tools");
  const bool opens = !root.get("add_generation_prompt") || flag(root, "add_generation_prompt");
  const auto text =
      chatml(*root.get("messages"), tools && tools->is_array() ? &*tools : nullptr, opens);
  frontend.tokenizer.encode(text, prompt);
}

}  // namespace

Result<Request> read_chat(std::string_view body, const FrontendFacts& frontend) {
  const auto document = parse(body);
  if (!document.ok()) return document.error();
  const Value root = document->root();
  Request request;
  for (const auto& check : {check_model(root, body), check_messages(root, body)}) {
    if (!check.ok()) return check.error();
  }
  const auto given = read_nvext(root, frontend, body, request);
  if (!given.ok()) return given.error();
  const auto nvext = root.get("nvext");
  request.by_messages = !nvext || !nvext->get("token_data");
  for (const auto& check : {check_names(root, frontend.profile), check_values(root),
                            read_limits(root, body, request.call)}) {
    if (!check.ok()) return check.error();
  }
  if (root.get("model")->string() != frontend.model)
    return as_error(flat_error(404, "Model not found"));
  read_flags(root, request);
  if (!*given) render(root, frontend, request.call.prompt);
  return request;
}

namespace {

Error refused(std::string_view message) {
  return as_error(nested_error(400, "invalid_request_error", message));
}

Result<json::Document> parse_generate(std::string_view body) {
  auto document = json::Document::parse(std::string(body));
  if (document.ok() && document->root().is_object()) return document;
  return as_error(text_error(400,
                             "Failed to parse the request body as JSON: EOF while parsing an "
                             "object at line 1 column " +
                                 std::to_string(body.size())));
}

Status read_params(const Value& root, std::string_view body, Request& request) {
  const auto params = root.find("sampling_params");
  if (!params) return wrong_type("missing field `sampling_params`", body);
  if (!params->is_object())
    return wrong_type("sampling_params: sampling_params must be a JSON object", body);
  const auto max = u32(*params, "max_tokens", body);
  if (!max.ok()) return max.error();
  if (*max == 0U) return refused("sampling_params.max_tokens must be greater than 0.");
  GenerateCall& call = request.call;
  call.limits.max_new_tokens = max->value_or(UINT32_MAX);
  if (const auto ids = params->get("stop_token_ids")) {
    if (auto status = read_ids(*ids, "", body, call.limits.stop_ids); !status.ok()) return status;
  }
  if (const auto seed = params->get("seed"); seed && seed->is_number()) call.seed = seed->integer();
  call.ignores_stop_id = flag(*params, "ignore_eos");
  const auto logprobs = params->get("logprobs");
  call.logprobs = logprobs && logprobs->is_number();
  if (call.logprobs)
    request.top_logprobs = static_cast<std::uint64_t>(
        std::clamp<std::int64_t>(logprobs->integer().value_or(0), 0, 20));
  const auto prompt_logprobs = params->get("prompt_logprobs");
  if (prompt_logprobs && prompt_logprobs->is_number())
    return as_error(nested_error(500, "internal_error", "internal server error"));
  return {};
}

}  // namespace

Result<Request> read_generate(std::string_view body, const FrontendFacts& frontend) {
  const auto document = parse_generate(body);
  if (!document.ok()) return document.error();
  const Value root = document->root();
  Request request;
  const auto ids = root.find("token_ids");
  if (!ids) return wrong_type("missing field `token_ids`", body);
  if (auto status = read_ids(*ids, "token_ids", body, request.call.prompt); !status.ok())
    return std::move(status).error();
  if (auto status = read_params(root, body, request); !status.ok())
    return std::move(status).error();
  if (request.call.prompt.empty()) return refused("token_ids must contain at least one token ID.");
  if (flag(root, "stream"))
    return as_error(
        nested_error(501, "not_implemented",
                     "streaming (stream=true) is not implemented for /inference/v1/generate yet"));
  if (root.get("stream_options"))
    return refused("stream_options are only supported when stream=true.");
  const auto model = root.get("model");
  if (model && model->is_string() && model->string() != frontend.model)
    return as_error(nested_error(404, "not_found", "Model not found: " + model->string()));
  const auto rid = root.get("request_id");
  if (rid && rid->is_string()) request.call.rid = rid->string();
  return request;
}

}  // namespace verbatim::sim::dynamo
