#include "sim/sglang/request.h"

#include <algorithm>
#include <array>

#include "json/value.h"
#include "sim/chatml.h"

namespace verbatim::sim::sglang {
namespace {

using base::Result;
using base::Status;
using json::Value;

constexpr std::array<std::string_view, 21> kRequestKeys = {"rid",
                                                           "input_ids",
                                                           "text",
                                                           "sampling_params",
                                                           "return_logprob",
                                                           "logprob_start_len",
                                                           "top_logprobs_num",
                                                           "token_ids_logprob",
                                                           "return_text_in_logprobs",
                                                           "return_prompt_token_ids",
                                                           "stream",
                                                           "return_hidden_states",
                                                           "return_routed_experts",
                                                           "routed_experts_start_len",
                                                           "priority",
                                                           "extra_key",
                                                           "session_id",
                                                           "lora_path",
                                                           "no_logs",
                                                           "log_metrics",
                                                           "custom_labels"};

constexpr std::array<std::string_view, 25> kSamplingKeys = {"max_new_tokens",
                                                            "min_new_tokens",
                                                            "temperature",
                                                            "top_p",
                                                            "top_k",
                                                            "min_p",
                                                            "frequency_penalty",
                                                            "presence_penalty",
                                                            "repetition_penalty",
                                                            "stop",
                                                            "stop_token_ids",
                                                            "stop_regex",
                                                            "ignore_eos",
                                                            "skip_special_tokens",
                                                            "spaces_between_special_tokens",
                                                            "no_stop_trim",
                                                            "n",
                                                            "json_schema",
                                                            "regex",
                                                            "ebnf",
                                                            "structural_tag",
                                                            "custom_params",
                                                            "stream_interval",
                                                            "logit_bias",
                                                            "sampling_seed"};

base::Error refused(const std::string& field, const std::string& what) {
  return base::invalid(field, field + ": " + what);
}

// Stricter than the server: a misspelt key must not pass unseen in tests.
template <std::size_t N>
Status known_keys(const Value& object, const std::array<std::string_view, N>& keys,
                  std::string_view newer = {}) {
  for (const auto& member : object) {
    const std::string key = member.name();
    if (key != newer && std::find(keys.begin(), keys.end(), key) == keys.end())
      return refused(key, "unexpected keyword argument");
  }
  return {};
}

Result<std::uint64_t> count(const Value& object, const char* key, std::uint64_t otherwise) {
  const auto value = object.get(key);
  if (!value) return otherwise;
  const auto number =
      value->is_number() && value->written_as_integer() ? value->integer() : std::nullopt;
  if (!number || *number < 0) return refused(key, "expected a count");
  return static_cast<std::uint64_t>(*number);
}

Result<bool> flag(const Value& object, const char* key, bool otherwise) {
  const auto value = object.get(key);
  if (!value) return otherwise;
  if (!value->is_bool()) return refused(key, "expected a boolean");
  return value->boolean();
}

bool says_true(const Value& object, const char* key) {
  const auto value = object.get(key);
  return value && value->is_bool() && value->boolean();
}

Status read_ids(const std::optional<Value>& list, const char* key, std::uint64_t vocab_size,
                TokenIds& ids) {
  if (!list) return {};
  if (!list->is_array()) return refused(key, "expected a list of ids");
  ids.reserve(list->size());
  for (const auto& member : *list) {
    const Value& value = member.value;
    const auto id =
        value.is_number() && value.written_as_integer() ? value.integer() : std::nullopt;
    if (!id || *id < 0 || static_cast<std::uint64_t>(*id) >= vocab_size)
      return refused(key, "found " + std::string(value.raw()) + ", expected an id below " +
                              std::to_string(vocab_size));
    ids.push_back(static_cast<TokenId>(*id));
  }
  return {};
}

Status read_stops(const Value& params, std::vector<std::string>& stops) {
  const auto stop = params.get("stop");
  if (!stop) return {};
  if (stop->is_string()) {
    stops.push_back(stop->string());
    return {};
  }
  if (!stop->is_array()) return refused("stop", "expected a string or a list");
  for (const auto& member : *stop) {
    if (!member.value.is_string()) return refused("stop", "expected strings");
    stops.push_back(member.value.string());
  }
  return {};
}

Status read_params(const Value& params, std::uint64_t vocab_size, GenerateCall& call) {
  if (!params.is_object()) return refused("sampling_params", "expected an object");
  if (auto status = known_keys(params, kSamplingKeys); !status.ok()) return status;
  const auto max_new = count(params, "max_new_tokens", call.limits.max_new_tokens);
  if (!max_new.ok()) return max_new.error();
  call.limits.max_new_tokens = *max_new;
  const auto n = count(params, "n", 1);
  if (!n.ok()) return n.error();
  if (*n == 0 || *n > 16) return refused("n", "expected 1 to 16");
  call.samples = *n;
  const auto skips = flag(params, "skip_special_tokens", true);
  if (!skips.ok()) return skips.error();
  call.skips_special = *skips;
  if (const auto seed = params.get("sampling_seed")) {
    call.seed = seed->is_number() ? seed->integer() : std::nullopt;
    if (!call.seed) return refused("sampling_seed", "expected an integer");
  }
  if (auto status = read_ids(params.get("stop_token_ids"), "stop_token_ids", vocab_size,
                             call.limits.stop_ids);
      !status.ok())
    return status;
  return read_stops(params, call.limits.stop_strings);
}

// The two routes say the same under names of their own.
struct Names {
  const char* logprobs;
  const char* tops;
};

Status read_flags(const Value& root, const Names& names, GenerateCall& call) {
  for (const auto& [key, into] :
       {std::pair("stream", &call.stream), std::pair(names.logprobs, &call.logprobs),
        std::pair("return_prompt_token_ids", &call.echoes_prompt)}) {
    const auto value = flag(root, key, false);
    if (!value.ok()) return value.error();
    *into = *value;
  }
  const auto tops = count(root, names.tops, 0);
  if (!tops.ok()) return tops.error();
  call.top_logprobs = std::min<std::uint64_t>(*tops, 64);
  return {};
}

Result<json::Document> parse_object(std::string_view body) {
  auto document = json::Document::parse(std::string(body));
  if (!document.ok()) return std::move(document).error();
  if (!document->root().is_object()) return refused("body", "expected an object");
  return document;
}

// Of a chat: its ids, where the release takes any, else its messages.
Status read_prompt(const Value& root, const ServerFacts& server, TokenIds& prompt) {
  const auto messages = root.get("messages");
  if (!messages || !messages->is_array() || messages->empty())
    return refused("messages", "expected at least one message");
  const auto ids = root.get("input_ids");
  if (ids && server.profile.chat_takes_ids) {
    auto status = read_ids(ids, "input_ids", server.vocab_size, prompt);
    if (!status.ok() || !prompt.empty()) return status;
    return refused("input_ids", "expected at least one id");
  }
  const auto tools = root.get("tools");
  const auto text = chatml(*messages, tools && tools->is_array() ? &*tools : nullptr, true);
  server.tokenizer.encode(text, prompt);
  return {};
}

}  // namespace

Result<GenerateCall> read_generate(std::string_view body, const ServerFacts& server) {
  auto document = parse_object(body);
  if (!document.ok()) return std::move(document).error();
  const Value root = document->root();
  const std::string_view newer = server.profile.takes_salt ? "cache_salt" : "";
  if (auto status = known_keys(root, kRequestKeys, newer); !status.ok())
    return std::move(status).error();
  GenerateCall call;
  if (const auto rid = root.get("rid")) {
    if (!rid->is_string()) return refused("rid", "expected a string");
    call.rid = rid->string();
  }
  if (auto status = read_ids(root.get("input_ids"), "input_ids", server.vocab_size, call.prompt);
      !status.ok())
    return std::move(status).error();
  if (call.prompt.empty()) return refused("input_ids", "expected at least one id");
  if (auto status = read_flags(root, {"return_logprob", "top_logprobs_num"}, call); !status.ok())
    return std::move(status).error();
  if (const auto params = root.get("sampling_params")) {
    if (auto status = read_params(*params, server.vocab_size, call); !status.ok())
      return std::move(status).error();
  }
  return call;
}

Result<ChatCall> read_chat(std::string_view body, const ServerFacts& server) {
  auto document = parse_object(body);
  if (!document.ok()) return std::move(document).error();
  const Value root = document->root();
  ChatCall chat;
  GenerateCall& call = chat.call;
  if (const auto rid = root.get("rid"); rid && rid->is_string()) call.rid = rid->string();
  if (auto status = read_prompt(root, server, call.prompt); !status.ok())
    return std::move(status).error();
  if (auto status = read_flags(root, {"logprobs", "top_logprobs"}, call); !status.ok())
    return std::move(status).error();
  if (call.stream) return refused("stream", "not together with what was asked for");
  const bool knows = server.profile.chat_takes_ids;
  call.echoes_prompt = call.echoes_prompt && knows;
  chat.tells_meta = knows && says_true(root, "return_meta_info");
  chat.names_ids = server.profile.chat_names_ids && says_true(root, "return_token_ids");
  const auto max_new = count(root, "max_tokens", call.limits.max_new_tokens);
  if (!max_new.ok()) return max_new.error();
  call.limits.max_new_tokens = *max_new;
  if (const auto seed = root.get("seed"); seed && seed->is_number()) call.seed = seed->integer();
  if (auto status = read_ids(root.get("stop_token_ids"), "stop_token_ids", server.vocab_size,
                             call.limits.stop_ids);
      !status.ok())
    return std::move(status).error();
  if (auto status = read_stops(root, call.limits.stop_strings); !status.ok())
    return std::move(status).error();
  return chat;
}

Result<AbortCall> read_abort(std::string_view body) {
  auto document = parse_object(body);
  if (!document.ok()) return std::move(document).error();
  const Value root = document->root();
  AbortCall call;
  if (const auto rid = root.get("rid")) {
    if (!rid->is_string()) return refused("rid", "expected a string");
    call.rid = rid->string();
  }
  const auto all = flag(root, "abort_all", false);
  if (!all.ok()) return all.error();
  call.all = *all;
  return call;
}

}  // namespace verbatim::sim::sglang
