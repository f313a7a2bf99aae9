#include "protocol/responses_emitter.h"

#include <algorithm>
#include <utility>

#include "protocol/openai_error.h"

namespace verbatim::protocol {
namespace {

using json::Writer;

// The names of what items of a kind send.
struct Words {
  const char* prefix;
  const char* delta;
  const char* done;
  const char* text;  // the member that `done` has its text in
  bool parts = false;
};
constexpr Words kMessageWords{"msg_", "response.output_text.delta", "response.output_text.done",
                              "text", true};
constexpr Words kReasoningWords{"rs_", "response.reasoning_text.delta",
                                "response.reasoning_text.done", "text", true};
constexpr Words kCallWords{"fc_", "response.function_call_arguments.delta",
                           "response.function_call_arguments.done", "arguments"};
constexpr Words kCustomWords{"ctc_", "response.custom_tool_call_input.delta",
                             "response.custom_tool_call_input.done", "input"};
constexpr Words kShellWords{"lsh_", nullptr, nullptr, nullptr};
constexpr Words kSearchWords{"tsc_", nullptr, nullptr, nullptr};

const Words& words(const OutputItem& item) {
  if (item.kind == ItemKind::kReasoning) return kReasoningWords;
  if (item.kind != ItemKind::kCall) return kMessageWords;
  switch (item.tool.kind) {
    case ToolKind::kCustom:
      return kCustomWords;
    case ToolKind::kLocalShell:
      return kShellWords;
    case ToolKind::kToolSearch:
      return kSearchWords;
    case ToolKind::kFunction:
      break;
  }
  return kCallWords;
}

// Its call is known by its end alone, and shown then.
bool is_held(const OutputItem& item) {
  return item.kind == ItemKind::kCall && words(item).done == nullptr;
}

}  // namespace

ResponsesEmitter::ResponsesEmitter(ResponseHead head, Draw draw, TextEnds text_ends)
    : head_(std::move(head)), draw_(std::move(draw)), text_ends_(text_ends) {}

std::size_t ResponsesEmitter::index_of(const OutputItem& item) const {
  return static_cast<std::size_t>(&item - items_.data());
}

Writer ResponsesEmitter::begin(const char* type, const OutputItem* item) {
  Writer w;
  w.begin_object().field("type", type).field("sequence_number", sequence_++);
  if (item != nullptr) w.field("output_index", std::uint64_t{index_of(*item)});
  return w;
}

void ResponsesEmitter::send(const char* type, Writer& w, NamedEvents& out) {
  w.end_object();
  out.push_back({type, w.take()});
}

std::string ResponsesEmitter::object(const ResponseState& state) const {
  Writer w;
  write_response(w, head_, state, items_);
  return w.take();
}

bool ResponsesEmitter::stays_open(const OutputItem& item) const {
  return text_ends_ == TextEnds::kLast && item.kind == ItemKind::kMessage;
}

// Once: what is cut stays open.
void ResponsesEmitter::close_all(std::string_view status, NamedEvents& out) {
  if (std::exchange(closed_, true)) return;
  for (auto item = items_.rbegin(); item != items_.rend(); ++item) {
    if (item->open) close_item(*item, status, out);
  }
}

void ResponsesEmitter::send_response(const char* type, std::string_view whole, NamedEvents& out) {
  Writer w = begin(type, nullptr);
  w.key("response").raw(whole);
  send(type, w, out);
}

void ResponsesEmitter::open(NamedEvents& out) {
  if (std::exchange(opened_, true)) return;
  const std::string begun = object({});
  send_response("response.created", begun, out);
  send_response("response.in_progress", begun, out);
}

OutputItem& ResponsesEmitter::add(OutputItem item, NamedEvents& out) {
  if (!items_.empty() && items_.back().open && !stays_open(items_.back()))
    close_item(items_.back(), kCompleted, out);
  item.id = std::exchange(named_, {});
  if (item.id.empty()) item.id = words(item).prefix + draw_();
  items_.push_back(std::move(item));
  if (!is_held(items_.back())) announce(items_.back(), out);
  return items_.back();
}

void ResponsesEmitter::announce(const OutputItem& item, NamedEvents& out) {
  OutputItem begun = item;
  begun.text.clear();
  Writer w = begin("response.output_item.added", &item);
  w.key("item");
  write_output_item(w, begun, kInProgress);
  send("response.output_item.added", w, out);
  if (!words(item).parts) return;
  Writer part = begin("response.content_part.added", &item);
  part.field("item_id", item.id).field("content_index", 0).key("part");
  write_text_part(part, item, "");
  send("response.content_part.added", part, out);
}

OutputItem& ResponsesEmitter::at_item(ItemKind kind, NamedEvents& out) {
  const bool another = !named_.empty();
  if (!another && !items_.empty() && items_.back().open && items_.back().kind == kind)
    return items_.back();
  for (auto& open : items_) {
    if (!another && open.kind == kind && open.open && stays_open(open)) return open;
  }
  OutputItem item;
  item.kind = kind;
  item.sealed = head_.seals_reasoning && kind == ItemKind::kReasoning;
  return add(std::move(item), out);
}

void ResponsesEmitter::delta(const OutputItem& item, const char* type, std::string_view text,
                             NamedEvents& out) {
  Writer w = begin(type, &item);
  w.field("item_id", item.id);
  if (words(item).parts) w.field("content_index", 0);
  w.field("delta", text);
  if (item.kind == ItemKind::kMessage) w.key("logprobs").begin_array().end_array();
  send(type, w, out);
}

// What could only be told at the end of a call.
void ResponsesEmitter::close_call(OutputItem& item, NamedEvents& out) {
  if (is_held(item)) {
    const bool shell = item.tool.kind == ToolKind::kLocalShell;
    // What is no command, or no search, is a call that the client can answer with its error.
    if (!(shell ? is_shell_action(item.text) : is_object(item.text)))
      item.tool.kind = ToolKind::kFunction;
    announce(item, out);
  }
  if (item.tool.kind == ToolKind::kCustom) {
    const std::string input = custom_input(item.text);
    if (!input.empty()) delta(item, kCustomWords.delta, input, out);
  }
}

void ResponsesEmitter::send_done(const OutputItem& item, NamedEvents& out) {
  const Words& named = words(item);
  if (named.done == nullptr) return;
  const bool custom = item.kind == ItemKind::kCall && item.tool.kind == ToolKind::kCustom;
  Writer text = begin(named.done, &item);
  text.field("item_id", item.id);
  if (named.parts) text.field("content_index", 0);
  text.field(named.text, custom ? custom_input(item.text) : item.text);
  if (item.kind == ItemKind::kCall && !custom) text.field("name", item.tool.name);
  if (item.kind == ItemKind::kMessage) text.key("logprobs").begin_array().end_array();
  send(named.done, text, out);
  if (!named.parts) return;
  Writer part = begin("response.content_part.done", &item);
  part.field("item_id", item.id).field("content_index", 0).key("part");
  write_text_part(part, item, item.text);
  send("response.content_part.done", part, out);
}

void ResponsesEmitter::close_item(OutputItem& item, std::string_view status, NamedEvents& out) {
  item.open = status == kIncomplete;
  if (item.kind == ItemKind::kCall) close_call(item, out);
  send_done(item, out);
  Writer w = begin("response.output_item.done", &item);
  w.key("item");
  write_output_item(w, item, status);
  send("response.output_item.done", w, out);
}

struct ResponsesEmitter::Adder {
  ResponsesEmitter& to;
  NamedEvents& out;

  void grow(OutputItem& item, const std::string& text) const {
    item.text += text;
    const bool whole = item.kind != ItemKind::kCall || item.tool.kind == ToolKind::kFunction;
    if (whole) to.delta(item, words(item).delta, text, out);
  }
  void operator()(const message::ItemStart& e) const { to.named_ = e.id; }
  void operator()(const message::ReasoningDelta& e) const {
    grow(to.at_item(ItemKind::kReasoning, out), e.text);
  }
  void operator()(const message::TextDelta& e) const {
    grow(to.at_item(ItemKind::kMessage, out), e.text);
  }
  void operator()(const message::ToolCallStart& e) const {
    OutputItem item;
    item.kind = ItemKind::kCall;
    item.call_id = e.native_id;
    item.tool = to.head_.tools != nullptr ? to.head_.tools->at(e.name)
                                          : ResponsesTools::Entry{ToolKind::kFunction, e.name, ""};
    to.add(std::move(item), out);
  }
  void operator()(const message::ToolCallArguments& e) const { grow(to.items_.back(), e.text); }
  void operator()(const message::ToolCallEnd&) const {
    to.close_item(to.items_.back(), kCompleted, out);
  }
};

void ResponsesEmitter::events(std::span<const message::Event> events, NamedEvents& out) {
  open(out);
  for (const auto& event : events) std::visit(Adder{*this, out}, event);
}

void ResponsesEmitter::close(std::string_view status, NamedEvents& out) {
  open(out);
  close_all(status == kIncomplete ? kIncomplete : kCompleted, out);
}

std::string ResponsesEmitter::whole(std::string_view status, const message::Usage& usage,
                                    std::int64_t completed) const {
  return object({status, &usage, completed, {}});
}

void ResponsesEmitter::put_texts_last() {
  if (text_ends_ != TextEnds::kLast) return;
  std::stable_partition(items_.begin(), items_.end(),
                        [](const auto& item) { return item.kind != ItemKind::kMessage; });
}

void ResponsesEmitter::end(std::string_view status, std::string_view whole, NamedEvents& out) {
  const bool cut = status == kIncomplete;
  send_response(cut ? "response.incomplete" : "response.completed", whole, out);
}

// Its members stand beside it, too: OpenAI's SDKs read them there, Open Responses says `error`.
void ResponsesEmitter::report(const base::Error& error, NamedEvents& out) {
  open(out);
  close_all(kIncomplete, out);
  Writer w = begin("error", nullptr);
  w.key("error").begin_object();
  write_openai_error(w, error);
  w.end_object();
  w.field("message", openai_error_message(error));
  write_or_null(w, "code", error.code);
  write_or_null(w, "param", error.field);
  send("error", w, out);
}

void ResponsesEmitter::fail(std::string_view code, std::string_view message,
                            const message::Usage* usage, NamedEvents& out) {
  open(out);
  close_all(kIncomplete, out);
  Writer error;
  error.begin_object().field("code", code).field("message", message).end_object();
  ResponseState state;
  state.status = "failed";
  state.usage = usage;
  state.error = error.take();
  send_response("response.failed", object(state), out);
}

}  // namespace verbatim::protocol
