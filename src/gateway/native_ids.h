#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "message/message.h"

namespace verbatim::gateway {

// The id of a call by the form of its family (Family::native_id), where the model wrote none:
// "{name}" is the call's name, "{count}" how many calls stand before it in the conversation,
// "{count:9}" the same with nine digits.
std::string derived_native_id(const std::string& form, const std::string& name, std::size_t count);

std::size_t count_calls(std::span<const message::Message> messages);

// Walks along a conversation and shows its messages with native ids in place of those that agents
// see. A call that was recorded is told by its place, or by its handle; agents may have made ids
// up, and given one twice: who calls is told by position then.
class NativeIds {
 public:
  explicit NativeIds(std::string form) : form_(std::move(form)) {}

  // The call with this handle.
  void know(const std::string& handle, std::string native) { handles_[handle] = std::move(native); }
  // The calls of the answer that stands at messages[at] of the request, as it was recorded. `sent`
  // are the same as the agent spells them.
  void know_answer(std::size_t at, std::span<const message::ToolCall> recorded,
                   std::span<const message::ToolCall> sent);

  // Begins at messages[first]; `count` calls stand before it.
  void start(std::size_t first, std::size_t count);
  // Calls before the first message shown that may be answered behind it.
  void open(std::span<const message::ToolCall> recorded, std::span<const message::ToolCall> sent);
  // The next message as the template is shown it.
  message::Message shown(message::Message message);

 private:
  struct Call {
    std::string id;
    std::string native;
    bool answered = false;
  };
  // Of call `index` of the message shown.
  [[nodiscard]] std::string native_of(const message::ToolCall& call, std::size_t index) const;
  [[nodiscard]] const std::string* known(const std::string& id) const;
  void answer(std::string& id);

  std::string form_;
  std::size_t at_ = 0;  // of the message shown next
  std::size_t count_ = 0;
  std::unordered_map<std::string, std::string> handles_;
  std::unordered_map<std::string, std::string> spelled_;  // by the agent; may be there twice
  std::unordered_map<std::size_t, std::vector<std::string>> answers_;  // natives by message
  std::vector<Call> open_;
};

}  // namespace verbatim::gateway
