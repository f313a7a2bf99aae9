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
// see. Agents may have made ids up: who calls is told by position then.
class NativeIds {
 public:
  // `count`: calls that stand before the first message shown.
  NativeIds(std::string form, std::size_t count) : form_(std::move(form)), count_(count) {}

  // The call that an agent calls `id` is this one.
  void know(const std::string& id, std::string native) { known_[id] = std::move(native); }
  // A call before the first message shown that may be answered behind it.
  void open(const std::string& id, std::string native);
  // The message as the template is shown it.
  message::Message shown(message::Message message);

 private:
  struct Call {
    std::string id;
    std::string native;
    bool answered = false;
  };
  std::string native_of(const message::ToolCall& call);

  std::string form_;
  std::size_t count_;
  std::unordered_map<std::string, std::string> known_;
  std::vector<Call> open_;
};

}  // namespace verbatim::gateway
