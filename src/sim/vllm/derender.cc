#include "sim/vllm/derender.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "chat/parsers/token_parser.h"
#include "json/dumps.h"
#include "json/writer.h"
#include "sim/ranked.h"
#include "sim/vllm/errors.h"
#include "sim/vllm/tokens.h"

namespace verbatim::sim::vllm {
namespace {

using base::Result;
using base::Status;
using json::Value;

constexpr std::string_view kThink = "<think>", kThinkEnd = "</think>", kCall = "<tool_call>";

struct Call {
  std::string name;
  std::string arguments;
  bool complete = false;
};

// What the chat request says about parsing.
struct ChatFacts {
  bool thinks = true;
  bool names_reasoning = true;  // include_reasoning
  bool forces_call = false;     // tool_choice is required or a function
};

struct Message {
  std::optional<std::string> reasoning;
  std::string content;
  std::vector<Call> calls;
};

ChatFacts chat_facts(const Value& chat) {
  ChatFacts facts;
  const auto arguments = chat.get("chat_template_kwargs");
  const auto thinking =
      arguments && arguments->is_object() ? arguments->get("enable_thinking") : std::nullopt;
  if (thinking && thinking->is_bool()) facts.thinks = thinking->boolean();
  const auto reasoning = chat.get("include_reasoning");
  if (reasoning && reasoning->is_bool()) facts.names_reasoning = reasoning->boolean();
  const auto choice = chat.get("tool_choice");
  facts.forces_call =
      choice && (choice->is_object() || (choice->is_string() && choice->string() == "required"));
  return facts;
}

std::vector<Call> calls_in(const TokenIds& ids, const tokenizer::Tokenizer& tokenizer,
                           std::optional<TokenId> stop_id, message::FinishReason finish) {
  const auto* grammar = chat::parsers::grammar_named("hermes");
  const TokenIds end_ids = stop_id ? TokenIds{*stop_id} : TokenIds{};
  const chat::parsers::TokenMarkers markers(tokenizer, *grammar, end_ids);
  chat::parsers::TokenParser parser(markers, {.reasoning_open = false, .tools = true});
  message::Events events;
  parser.feed(ids, events);
  (void)parser.finish(finish, events);
  std::vector<Call> calls;
  for (const auto& event : events) {
    if (const auto* start = std::get_if<message::ToolCallStart>(&event))
      calls.push_back({start->name, {}, false});
    if (const auto* more = std::get_if<message::ToolCallArguments>(&event))
      calls[more->index].arguments += more->text;
    if (const auto* end = std::get_if<message::ToolCallEnd>(&event))
      calls[end->index].complete = true;
  }
  std::erase_if(calls, [](const Call& call) { return !call.complete; });
  return calls;
}

// Before the close tag all is reasoning, whether it was opened or not; a call ends it too.
void split_reasoning(std::string_view text, Message& message) {
  const std::size_t close = text.find(kThinkEnd), call = text.find(kCall);
  const std::size_t end = std::min(close, call);
  std::string_view reasoning = text.substr(0, end);
  if (reasoning.starts_with(kThink)) reasoning.remove_prefix(kThink.size());
  if (!reasoning.empty()) message.reasoning = reasoning;
  if (end == std::string_view::npos) return;
  message.content = text.substr(end == close ? end + kThinkEnd.size() : end);
}

Message parse(const TokenIds& ids, const tokenizer::Tokenizer& tokenizer, const ChatFacts& facts,
              std::optional<TokenId> stop_id, bool cut) {
  Message message;
  message.calls = calls_in(ids, tokenizer, stop_id,
                           cut ? message::FinishReason::kLength : message::FinishReason::kStop);
  TokenIds shown = ids;
  const bool leaks = !facts.thinks && message.calls.empty();
  if (!leaks && stop_id && !shown.empty() && shown.back() == *stop_id) shown.pop_back();
  const std::string text = tokenizer.decode(shown);
  if (facts.thinks) {
    split_reasoning(text, message);
  } else {
    message.content = text;
  }
  if (!message.calls.empty()) message.content.resize(message.content.find(kCall));
  if (!facts.names_reasoning) message.reasoning.reset();
  return message;
}

void write_message(json::Writer& w, const Message& message, const ChatFacts& facts,
                   const DerenderSetup& setup) {
  w.begin_object().field("role", "assistant").key("content");
  message.content.empty() && !facts.forces_call ? w.null() : w.string(message.content);
  for (const char* name : {"refusal", "annotations", "audio", "function_call"}) w.key(name).null();
  if (!message.calls.empty()) {
    w.key("tool_calls").begin_array();
    for (const auto& call : message.calls) {
      const auto arguments = json::Document::parse(call.arguments);
      w.begin_object().field("id", setup.draw_id()).field("type", "function");
      w.key("function").begin_object().field("name", call.name);
      w.field("arguments", arguments.ok() ? json::dumps(arguments->root()) : call.arguments);
      w.end_object().end_object();
    }
    w.end_array();
  }
  w.key("reasoning");
  message.reasoning ? w.string(*message.reasoning) : w.null();
  w.end_object();
}

void write_token(json::Writer& w, const Value& entry, const tokenizer::Tokenizer& tokenizer) {
  const auto id = entry.get("token_id");
  const auto text = token_text(tokenizer, static_cast<TokenId>(id ? *id->integer() : 0));
  const auto logprob = entry.get("logprob");
  w.field("token", text).key("logprob").raw(logprob ? logprob->raw() : "null");
  w.key("bytes").raw(bytes_json(text));
}

void write_logprobs(json::Writer& w, const Value& choice, const tokenizer::Tokenizer& tokenizer) {
  const auto logprobs = choice.get("logprobs");
  const auto content = logprobs && logprobs->is_object() ? logprobs->get("content") : std::nullopt;
  if (!content || !content->is_array()) {
    w.null();
    return;
  }
  w.begin_object().key("content").begin_array();
  for (const auto& each : *content) {
    w.begin_object();
    write_token(w, each.value, tokenizer);
    w.key("top_logprobs").begin_array();
    if (const auto tops = each.value.get("top_logprobs")) {
      for (const auto& top : *tops) {
        w.begin_object();
        write_token(w, top.value, tokenizer);
        w.end_object();
      }
    }
    w.end_array().end_object();
  }
  w.end_array().end_object();
}

Status check_mode(const Value& root, const Value& response) {
  const auto mode = response.get("output_mode");
  if (!mode || !mode->is_string() || mode->string() == "tokens") return {};
  Problems problems;
  problems.add("literal_error", "DerenderChatRequest.generate_response.output_mode",
               "Input should be 'tokens'", shown(*mode), R"({'expected': "'tokens'"})");
  problems.missing("DerenderChatStreamRequest.stream", root);
  problems.missing("DerenderChatStreamRequest.generate_chunk", root);
  return problems.error();
}

Result<TokenIds> ids_of(const Value& choice, std::size_t number, std::uint64_t vocab_size) {
  const auto list = choice.get("token_ids");
  if (!list || !list->is_array() || list->empty())
    return bad_request(std::nullopt,
                       "choice " + std::to_string(number) + " has empty or null token_ids");
  TokenIds ids;
  for (const auto& each : *list) {
    const auto id = each.value.is_number() ? each.value.integer() : std::nullopt;
    if (!id || *id < 0 || static_cast<std::uint64_t>(*id) >= vocab_size)
      return bad_request(std::nullopt, "Token id " + shown(each.value) + " is out of vocabulary");
    ids.push_back(static_cast<TokenId>(*id));
  }
  return ids;
}

// One choice; how many ids it had.
Result<std::size_t> write_choice(json::Writer& w, const Value& choice, std::size_t number,
                                 const ServerFacts& server, const DerenderSetup& setup,
                                 const ChatFacts& facts) {
  const auto ids = ids_of(choice, number, server.vocab_size);
  if (!ids.ok()) return ids.error();
  const auto finish = choice.get("finish_reason");
  const bool cut = finish && finish->is_string() && finish->string() == "length";
  const Message message = parse(*ids, server.tokenizer, facts, setup.stop_id, cut);
  w.begin_object().field("index", std::uint64_t{number}).key("message");
  write_message(w, message, facts, setup);
  w.key("logprobs");
  write_logprobs(w, choice, server.tokenizer);
  w.key("finish_reason").raw(finish ? finish->raw() : "null");
  for (const char* name : {"stop_reason", "token_ids", "routed_experts"}) w.key(name).null();
  w.end_object();
  return ids->size();
}

Status check_request(const Value& root, const ServerFacts& server) {
  const auto model = root.get("model");
  if (model && model->is_string() && model->string() != server.model)
    return refused(404, "NotFoundError", "model",
                   "The model `" + model->string() +
                       "` does not exist. Valid aliases: " + std::string(server.model) + ".");
  const auto stream = root.get("stream");
  if (stream && stream->is_bool() && stream->boolean())
    return bad_request("stream", "streaming derender is not simulated");
  const auto response = root.get("generate_response");
  const auto choices = response && response->is_object() ? response->get("choices") : std::nullopt;
  if (!choices || !choices->is_array()) {
    Problems problems;
    problems.missing("generate_response", root);
    return problems.error();
  }
  if (auto status = check_mode(root, *response); !status.ok()) return status;
  if (server.profile.derender_needs_chat && !root.get("chat_request"))
    return bad_request(std::nullopt,
                       "chat_request is required when a tool or reasoning parser is configured "
                       "because plain detokenization would leak raw parser markup into content.");
  return {};
}

}  // namespace

Result<std::string> derender_chat(std::string_view body, const ServerFacts& server,
                                  const DerenderSetup& setup) {
  const auto document = parse_body(body);
  if (!document.ok()) return document.error();
  const Value root = document->root();
  if (auto status = check_request(root, server); !status.ok()) return std::move(status).error();
  const Value response = *root.get("generate_response");
  const auto chat = root.get("chat_request");
  const ChatFacts facts =
      chat && chat->is_object() ? chat_facts(*chat) : ChatFacts{.thinks = false};
  const auto id = response.get("request_id");
  json::Writer w;
  w.begin_object().field("id", id && id->is_string() ? id->string() : "");
  w.field("object", "chat.completion").field("created", setup.created);
  w.field("model", server.model).key("choices").begin_array();
  std::size_t number = 0, sampled = 0;
  const auto choices = *response.get("choices");
  for (const auto& choice : choices) {
    const auto count = write_choice(w, choice.value, number++, server, setup, facts);
    if (!count.ok()) return count.error();
    sampled += *count;
  }
  const auto prompt = root.get("prompt_tokens");
  const auto prompt_tokens =
      static_cast<std::uint64_t>(prompt && prompt->is_number() ? prompt->integer().value_or(0) : 0);
  w.end_array().key("service_tier").null().key("system_fingerprint").null();
  w.key("usage").raw(usage_json(UsageForm::kFrame, prompt_tokens, sampled));
  for (const char* name : {"prompt_logprobs", "prompt_token_ids", "prompt_text",
                           "kv_transfer_params", "ec_transfer_params", "metrics"})
    w.key(name).null();
  w.end_object();
  return w.take();
}

}  // namespace verbatim::sim::vllm
