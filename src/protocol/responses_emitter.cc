#include "protocol/responses_emitter.h"

#include <utility>

namespace verbatim::protocol {
namespace {

using json::Writer;

constexpr std::string_view kInProgress = "in_progress";
constexpr std::string_view kIncomplete = "incomplete";

// The names of what items of a kind send.
struct Words {
  const char* prefix;
  const char* part;
  const char* delta;
  const char* done;
  const char* text;  // the member that `done` has its text in
};
constexpr Words kMessageWords{"msg_", "output_text", "response.output_text.delta",
                              "response.output_text.done", "text"};
constexpr Words kReasoningWords{"rs_", "reasoning_text", "response.reasoning_text.delta",
                                "response.reasoning_text.done", "text"};
constexpr Words kCallWords{"fc_", nullptr, "response.function_call_arguments.delta",
                           "response.function_call_arguments.done", "arguments"};

const Words& words(ItemKind kind) {
  if (kind == ItemKind::kCall) return kCallWords;
  return kind == ItemKind::kReasoning ? kReasoningWords : kMessageWords;
}

void write_usage(Writer& w, const message::Usage* usage) {
  w.key("usage");
  if (usage == nullptr) {
    w.null();
    return;
  }
  w.begin_object().field("input_tokens", usage->prompt_tokens);
  w.key("input_tokens_details").begin_object();
  w.field("cached_tokens", usage->cached_tokens.value_or(0)).end_object();
  w.field("output_tokens", usage->completion_tokens).key("output_tokens_details").begin_object();
  w.field("reasoning_tokens", 0).end_object();
  w.field("total_tokens", usage->prompt_tokens + usage->completion_tokens).end_object();
}

}  // namespace

ResponsesEmitter::ResponsesEmitter(ResponseHead head, Draw draw)
    : head_(std::move(head)), draw_(std::move(draw)) {}

std::size_t ResponsesEmitter::index_of(const Entry& entry) const {
  return static_cast<std::size_t>(&entry - items_.data());
}

Writer ResponsesEmitter::begin(const char* type, const Entry* entry) {
  Writer w;
  w.begin_object().field("type", type).field("sequence_number", sequence_++);
  if (entry != nullptr) w.field("output_index", std::uint64_t{index_of(*entry)});
  return w;
}

void ResponsesEmitter::send(const char* type, Writer& w, NamedEvents& out) {
  w.end_object();
  out.push_back({type, w.take()});
}

void ResponsesEmitter::write_part(Writer& w, const Entry& entry, std::string_view text) {
  w.begin_object().field("type", words(entry.kind).part).field("text", text);
  if (entry.kind == ItemKind::kMessage) {
    w.key("annotations").begin_array().end_array();
    w.key("logprobs").begin_array().end_array();
  }
  w.end_object();
}

void ResponsesEmitter::write_item(Writer& w, const Entry& entry, std::string_view status) {
  const bool empty = entry.item.text.empty();
  w.begin_object().field("id", entry.id);
  if (entry.kind == ItemKind::kCall) {
    w.field("type", "function_call").field("call_id", entry.item.call_id);
    w.field("name", entry.item.name).field("arguments", entry.item.text);
  } else if (entry.kind == ItemKind::kReasoning) {
    w.field("type", "reasoning").key("summary").begin_array().end_array().key("content");
    w.begin_array();
    if (!empty) write_part(w, entry, entry.item.text);
    w.end_array();
  } else {
    w.field("type", "message").field("role", "assistant").key("content").begin_array();
    if (!empty) write_part(w, entry, entry.item.text);
    w.end_array();
  }
  w.field("status", status).end_object();
}

void ResponsesEmitter::write_response(Writer& w, std::string_view status,
                                      const message::Usage* usage) const {
  w.begin_object().field("id", head_.id).field("object", "response");
  w.field("created_at", head_.created).field("model", head_.model).field("status", status);
  w.key("error");
  error_.empty() ? w.null() : w.raw(error_);
  w.key("incomplete_details");
  if (status == kIncomplete) {
    w.begin_object().field("reason", "max_output_tokens").end_object();
  } else {
    w.null();
  }
  w.key("output").begin_array();
  if (status != kInProgress) {
    for (const auto& entry : items_) write_item(w, entry, entry.open ? kIncomplete : "completed");
  }
  w.end_array();
  write_usage(w, usage);
  w.end_object();
}

void ResponsesEmitter::send_response(const char* type, std::string_view status,
                                     const message::Usage* usage, NamedEvents& out) {
  Writer w = begin(type, nullptr);
  w.key("response");
  write_response(w, status, usage);
  send(type, w, out);
}

void ResponsesEmitter::open(NamedEvents& out) {
  if (std::exchange(opened_, true)) return;
  send_response("response.created", kInProgress, nullptr, out);
  send_response("response.in_progress", kInProgress, nullptr, out);
}

ResponsesEmitter::Entry& ResponsesEmitter::add(Entry entry, NamedEvents& out) {
  close_last("completed", out);
  entry.id = words(entry.kind).prefix + draw_();
  items_.push_back(std::move(entry));
  const Entry& added = items_.back();
  Writer w = begin("response.output_item.added", &added);
  w.key("item");
  write_item(w, added, kInProgress);
  send("response.output_item.added", w, out);
  if (words(added.kind).part != nullptr) {
    Writer part = begin("response.content_part.added", &added);
    part.field("item_id", added.id).field("content_index", 0).key("part");
    write_part(part, added, "");
    send("response.content_part.added", part, out);
  }
  return items_.back();
}

ResponsesEmitter::Entry& ResponsesEmitter::at_item(ItemKind kind, NamedEvents& out) {
  if (!items_.empty() && items_.back().open && items_.back().kind == kind) return items_.back();
  return add({kind, {}, {kind, {}, {}, {}}}, out);
}

void ResponsesEmitter::delta(const Entry& entry, std::string_view text, NamedEvents& out) {
  const char* type = words(entry.kind).delta;
  Writer w = begin(type, &entry);
  w.field("item_id", entry.id);
  if (entry.kind != ItemKind::kCall) w.field("content_index", 0);
  w.field("delta", text);
  if (entry.kind == ItemKind::kMessage) w.key("logprobs").begin_array().end_array();
  send(type, w, out);
}

void ResponsesEmitter::close_last(std::string_view status, NamedEvents& out) {
  if (items_.empty() || !items_.back().open) return;
  Entry& entry = items_.back();
  entry.open = status == kIncomplete;
  const Words& named = words(entry.kind);
  Writer text = begin(named.done, &entry);
  text.field("item_id", entry.id);
  if (named.part != nullptr) text.field("content_index", 0);
  text.field(named.text, entry.item.text);
  if (entry.kind == ItemKind::kCall) text.field("name", entry.item.name);
  if (entry.kind == ItemKind::kMessage) text.key("logprobs").begin_array().end_array();
  send(named.done, text, out);
  if (named.part != nullptr) {
    Writer part = begin("response.content_part.done", &entry);
    part.field("item_id", entry.id).field("content_index", 0).key("part");
    write_part(part, entry, entry.item.text);
    send("response.content_part.done", part, out);
  }
  Writer w = begin("response.output_item.done", &entry);
  w.key("item");
  write_item(w, entry, status);
  send("response.output_item.done", w, out);
}

struct ResponsesEmitter::Adder {
  ResponsesEmitter& to;
  NamedEvents& out;

  void grow(Entry& entry, const std::string& text) const {
    entry.item.text += text;
    to.delta(entry, text, out);
  }
  void operator()(const message::ReasoningDelta& e) const {
    grow(to.at_item(ItemKind::kReasoning, out), e.text);
  }
  void operator()(const message::TextDelta& e) const {
    grow(to.at_item(ItemKind::kMessage, out), e.text);
  }
  void operator()(const message::ToolCallStart& e) const {
    to.add({ItemKind::kCall, {}, {ItemKind::kCall, {}, e.name, e.native_id}}, out);
  }
  void operator()(const message::ToolCallArguments& e) const { grow(to.items_.back(), e.text); }
  void operator()(const message::ToolCallEnd&) const { to.close_last("completed", out); }
};

void ResponsesEmitter::events(std::span<const message::Event> events, NamedEvents& out) {
  open(out);
  for (const auto& event : events) std::visit(Adder{*this, out}, event);
}

void ResponsesEmitter::finish(std::string_view status, const message::Usage& usage,
                              NamedEvents& out) {
  open(out);
  close_last(status == kIncomplete ? kIncomplete : "completed", out);
  const bool cut = status == kIncomplete;
  send_response(cut ? "response.incomplete" : "response.completed", status, &usage, out);
}

void ResponsesEmitter::fail(std::string_view code, std::string_view message, NamedEvents& out) {
  open(out);
  Writer error;
  error.begin_object().field("code", code).field("message", message).end_object();
  error_ = error.take();
  send_response("response.failed", "failed", nullptr, out);
}

std::string ResponsesEmitter::whole(std::string_view status, const message::Usage& usage) const {
  Writer w;
  write_response(w, status, &usage);
  return w.take();
}

}  // namespace verbatim::protocol
