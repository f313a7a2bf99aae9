#include "engine/vllm/derender_wire.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/fields.h"
#include "engine/parsed_message.h"
#include "engine/request_fields.h"
#include "engine/upstream.h"
#include "engine/vllm/request_builder.h"
#include "json/writer.h"

namespace verbatim::engine::vllm {
namespace {

using base::Result;
using json::Value;

// vLLM's RequestOutputKind: everything at the end.
constexpr int kFinalOnly = 2;
constexpr const char* kMessage = "choices[0].message";

template <std::size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Of a call that samples nothing: an error object in its 200 is a broken answer, whatever status
// that object names.
base::Error error_in_good(const Value& body) {
  base::Error error = reported_error(body);
  error.upstream = nullptr;
  return error;
}

}  // namespace

Result<std::string> render_body(const Value& chat, std::string_view model) {
  static constexpr std::array<std::string_view, 7> kForced = {
      "model", "stream", "stream_options", "logprobs", "top_logprobs", "priority", "cache_salt"};
  const auto asked = member_in(chat, "model");
  if (!asked || !asked->is_string() || asked->string().empty()) {
    return base::invalid("model", "found " + found(asked) +
                                      ", expected the name of the model: an engine in mode "
                                      "derender is asked for it by name");
  }
  json::Writer w;
  w.begin_object();
  w.field("model", model.empty() ? asked->string() : std::string(model));
  for (const auto& member : chat) {
    const std::string name = member.name();
    if (!is_one_of(name, kForced)) w.key(name).raw(member.value.raw());
  }
  // Without these, every turn would come back without logprobs; null is none too.
  w.field("logprobs", true).key("top_logprobs");
  const auto tops = member_in(chat, "top_logprobs");
  tops ? w.raw(tops->raw()) : w.integer(0);
  w.field("stream", false).end_object();
  return w.take();
}

RenderSkew skew_of(const Value& rendered, const TokenRequest& request) {
  RenderSkew skew;
  skew.sent = request.prompt_size();
  const auto ids = member_in(rendered, "token_ids");
  if (!ids || !ids->is_array()) return skew;
  skew.rendered = ids->size();
  auto at = ids->begin();
  for (const auto& piece : request.prompt) {
    for (const TokenId id : piece) {
      if (at == ids->end() || !is_id((*at).value, id)) return skew;
      ++skew.common;
      ++at;
    }
  }
  return skew;
}

Result<std::vector<TokenId>> resolved_stops(const Value& rendered, const TokenRequest& request) {
  constexpr const char* kField = "sampling_params.stop_token_ids";
  if (is_error_body(rendered)) return error_in_good(rendered);
  std::vector<TokenId> stops = stop_ids(request);
  const auto sampling = member_in(rendered, "sampling_params");
  const auto list = sampling ? member_in(*sampling, "stop_token_ids") : std::nullopt;
  if (!list) return stops;
  constexpr std::size_t kMost = 1024;
  if (!list->is_array() || list->size() > kMost)
    return malformed(kField, found(*list), "at most " + std::to_string(kMost) + " token ids");
  for (const auto& stop : *list) {
    const auto id = count_of(stop.value);
    if (!id || *id > UINT32_MAX) return malformed(kField, found(stop.value), "a token id");
    const auto known = static_cast<TokenId>(*id);
    if (std::find(stops.begin(), stops.end(), known) == stops.end()) stops.push_back(known);
  }
  return stops;
}

Result<std::string> generate_body(const Value& rendered, const TokenRequest& request,
                                  const std::vector<TokenId>& stops, std::string_view model) {
  static constexpr std::array<std::string_view, 4> kOurs = {"max_tokens", "output_kind",
                                                            "stop_token_ids", "logprobs"};
  static constexpr std::array<std::string_view, 4> kCarried = {
      "kv_transfer_params", "ec_transfer_params", "reasoning_ended", "reasoning_parser_kwargs"};
  const auto sampling = member_in(rendered, "sampling_params");
  if (!sampling || !sampling->is_object())
    return malformed("sampling_params", found(sampling), "the resolved sampling parameters");
  if (member_in(rendered, "features")) {
    return base::error(base::ErrorKind::kUnsupported,
                       "the engine rendered images or sound (features), which this build does not "
                       "carry");
  }
  std::string body;
  body.reserve(bytes_for_prompt(request) + sampling->raw().size());
  body += "{\"request_id\":";
  json::append_string(body, request.request_id);
  body += ",\"model\":";
  json::append_string(body, model);
  body += ",\"token_ids\":[";
  append_ids(body, request.prompt);
  body += "],\"sampling_params\":";
  json::Writer w;
  w.begin_object();
  for (const auto& member : *sampling) {
    const std::string name = member.name();
    if (!is_one_of(name, kOurs)) w.key(name).raw(member.value.raw());
  }
  w.field("max_tokens", request.max_new_tokens).field("output_kind", kFinalOnly);
  w.field("logprobs", logprobs_asked(Route::kGenerate, request.sampling));
  write_ids(w, "stop_token_ids", stops);
  w.end_object();
  body += w.text();
  for (const auto& member : rendered) {
    const std::string name = member.name();
    if (!is_one_of(name, kCarried) || member.value.is_null()) continue;
    body += ',';
    json::append_string(body, name);
    body += ':';
    body += member.value.raw();
  }
  append_scheduling(body, request.sampling);
  body += ",\"stream\":false}";
  return body;
}

TokenIdSpan without_stop(TokenIdSpan ids, const std::vector<TokenId>& stops) {
  const bool stopped =
      !ids.empty() && std::find(stops.begin(), stops.end(), ids.back()) != stops.end();
  return stopped ? ids.first(ids.size() - 1) : ids;
}

std::string derender_body(const TokenRequest& request, std::string_view chat, TokenIdSpan ids,
                          const EngineFinish& finish, std::string_view model) {
  std::string body = "{\"model\":";
  json::append_string(body, model);
  body += ",\"generate_response\":{\"request_id\":";
  json::append_string(body, request.request_id);
  body += ",\"choices\":[{\"index\":0,\"logprobs\":null,\"finish_reason\":";
  json::append_string(body, finish.raw);
  body += ",\"token_ids\":[";
  append_ids(body, {{ids}});
  body += "]}],\"prompt_logprobs\":null,\"kv_transfer_params\":null},\"prompt_tokens\":";
  body += std::to_string(request.prompt_size());
  body.append(",\"chat_request\":").append(chat).append(",\"stream\":false}");
  return body;
}

Result<message::Message> read_message(const Value& root) {
  if (is_error_body(root)) return error_in_good(root);
  const auto choices = member_in(root, "choices");
  if (!choices || !choices->is_array() || choices->size() != 1)
    return malformed("choices", found(choices), "an array of one choice");
  const auto said = member_in((*choices->begin()).value, "message");
  if (!said || !said->is_object()) return malformed(kMessage, found(said), "an object");
  return read_parsed_message(*said, kMessage);
}

}  // namespace verbatim::engine::vllm
