#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "message/event.h"
#include "message/message.h"

namespace verbatim::message {

// A call put together from events.
struct FoldedCall {
  std::string native_id;
  std::string name;
  std::string arguments;  // JSON text; a proper prefix of one where the call is not complete
  bool complete = false;
  bool operator==(const FoldedCall&) const = default;
};

// A whole turn put together from events: what a client that does not stream is given, and what the
// deltas of one that does join to.
struct Folded {
  std::string reasoning;
  std::string text;
  std::vector<FoldedCall> calls;
  bool operator==(const Folded&) const = default;

  // Appends what the event says. Events of one turn only, in order; a delta for a call that was not
  // started is a bug of the producer and aborts.
  void add(const Event& event);
  [[nodiscard]] std::size_t complete_calls() const;
  // The assistant message of the turn. Call ids are the native ids: who gives the message out
  // replaces them by handles.
  [[nodiscard]] Message to_message() const;
};

Folded fold(std::span<const Event> events);
// The events of an assistant message that is whole: reasoning, text, calls.
Events unfold(const Message& message);

// Appends a delta; grows the last event where it is of the same kind and call. Empty text adds
// nothing.
void append_text(Events& out, std::string_view text);
void append_reasoning(Events& out, std::string_view text);
void append_arguments(Events& out, std::uint32_t index, std::string_view text);

// What the client is told: a turn cut by length says so whatever it holds; else complete calls ask
// to be run.
FinishReason client_finish(FinishReason engine, std::size_t complete_calls);

// "stop", "length", "tool_calls".
std::string_view name(FinishReason reason);

}  // namespace verbatim::message
