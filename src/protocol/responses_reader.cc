#include "protocol/responses_reader.h"

#include <array>
#include <utility>

#include "message/fold.h"
#include "protocol/server_fields.h"
#include "protocol/typed.h"

namespace verbatim::protocol {
namespace {

using base::Result;
using base::Status;
using json::Value;
using message::Events;
using message::FinishReason;

// `status` of the response, or why it is incomplete.
constexpr std::array<FinishWord, 2> kWords{
    {{"completed", FinishReason::kStop}, {"max_output_tokens", FinishReason::kLength}}};

struct DeltaKind {
  std::string_view type;
  ItemKind kind;
};
constexpr DeltaKind kDeltas[] = {
    {"response.output_text.delta", ItemKind::kMessage},
    {"response.refusal.delta", ItemKind::kMessage},
    {"response.reasoning_text.delta", ItemKind::kReasoning},
    {"response.function_call_arguments.delta", ItemKind::kCall},
};

Result<std::uint64_t> index_of(const Value& event) {
  const auto value = event.get("output_index");
  if (!value) return not_believed("output_index", "missing; expected a count");
  return count_of(event, "output_index", "");
}

// What a failed response, or an event of type error, says went wrong.
base::Error failure_of(const Value& object) {
  const auto inner = object.get("error");
  const auto said = inner && inner->is_object() ? inner->get("message") : object.get("message");
  std::string text = "the engine says that the response failed";
  if (said && said->is_string()) text += ": " + said->string();
  auto error = base::error(base::ErrorKind::kEngine, std::move(text));
  error.code = "engine_error";
  return error;
}

}  // namespace

Status ResponsesReader::feed(const Value& object, Events& out) {
  if (!object.is_object()) return theirs(mismatch("", "an object", object));
  if (ended_) return not_believed("", "something stands behind the end of the response");
  std::string type;
  if (auto s = put(text_of(object, "type", ""), type); !s) return s;
  if (!type.empty()) return read_event(object, type, out);
  std::string kind;
  if (auto s = put(text_of(object, "object", ""), kind); !s) return s;
  if (kind != "response") return not_believed("object", "expected \"response\"");
  return read_response(object, out);
}

Status ResponsesReader::read_event(const Value& event, std::string_view type, Events& out) {
  if (type == "response.output_item.added") return add_item(event, out);
  for (const auto& delta : kDeltas) {
    if (delta.type == type) return add_delta(event, delta.kind, out);
  }
  if (type == "response.output_item.done") {
    const auto index = index_of(event);
    if (!index) return index.error();
    const auto item = object_of(event, "item", "");
    return item ? end_item(*index, *item, "item", out) : Status(item.error());
  }
  if (type == "error") return failure_of(event);
  if (type != "response.completed" && type != "response.incomplete" && type != "response.failed")
    return {};
  const auto response = object_of(event, "response", "");
  return response ? read_response(*response, out) : Status(response.error());
}

ResponsesReader::Streamed& ResponsesReader::begin(std::uint64_t index, const Item& item,
                                                  Events& out) {
  Streamed& streamed = items_[index];
  streamed.kind = item.kind;
  streamed.id = item.id;
  if (item.kind == ItemKind::kCall) {
    streamed.call = calls_++;
    if (!item.id.empty()) out.emplace_back(message::ItemStart{item.id});
    out.emplace_back(message::ToolCallStart{streamed.call, item.call_id, item.name});
  }
  return streamed;
}

void ResponsesReader::give(Streamed& item, std::string_view text, Events& out) {
  const bool begins = item.text.empty() && !text.empty() && !item.id.empty();
  item.text += text;
  if (begins && (item.kind == ItemKind::kMessage || item.kind == ItemKind::kReasoning))
    out.emplace_back(message::ItemStart{item.id});
  if (item.kind == ItemKind::kMessage) message::append_text(out, text);
  if (item.kind == ItemKind::kReasoning) message::append_reasoning(out, text);
  if (item.kind == ItemKind::kCall) message::append_arguments(out, item.call, text);
}

Status ResponsesReader::add_item(const Value& event, Events& out) {
  const auto index = index_of(event);
  if (!index) return index.error();
  if (items_.contains(*index))
    return not_believed("output_index", "an item of that number is there");
  const auto value = object_of(event, "item", "");
  if (!value) return value.error();
  const auto item = read_item(*value, "item");
  if (!item) return item.error();
  give(begin(*index, *item, out), item->text, out);
  return {};
}

Status ResponsesReader::add_delta(const Value& event, ItemKind kind, Events& out) {
  const auto index = index_of(event);
  if (!index) return index.error();
  const auto at = items_.find(*index);
  if (at == items_.end() || at->second.kind != kind || !at->second.raw.empty())
    return not_believed("output_index", "a delta of an item that is not there");
  std::string text;
  if (auto s = put(text_of(event, "delta", ""), text); !s) return s;
  give(at->second, text, out);
  return {};
}

Status ResponsesReader::end_item(std::uint64_t index, const Value& value, const std::string& field,
                                 Events& out) {
  const auto item = read_item(value, field);
  if (!item) return item.error();
  auto at = items_.find(index);
  if (at == items_.end()) {
    begin(index, *item, out);
    at = items_.find(index);
  }
  Streamed& streamed = at->second;
  if (streamed.kind != item->kind || !item->text.starts_with(streamed.text))
    return not_believed(field, "it is not what was streamed of it");
  give(streamed, item->text.substr(streamed.text.size()), out);
  const bool first = streamed.raw.empty();
  streamed.raw = value.raw();
  if (first && streamed.kind == ItemKind::kCall && is_whole(streamed.text))
    out.emplace_back(message::ToolCallEnd{streamed.call});
  return {};
}

Status ResponsesReader::read_response(const Value& response, Events& out) {
  if (auto s = put(text_of(response, "status", "response."), word_); !s) return s;
  if (word_ == "failed") return failure_of(response);
  if (word_ == "incomplete") {
    const auto details = object_of(response, "incomplete_details", "response.");
    if (!details) return details.error();
    if (auto s = put(text_of(*details, "reason", "response.incomplete_details."), word_); !s)
      return s;
  }
  if (auto s = read_output(response, out); !s) return s;
  if (auto s = read_usage(response); !s) return s;
  ended_ = true;
  return {};
}

// A last event that names no items leaves those of the stream as they are.
Status ResponsesReader::read_output(const Value& response, Events& out) {
  const auto output = response.get("output");
  if (output && !output->is_array())
    return theirs(mismatch("response.output", "an array", *output));
  std::uint64_t number = 0;
  if (output) {
    if (!output->empty() && !items_.empty() && output->size() != items_.size())
      return not_believed("response.output", "other items than were streamed");
    for (const auto& item : *output) {
      const std::string field = at("response.output", number);
      if (auto s = end_item(number++, item.value, field, out); !s) return s;
    }
  }
  for (const auto& [index, item] : items_) {
    if (item.raw.empty() && item.kind != ItemKind::kOther)
      return not_believed("output_index", "item " + std::to_string(index) + " has no end");
  }
  return {};
}

Status ResponsesReader::read_usage(const Value& response) {
  const auto usage = response.get("usage");
  if (!usage) return {};
  if (!usage->is_object()) return theirs(mismatch("response.usage", "an object", *usage));
  const auto prompt = count_of(*usage, "input_tokens", "response.usage.");
  if (!prompt) return prompt.error();
  const auto completion = count_of(*usage, "output_tokens", "response.usage.");
  if (!completion) return completion.error();
  usage_ = message::Usage{.prompt_tokens = *prompt, .completion_tokens = *completion};
  const auto read = [&](std::string_view details, std::string_view name, auto& into) {
    return read_detail(*usage, details, name, "response.usage.", into);
  };
  if (auto s = read("input_tokens_details", "cached_tokens", usage_->cached_tokens); !s.ok())
    return s;
  return read("output_tokens_details", "reasoning_tokens", usage_->reasoning_tokens);
}

Result<AnswerEnd> ResponsesReader::finish() {
  if (!ended_) return not_believed("", "the stream has no last event of a response");
  const auto finish = finish_of(kWords, word_, "response.status");
  if (!finish) return finish.error();
  // Dynamo's frontend (1.6.1) calls an answer completed whose worker broke off: it has no usage.
  if (!usage_)
    return not_believed("response.usage",
                        "missing, so that it may have broken off; expected counts");
  AnswerEnd end;
  end.finish = *finish;
  end.word = word_;
  end.usage = usage_;
  std::string raw;
  for (const auto& [index, item] : items_) {
    if (!item.raw.empty()) raw.append(raw.empty() ? "[" : ",").append(item.raw);
  }
  if (!raw.empty()) end.unknown.emplace_back(kItems, raw + "]");
  return end;
}

}  // namespace verbatim::protocol
