#include "protocol/chat_reader.h"

#include <algorithm>

#include "protocol/server_fields.h"
#include "protocol/typed.h"

namespace verbatim::protocol {
namespace {

using base::Result;
using base::Status;
using json::Value;
using message::Events;

Result<std::string> reasoning_of(const Value& object, std::string_view path) {
  auto text = text_of(object, "reasoning_content", path);
  if (!text || !text->empty()) return text;
  return text_of(object, "reasoning", path);
}

Status read_usage(const Value& object, std::optional<message::Usage>& into) {
  const auto value = object.get("usage");
  if (!value) return {};
  if (!value->is_object()) return theirs(mismatch("usage", "an object", *value));
  const auto prompt = count_of(*value, "prompt_tokens", "usage.");
  const auto completion = count_of(*value, "completion_tokens", "usage.");
  if (!prompt) return prompt.error();
  if (!completion) return completion.error();
  into = message::Usage{.prompt_tokens = *prompt, .completion_tokens = *completion};
  const auto read = [&](std::string_view details, std::string_view name, auto& count) {
    return read_detail(*value, details, name, "usage.", count);
  };
  if (auto s = read("prompt_tokens_details", "cached_tokens", into->cached_tokens); !s.ok())
    return s;
  return read("completion_tokens_details", "reasoning_tokens", into->reasoning_tokens);
}

// An {"error": ...} object in place of an answer; its message in whatever shape it comes.
std::optional<base::Error> error_of(const Value& object) {
  const auto error = object.get("error");
  if (!error) return std::nullopt;
  const auto message = error->is_object() ? error->get("message") : std::nullopt;
  auto out = base::error(base::ErrorKind::kEngine, std::string(error->raw()));
  if (message && message->is_string()) out.message = message->string();
  return out;
}

Result<json::Document> read_object(std::string text) {
  auto document = json::Document::parse(std::move(text));
  if (!document) return theirs(std::move(document).error());
  const Value root = document->root();
  if (!root.is_object()) return theirs(mismatch("", "an object", root));
  if (auto error = error_of(root)) return std::move(*error);
  return document;
}

Result<message::FoldedCall> read_whole_call(const Value& value, const std::string& field) {
  if (!value.is_object()) return theirs(mismatch(field, "an object", value));
  message::FoldedCall call;
  if (auto s = put(text_of(value, "id", field + "."), call.native_id); !s) return s.error();
  const auto function = value.get("function");
  if (!function || !function->is_object()) {
    return theirs(base::invalid(field + ".function", "missing; expected an object"));
  }
  const std::string path = field + ".function.";
  if (auto s = put(text_of(*function, "name", path), call.name); !s) return s.error();
  if (call.name.empty()) return theirs(base::invalid(path + "name", "a call without a name"));
  if (auto s = put(text_of(*function, "arguments", path), call.arguments); !s) return s.error();
  call.complete = is_whole(call.arguments);
  return call;
}

// One choice is asked for: the first.
Status check_index(const Value& choice) {
  const auto index = choice.get("index");
  if (!index || (index->is_number() && index->integer() == 0)) return {};
  return theirs(base::invalid("choices[0].index", "expected 0, found " + found(*index)));
}

Status read_message(const Value& value, message::Folded& turn) {
  const std::string path = "choices[0].message.";
  if (auto s = put(text_of(value, "content", path), turn.text); !s) return s;
  if (auto s = put(reasoning_of(value, path), turn.reasoning); !s) return s;
  const auto calls = value.get("tool_calls");
  if (!calls) return {};
  if (!calls->is_array()) return theirs(mismatch(path + "tool_calls", "an array", *calls));
  for (const auto& item : *calls) {
    auto call = read_whole_call(item.value, at(path + "tool_calls", turn.calls.size()));
    if (!call) return std::move(call).error();
    turn.calls.push_back(std::move(*call));
  }
  return {};
}

}  // namespace

Result<ChatResult> read_chat_answer(std::string body) {
  const auto document = read_object(std::move(body));
  if (!document) return document.error();
  return read_chat_answer(document->root());
}

Result<ChatResult> read_chat_answer(const Value& root) {
  ChatResult result;
  if (auto s = put(text_of(root, "id", ""), result.id); !s) return s.error();
  if (auto s = put(text_of(root, "model", ""), result.model); !s) return s.error();
  if (auto s = read_usage(root, result.usage); !s) return s.error();
  const auto choices = root.get("choices");
  if (!choices || !choices->is_array() || choices->size() != 1) {
    return theirs(base::invalid("choices", "expected an array of one choice"));
  }
  const Value choice = (*choices->begin()).value;
  const auto message = choice.is_object() ? choice.get("message") : std::nullopt;
  if (!message || !message->is_object()) {
    return theirs(base::invalid("choices[0].message", "missing; expected an object"));
  }
  auto finish = text_of(choice, "finish_reason", "choices[0].");
  if (auto s = put(std::move(finish), result.finish_reason); !s) return s.error();
  if (auto s = check_index(choice); !s) return s.error();
  if (auto s = read_message(*message, result.turn); !s) return s.error();
  UnknownMembers unknown;
  unknown.add(*message, {"role", "content", "reasoning_content", "tool_calls"});
  result.unknown = unknown.members();
  return result;
}

void ChatStreamReader::give(message::Event event, Events& out) {
  result_.turn.add(event);
  out.push_back(std::move(event));
}

// A stream does not say where a call ends: it does where something else begins, if its arguments
// are whole.
void ChatStreamReader::end_call(Events& out) {
  if (!call_open_) return;
  call_open_ = false;
  const auto& call = result_.turn.calls.back();
  if (!is_whole(call.arguments)) return;
  give(message::ToolCallEnd{static_cast<std::uint32_t>(result_.turn.calls.size() - 1)}, out);
}

Status ChatStreamReader::read_call(const Value& delta, const std::string& field, Events& out) {
  if (!delta.is_object()) return theirs(mismatch(field, "an object", delta));
  const auto number = delta.get("index");
  if (!number) return theirs(base::invalid(field + ".index", "missing; expected an integer"));
  const auto known = static_cast<std::int64_t>(result_.turn.calls.size());
  const IntegerRange range{std::max<std::int64_t>(known - 1, 0), known,
                           "the number of the last call or the next"};
  const auto index = read_integer(*number, field + ".index", range);
  if (!index) return theirs(index.error());
  const auto function = delta.get("function");
  std::string name;
  std::string arguments;
  if (function && function->is_object()) {
    const std::string path = field + ".function.";
    if (auto s = put(text_of(*function, "name", path), name); !s) return s;
    if (auto s = put(text_of(*function, "arguments", path), arguments); !s) return s;
  }
  const auto call = static_cast<std::uint32_t>(*index);
  if (*index == known) {
    if (name.empty()) return theirs(base::invalid(field, "a call begins without a name"));
    message::ToolCallStart start{call, {}, std::move(name)};
    if (auto s = put(text_of(delta, "id", field + "."), start.native_id); !s) return s;
    end_call(out);
    give(std::move(start), out);
    call_open_ = true;
  } else if (!call_open_) {
    return theirs(base::invalid(field, "arguments of a call that is over"));
  }
  if (!arguments.empty()) give(message::ToolCallArguments{call, std::move(arguments)}, out);
  return {};
}

Status ChatStreamReader::read_calls(const Value& calls, Events& out) {
  const std::string field = "choices[0].delta.tool_calls";
  if (!calls.is_array()) return theirs(mismatch(field, "an array", calls));
  std::size_t i = 0;
  for (const auto& item : calls) {
    if (auto s = read_call(item.value, at(field, i++), out); !s) return s;
  }
  return {};
}

void ChatStreamReader::give_text(message::Event event, Events& out) {
  end_call(out);
  give(std::move(event), out);
}

Status ChatStreamReader::read_delta(const Value& delta, Events& out) {
  const std::string path = "choices[0].delta.";
  unknown_.add(delta, {"role", "content", "reasoning_content", "tool_calls"});
  result_.unknown = unknown_.members();
  std::string text;
  if (auto s = put(reasoning_of(delta, path), text); !s) return s;
  if (!text.empty()) give_text(message::ReasoningDelta{text}, out);
  if (auto s = put(text_of(delta, "content", path), text); !s) return s;
  if (!text.empty()) give_text(message::TextDelta{text}, out);
  const auto calls = delta.get("tool_calls");
  return calls ? read_calls(*calls, out) : Status();
}

Status ChatStreamReader::read_choice(const Value& choice, Events& out) {
  if (!choice.is_object()) return theirs(mismatch("choices[0]", "an object", choice));
  if (auto s = check_index(choice); !s) return s;
  const auto delta = choice.get("delta");
  if (delta && !delta->is_object()) {
    return theirs(mismatch("choices[0].delta", "an object", *delta));
  }
  if (delta) {
    if (auto s = read_delta(*delta, out); !s) return s;
  }
  std::string finish;
  if (auto s = put(text_of(choice, "finish_reason", "choices[0]."), finish); !s) return s;
  if (finish.empty()) return {};
  end_call(out);
  result_.finish_reason = std::move(finish);
  return {};
}

Status ChatStreamReader::read_chunk(const Value& chunk, Events& out) {
  if (auto s = put(text_of(chunk, "id", ""), result_.id); !s) return s;
  if (auto s = put(text_of(chunk, "model", ""), result_.model); !s) return s;
  if (auto s = read_usage(chunk, result_.usage); !s) return s;
  const auto choices = chunk.get("choices");
  if (!choices) return theirs(base::invalid("choices", "missing; expected an array"));
  if (!choices->is_array()) return theirs(mismatch("choices", "an array", *choices));
  if (choices->size() > 1) return theirs(base::invalid("choices", "more than one choice"));
  if (choices->empty()) return {};
  return read_choice((*choices->begin()).value, out);
}

Status ChatStreamReader::feed(std::string_view payload, Events& out) {
  if (done_) return base::error(base::ErrorKind::kEngine, "an event behind [DONE]");
  if (payload == "[DONE]") {
    done_ = true;
    return {};
  }
  const auto document = read_object(std::string(payload));
  if (!document) return document.error();
  return read_chunk(document->root(), out);
}

}  // namespace verbatim::protocol
