#include "protocol/chat_answer_reader.h"

#include <array>

#include "protocol/server_fields.h"

namespace verbatim::protocol {
namespace {

using base::Result;
using base::Status;
using message::FinishReason;

// function_call is what came before tool_calls.
constexpr std::array<FinishWord, 4> kWords{{{"stop", FinishReason::kStop},
                                            {"tool_calls", FinishReason::kStop},
                                            {"function_call", FinishReason::kStop},
                                            {"length", FinishReason::kLength}}};

bool is_whole_answer(const json::Value& object) {
  const auto choices = object.is_object() ? object.get("choices") : std::nullopt;
  if (!choices || !choices->is_array() || choices->empty()) return false;
  const json::Value choice = (*choices->begin()).value;
  return choice.is_object() && choice.get("message");
}

message::Events events_of(const message::Folded& turn) {
  message::Events events;
  message::append_reasoning(events, turn.reasoning);
  message::append_text(events, turn.text);
  std::uint32_t index = 0;
  for (const auto& call : turn.calls) {
    events.emplace_back(message::ToolCallStart{index, call.native_id, call.name});
    message::append_arguments(events, index, call.arguments);
    if (call.complete) events.emplace_back(message::ToolCallEnd{index});
    ++index;
  }
  return events;
}

}  // namespace

Status ChatAnswerReader::feed(const json::Value& object, message::Events& out) {
  if (!object.is_object()) return not_believed("", "expected an object");
  if (whole_) return not_believed("", "something stands behind the answer");
  if (!is_whole_answer(object)) return stream_.read_chunk(object, out);
  auto read = read_chat_answer(object);
  if (!read) return std::move(read).error();
  whole_ = std::move(*read);
  for (auto& event : events_of(whole_->turn)) out.push_back(std::move(event));
  return {};
}

Result<AnswerEnd> ChatAnswerReader::finish() {
  const ChatResult& said = result();
  const auto finish = finish_of(kWords, said.finish_reason, "choices[0].finish_reason");
  if (!finish) return finish.error();
  AnswerEnd end;
  end.finish = *finish;
  end.word = said.finish_reason;
  end.usage = said.usage;
  end.unknown = said.unknown;
  return end;
}

}  // namespace verbatim::protocol
