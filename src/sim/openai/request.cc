#include "sim/openai/request.h"

#include <span>
#include <utility>
#include <vector>

#include "base/sha256.h"
#include "json/writer.h"
#include "protocol/chat_messages.h"
#include "protocol/messages_input.h"
#include "protocol/responses_input.h"

namespace verbatim::sim::openai {
namespace {

using base::Result;
using json::Value;
using message::Message;
using message::Role;
using protocol::Wire;

constexpr std::uint64_t kNewTokens = 1024;

Result<std::vector<Message>> read_history(Wire wire, const Value& body) {
  if (wire == Wire::kMessages) return protocol::read_messages_input(body);
  const char* name = wire == Wire::kChat ? "messages" : "input";
  const auto history = body.get(name);
  if (!history) return base::invalid(name, "missing");
  if (wire == Wire::kChat)
    return protocol::read_chat_messages(*history, "\n", protocol::Parts::kKept);
  return protocol::read_input(*history);
}

// One line for each tool, the same whatever the protocol calls its parts.
void append_tools(std::string& out, const Value& tools) {
  if (tools.empty()) return;
  out += "<|im_start|>system\n# Tools";
  for (const auto& tool : tools) {
    const auto inner = tool.value.get("function");
    const Value function = inner ? *inner : tool.value;
    json::Writer w;
    w.begin_object();
    for (const char* name : {"name", "description"}) {
      if (const auto value = function.get(name)) w.key(name).raw(value->raw());
    }
    const auto parameters = function.get("parameters");
    const auto schema = parameters ? parameters : function.get("input_schema");
    if (schema) w.key("parameters").raw(schema->raw());
    w.end_object();
    out.append("\n").append(w.text());
  }
  out += "<|im_end|>\n";
}

// What a part of another kind than text is in a prompt: the same for the same image or file,
// whatever the protocol calls it.
std::string mark_of(const Value& part) {
  for (const char* name : {"image_url", "file"}) {
    const auto inner = part.get(name);
    if (!inner || !inner->is_object()) continue;
    for (const char* data : {"url", "file_data"}) {
      const auto value = inner->get(data);
      if (value && value->is_string())
        return "[" + std::string(name) + " " + base::sha256_hex(value->string()) + "]";
    }
  }
  return "[part " + base::sha256_hex(part.raw()) + "]";
}

// Text and marks, in order.
std::string content_of(const Message& message) {
  const auto raw = message::parts_of(message);
  const auto parts = json::Document::parse(std::string(raw));
  if (raw.empty() || !parts) return message.text;
  std::string content;
  for (const auto& part : parts->root()) {
    const auto text = part.value.get("text");
    content += text && text->is_string() ? text->string() : mark_of(part.value);
  }
  return content;
}

std::string body_of(const Message& message) {
  if (message.role == Role::kTool)
    return "<tool_response>\n" + content_of(message) + "\n</tool_response>";
  std::string text;
  if (message.reasoning && !message.reasoning->empty())
    text = "<think>" + *message.reasoning + "</think>";
  text += content_of(message);
  for (const auto& call : message.tool_calls)
    text += "<tool_call>\n{\"name\": \"" + call.name + "\", \"arguments\": " + call.arguments +
            "}\n</tool_call>";
  return text;
}

std::string prompt_of(std::span<const Message> messages, const Value* tools) {
  std::string out;
  if (tools != nullptr) append_tools(out, *tools);
  for (const auto& message : messages) {
    const bool user = message.role == Role::kTool || message.role == Role::kUser;
    const char* role = user ? "user" : message.role == Role::kAssistant ? "assistant" : "system";
    out.append("<|im_start|>").append(role).append("\n").append(body_of(message));
    out += "<|im_end|>\n";
  }
  return out + "<|im_start|>assistant\n";
}

bool flag(const Value& object, const char* name) {
  const auto value = object.get(name);
  return value && value->is_bool() && value->boolean();
}

// Unless the template is told otherwise.
bool thinks(const Value& body) {
  const auto arguments = body.get("chat_template_kwargs");
  const auto said = arguments && arguments->is_object() ? arguments->get("enable_thinking")
                                                        : std::optional<Value>();
  return !said || !said->is_bool() || said->boolean();
}

void read_limits(const Value& body, Limits& limits) {
  limits.max_new_tokens = kNewTokens;
  for (const char* name : {"max_tokens", "max_completion_tokens", "max_output_tokens"}) {
    const auto value = body.get(name);
    if (value && value->is_number() && value->integer().value_or(0) > 0)
      limits.max_new_tokens = static_cast<std::uint64_t>(*value->integer());
  }
  for (const char* name : {"stop", "stop_sequences"}) {
    const auto value = body.get(name);
    if (value && value->is_string()) limits.stop_strings.push_back(value->string());
    if (!value || !value->is_array()) continue;
    for (const auto& each : *value) {
      if (each.value.is_string()) limits.stop_strings.push_back(each.value.string());
    }
  }
}

base::Error no_model(const std::string& name) {
  return base::error(base::ErrorKind::kNotFound, "The model `" + name + "` does not exist.");
}

// What the protocol demands, and this server can't do.
base::Status check(Wire wire, const Value& body) {
  if (wire == Wire::kMessages && !body.get("max_tokens"))
    return base::invalid("max_tokens", "missing; expected an integer");
  if (wire == Wire::kResponses && body.find("previous_response_id"))
    return base::invalid("previous_response_id", "this server keeps no responses");
  return {};
}

}  // namespace

Result<Request> read_request(Wire wire, std::string_view text, const SimOptions& options,
                             Echo echo) {
  auto document = json::Document::parse(std::string(text));
  if (!document) return std::move(document).error();
  const Value body = document->root();
  if (!body.is_object()) return base::invalid("", "expected an object");
  Request request;
  request.wire = wire;
  request.model = options.model;
  const auto model = body.get("model");
  if (!model || !model->is_string()) return base::invalid("model", "missing; expected a string");
  if (model->string() != options.model) return no_model(model->string());
  if (auto status = check(wire, body); !status.ok()) return std::move(status).error();
  auto history = read_history(wire, body);
  if (!history) return std::move(history).error();
  const auto tools = body.get("tools");
  const bool declared = tools && tools->is_array();
  request.tools = declared && !tools->empty();
  const std::string prompt = prompt_of(*history, declared ? &*tools : nullptr);
  options.tokenizer->encode(prompt, request.call.prompt);
  read_limits(body, request.call.limits);
  request.call.stream = flag(body, "stream");
  request.call.by_messages = true;
  const auto reasoning = body.get("reasoning");
  request.asks_summary = reasoning && reasoning->is_object() && reasoning->get("summary");
  request.reasoning_open = options.reasoning_open && thinks(body);
  if (echo != nullptr && wire == Wire::kResponses) request.echo = echo(body);
  const auto stream = body.get("stream_options");
  request.include_usage = stream && stream->is_object() && flag(*stream, "include_usage");
  if (const auto seed = body.get("seed"); seed && seed->is_number())
    request.call.seed = seed->integer();
  if (request.call.prompt.size() >= options.max_model_len)
    return base::invalid(wire == Wire::kResponses ? "input" : "messages",
                         "longer than the model's context");
  return request;
}

}  // namespace verbatim::sim::openai
