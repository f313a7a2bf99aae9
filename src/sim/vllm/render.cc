#include "sim/vllm/render.h"

#include <utility>

#include "json/writer.h"
#include "sim/chatml.h"
#include "sim/spelling.h"
#include "sim/vllm/errors.h"

namespace verbatim::sim::vllm {
namespace {

using base::Result;
using base::Status;
using json::Value;

constexpr std::int64_t kLeftOutMaxTokens = 16;  // the default of SamplingParams

bool flag(const Value& object, std::string_view name, bool otherwise) {
  const auto value = object.get(name);
  return value && value->is_bool() ? value->boolean() : otherwise;
}

// The member as it was written, or `otherwise`.
std::string raw_or(const Value& object, std::string_view name, std::string_view otherwise) {
  const auto value = object.get(name);
  return std::string(value ? value->raw() : otherwise);
}

// As a float: 1 is 1.0.
std::string float_or(const Value& object, std::string_view name, std::string_view otherwise) {
  std::string text = raw_or(object, name, otherwise);
  return text.find_first_of(".eE") == std::string::npos ? text + ".0" : text;
}

void copy(json::Writer& w, const Value& chat, std::string_view name) {
  if (const auto value = chat.get(name)) w.key(name).raw(value->raw());
}

std::optional<std::int64_t> asked_tokens(const Value& chat) {
  for (const char* name : {"max_completion_tokens", "max_tokens"}) {
    const auto value = chat.get(name);
    if (value && value->is_number()) return value->integer();
  }
  return std::nullopt;
}

// {"json":...}: what constrains the output, or nothing.
struct Constraint {
  std::string name;
  std::string json;
};

std::string tag_format(std::string_view begin, std::string_view name, std::string_view end) {
  json::Writer w;
  std::string opening(begin);
  opening += R"({"name": ")";
  opening.append(name).append(R"(", "arguments": )");
  w.begin_object().field("type", "tag").field("begin", opening);
  w.key("content").begin_object().field("type", "json_schema").field("json_schema", true);
  w.field("style", "json").field("any_order", false).key("max_whitespace_cnt").null();
  w.key("excludes").begin_array().end_array().end_object().field("end", end).end_object();
  return w.take();
}

// tool_choice required or named: a structural tag, as a string of JSON.
std::string structural_tag(const Value& tools, bool stops_after_first) {
  json::Writer w;
  w.begin_object().field("type", "structural_tag").key("format").begin_object();
  w.field("type", "tags_with_separator").key("tags").begin_array();
  for (const auto& tool : tools) {
    const auto function = tool.value.is_object() ? tool.value.get("function") : std::nullopt;
    const auto name = function && function->is_object() ? function->get("name") : std::nullopt;
    if (!name || !name->is_string()) continue;
    w.raw(tag_format("<tool_call>\n", name->string(), "}\n</tool_call>"));
    w.raw(tag_format("<tool_call>", name->string(), "}</tool_call>"));
  }
  w.end_array().field("separator", "").field("at_least_one", true);
  w.field("stop_after_first", stops_after_first).end_object().end_object();
  std::string text;
  json::append_string(text, w.text());
  return text;
}

Constraint constraint_of(const Value& chat) {
  const auto given = chat.get("structured_outputs");
  if (given && given->is_object() && !given->empty()) {
    const auto first = *given->begin();
    return {first.name(), std::string(first.value.raw())};
  }
  const auto format = chat.get("response_format");
  const auto schema = format && format->is_object() ? format->get("json_schema") : std::nullopt;
  if (schema && schema->is_object() && schema->get("schema"))
    return {"json", std::string(schema->get("schema")->raw())};
  const auto tools = chat.get("tools"), choice = chat.get("tool_choice");
  const bool named = choice && choice->is_object();
  const bool required = choice && choice->is_string() && choice->string() == "required";
  if (tools && tools->is_array() && (named || required))
    return {"structural_tag", structural_tag(*tools, named)};
  return {};
}

void write_constraint(json::Writer& w, const Value& chat) {
  const Constraint constraint = constraint_of(chat);
  if (constraint.name.empty()) return;
  const auto put = [&](std::string_view name, std::string_view otherwise) {
    w.key(name).raw(constraint.name == name ? std::string_view(constraint.json) : otherwise);
  };
  w.key("structured_outputs").begin_object();
  for (const char* name : {"json", "regex", "choice", "grammar", "json_object"}) put(name, "null");
  w.field("disable_any_whitespace", false).field("disable_additional_properties", false);
  put("whitespace_pattern", "null");
  put("structural_tag", "null");
  w.key("_backend").null().field("_backend_was_auto", false).end_object();
}

void write_sampling(json::Writer& w, const Value& chat, std::size_t prompt,
                    const ServerFacts& server) {
  const bool stream = flag(chat, "stream", false);
  w.key("sampling_params").begin_object();
  copy(w, chat, "n");
  w.key("presence_penalty").raw(float_or(chat, "presence_penalty", "0.0"));
  w.key("frequency_penalty").raw(float_or(chat, "frequency_penalty", "0.0"));
  w.key("repetition_penalty").raw(float_or(chat, "repetition_penalty", "1.0"));
  w.key("temperature").raw(float_or(chat, "temperature", "0.6"));
  w.key("top_p").raw(float_or(chat, "top_p", "0.95")).key("top_k").raw(raw_or(chat, "top_k", "20"));
  w.key("min_p").raw(float_or(chat, "min_p", "0.0"));
  copy(w, chat, "seed");
  w.key("stop").raw(raw_or(chat, "stop", "[]"));
  w.key("stop_token_ids").raw(raw_or(chat, "stop_token_ids", "[]"));
  copy(w, chat, "ignore_eos");
  const auto left = static_cast<std::int64_t>(server.max_model_len - prompt);
  const std::int64_t max_tokens = asked_tokens(chat).value_or(left);
  if (max_tokens != kLeftOutMaxTokens) w.field("max_tokens", max_tokens);
  copy(w, chat, "min_tokens");
  if (flag(chat, "logprobs", false)) w.key("logprobs").raw(raw_or(chat, "top_logprobs", "0"));
  w.field("skip_special_tokens", false).field("output_kind", stream ? 1 : 2);
  w.field("skip_clone", true);
  write_constraint(w, chat);
  copy(w, chat, "logit_bias");
  if (const auto transfer = chat.get("kv_transfer_params"))
    w.key("extra_args").begin_object().key("kv_transfer_params").raw(transfer->raw()).end_object();
  w.key("bad_words").begin_array().end_array().field("skip_reading_prefix_cache", false);
  w.end_object();
}

void write_reasoning(json::Writer& w, const Value& chat, bool opens, bool continues) {
  const auto arguments = chat.get("chat_template_kwargs");
  const bool given = arguments && arguments->is_object();
  const bool thinks = !given || flag(*arguments, "enable_thinking", true);
  w.field("reasoning_ended", !thinks || continues).key("reasoning_parser_kwargs").begin_object();
  w.key("chat_template_kwargs").begin_object().field("cohere_format", "cmd4");
  if (given) {
    for (const auto& each : *arguments) w.key(each.name()).raw(each.value.raw());
  }
  w.field("add_generation_prompt", opens).field("continue_final_message", continues);
  w.end_object().end_object();
}

void write_stream(json::Writer& w, const Value& chat) {
  w.field("stream", flag(chat, "stream", false)).key("stream_options");
  const auto options = chat.get("stream_options");
  if (!options || !options->is_object()) {
    w.null();
    return;
  }
  w.begin_object().field("include_usage", flag(*options, "include_usage", false));
  w.field("continuous_usage_stats", flag(*options, "continuous_usage_stats", false)).end_object();
}

Status check_chat(const Value& chat, const ServerFacts& server) {
  const auto model = chat.get("model");
  if (model && model->is_string() && !model->string().empty() && model->string() != server.model)
    return refused(404, "NotFoundError", "model",
                   "The model `" + model->string() +
                       "` does not exist. Valid aliases: " + std::string(server.model) + ".");
  if (flag(chat, "continue_final_message", false) && flag(chat, "add_generation_prompt", false))
    return bad_request(
        std::nullopt,
        "Cannot set both `continue_final_message` and `add_generation_prompt` to True.");
  const auto messages = chat.find("messages");
  if (!messages || !messages->is_array()) {
    Problems problems;
    problems.missing("messages", chat);
    return problems.error();
  }
  if (messages->empty())
    return bad_request(std::nullopt,
                       "Cannot apply chat template to an empty conversation. Provide at least one "
                       "message.");
  return {};
}

Status check_window(std::size_t prompt, std::uint64_t max) {
  if (prompt < max) return {};
  const std::string found = std::to_string(prompt);
  return bad_request("input_tokens",
                     "This model's maximum context length is " + std::to_string(max) +
                         " tokens. However, your prompt contains at least " + found +
                         " input tokens, which exceeds this limit even without any output tokens. "
                         "Please reduce the length of the input prompt. (parameter=input_tokens, "
                         "value=" +
                         found + ")");
}

void write_offsets(json::Writer& w, const std::vector<std::uint32_t>& begins, std::size_t end) {
  w.begin_array();
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const auto next = i + 1 < begins.size() ? begins[i + 1] : static_cast<std::uint32_t>(end);
    w.begin_array().unsigned_integer(begins[i]).unsigned_integer(next).end_array();
  }
  w.end_array();
}

}  // namespace

Result<std::string> render_chat(std::string_view body, std::string_view header_id,
                                const std::string& id, const ServerFacts& server) {
  const auto document = parse_body(body);
  if (!document.ok()) return document.error();
  const Value chat = document->root();
  if (auto status = check_chat(chat, server); !status.ok()) return std::move(status).error();
  const bool continues = flag(chat, "continue_final_message", false);
  const bool opens = flag(chat, "add_generation_prompt", !continues);
  const auto tools = chat.get("tools");
  const std::string text =
      chatml(*chat.get("messages"), tools && tools->is_array() ? &*tools : nullptr, opens);
  TokenIds ids;
  std::vector<std::uint32_t> begins;
  server.tokenizer.encode(text, {}, ids, &begins);
  if (auto status = check_window(ids.size(), server.max_model_len); !status.ok())
    return std::move(status).error();
  const auto named = chat.get("request_id");
  const std::string rid = !header_id.empty()            ? std::string(header_id)
                          : named && named->is_string() ? named->string()
                                                        : id;
  json::Writer w;
  w.begin_object().field("request_id", "chatcmpl-" + rid);
  w.key("token_ids").raw("[" + joined(ids) + "]").key("token_offsets");
  if (flag(chat, "return_token_offsets", false)) {
    write_offsets(w, begins, text.size());
  } else {
    w.null();
  }
  w.key("features").null().key("content_parts").null();
  write_sampling(w, chat, ids.size(), server);
  w.field("model", server.model);
  write_reasoning(w, chat, opens, continues);
  w.key("return_token_ids").null().field("output_mode", "tokens");
  write_stream(w, chat);
  w.key("cache_salt").raw(raw_or(chat, "cache_salt", "null"));
  w.key("priority").raw(raw_or(chat, "priority", "0"));
  w.key("kv_transfer_params").null().key("ec_transfer_params").null().end_object();
  return w.take();
}

}  // namespace verbatim::sim::vllm
