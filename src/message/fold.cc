#include "message/fold.h"

#include <algorithm>
#include <cstdlib>

namespace verbatim::message {
namespace {

struct Adder {
  Folded& into;

  FoldedCall& call(std::uint32_t index) const {
    if (index >= into.calls.size()) std::abort();
    return into.calls[index];
  }
  void operator()(const ReasoningDelta& e) const { into.reasoning += e.text; }
  void operator()(const TextDelta& e) const { into.text += e.text; }
  void operator()(const ToolCallStart& e) const {
    if (e.index != into.calls.size()) std::abort();
    into.calls.push_back({e.native_id, e.name, {}, false});
  }
  void operator()(const ToolCallArguments& e) const { call(e.index).arguments += e.text; }
  void operator()(const ToolCallEnd& e) const { call(e.index).complete = true; }
  void operator()(const ItemStart&) const {}
};

// Parsers give out what they know byte by byte; one event per run keeps streams and tests readable.
template <class Delta>
void append_delta(Events& out, std::string_view text) {
  if (text.empty()) return;
  if (!out.empty()) {
    if (auto* last = std::get_if<Delta>(&out.back())) {
      last->text += text;
      return;
    }
  }
  out.emplace_back(Delta{std::string(text)});
}

}  // namespace

void Folded::add(const Event& event) {
  std::visit(Adder{*this}, event);
}

std::size_t Folded::complete_calls() const {
  return static_cast<std::size_t>(
      std::count_if(calls.begin(), calls.end(), [](const auto& call) { return call.complete; }));
}

Message Folded::to_message() const {
  Message message;
  message.role = Role::kAssistant;
  message.text = text;
  if (!reasoning.empty()) message.reasoning = reasoning;
  for (const auto& call : calls) {
    message.tool_calls.push_back({call.native_id, call.name, call.arguments});
  }
  return message;
}

Folded fold(std::span<const Event> events) {
  Folded folded;
  for (const auto& event : events) folded.add(event);
  return folded;
}

Events unfold(const Message& message) {
  Events events;
  if (message.reasoning) append_reasoning(events, *message.reasoning);
  append_text(events, message.text);
  std::uint32_t index = 0;
  for (const auto& call : message.tool_calls) {
    events.emplace_back(ToolCallStart{index, call.id, call.name});
    append_arguments(events, index, call.arguments);
    events.emplace_back(ToolCallEnd{index});
    ++index;
  }
  return events;
}

void append_text(Events& out, std::string_view text) {
  append_delta<TextDelta>(out, text);
}

void append_reasoning(Events& out, std::string_view text) {
  append_delta<ReasoningDelta>(out, text);
}

void append_arguments(Events& out, std::uint32_t index, std::string_view text) {
  if (text.empty()) return;
  if (!out.empty()) {
    auto* last = std::get_if<ToolCallArguments>(&out.back());
    if (last != nullptr && last->index == index) {
      last->text += text;
      return;
    }
  }
  out.emplace_back(ToolCallArguments{index, std::string(text)});
}

FinishReason client_finish(FinishReason engine, std::size_t complete_calls) {
  if (engine == FinishReason::kLength) return FinishReason::kLength;
  return complete_calls > 0 ? FinishReason::kToolCalls : FinishReason::kStop;
}

std::string_view name(FinishReason reason) {
  switch (reason) {
    case FinishReason::kLength:
      return "length";
    case FinishReason::kToolCalls:
      return "tool_calls";
    case FinishReason::kStop:
      break;
  }
  return "stop";
}

}  // namespace verbatim::message
