#include "trajectory/letters.h"

#include <cstdint>
#include <cstring>
#include <string_view>

namespace verbatim::trajectory {
namespace {

using message::Message;
using message::ToolCall;

// Before the letters of a message: text, parts, reasoning, name, then its calls. Sizes are bytes; a
// message is smaller than the body it came in (json::ParseLimits).
struct Head {
  std::uint32_t text = 0;
  std::uint32_t parts = 0;
  std::uint32_t reasoning = 0;
  std::uint32_t name = 0;
  std::uint32_t calls = 0;  // how many
  message::Role role{};
};

// Before the letters of a call: name, then arguments.
struct CallHead {
  std::uint32_t name = 0;
  std::uint32_t arguments = 0;
};

template <class T>
void append_head(std::string& letters, const T& head) {
  letters.append(reinterpret_cast<const char*>(&head), sizeof head);
}

std::uint32_t size_of(std::string_view text) {
  return static_cast<std::uint32_t>(text.size());
}

// Takes letters from the front.
class Cursor {
 public:
  explicit Cursor(std::span<const char> letters) : rest_(letters) {}
  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  template <class T>
  T head() {
    T head;
    std::memcpy(&head, rest_.data(), sizeof head);
    rest_ = rest_.subspan(sizeof head);
    return head;
  }
  std::string_view take(std::size_t size) {
    const std::string_view taken(rest_.data(), size);
    rest_ = rest_.subspan(size);
    return taken;
  }

 private:
  std::span<const char> rest_;
};

bool repeats_call(Cursor& letters, const ToolCall& sent) {
  const auto head = letters.head<CallHead>();
  return letters.take(head.name) == sent.name && letters.take(head.arguments) == sent.arguments;
}

bool repeats(Cursor& letters, const Message& sent) {
  const auto head = letters.head<Head>();
  if (head.role != sent.role || head.calls != sent.tool_calls.size()) return false;
  if (letters.take(head.text) != sent.text) return false;
  if (letters.take(head.parts) != message::parts_of(sent)) return false;
  const auto reasoning = letters.take(head.reasoning);
  if (sent.reasoning && !sent.reasoning->empty() && reasoning != *sent.reasoning) return false;
  if (letters.take(head.name) != sent.name) return false;
  for (const auto& call : sent.tool_calls) {
    if (!repeats_call(letters, call)) return false;
  }
  return true;
}

}  // namespace

void append_letters(std::string& letters, const Message& message) {
  const std::string_view reasoning =
      message.reasoning ? std::string_view(*message.reasoning) : std::string_view();
  const std::string_view parts = message::parts_of(message);
  append_head(letters,
              Head{size_of(message.text), size_of(parts), size_of(reasoning), size_of(message.name),
                   static_cast<std::uint32_t>(message.tool_calls.size()), message.role});
  letters.append(message.text).append(parts).append(reasoning).append(message.name);
  for (const auto& call : message.tool_calls) {
    append_head(letters, CallHead{size_of(call.name), size_of(call.arguments)});
    letters.append(call.name).append(call.arguments);
  }
}

std::size_t repeated(std::span<const char> letters, std::span<const Message> sent) {
  Cursor cursor(letters);
  std::size_t count = 0;
  for (; !cursor.at_end(); ++count) {
    if (count == sent.size() || !repeats(cursor, sent[count])) return 0;
  }
  return count;
}

}  // namespace verbatim::trajectory
