#include "gateway/native_ids.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace verbatim::gateway {

using message::Message;
using message::Role;

namespace {

constexpr std::size_t kDigits = 9;

void replace(std::string& text, std::string_view what, std::string_view with) {
  const auto at = text.find(what);
  if (at != std::string::npos) text.replace(at, what.size(), with);
}

}  // namespace

std::string derived_native_id(const std::string& form, const std::string& name, std::size_t count) {
  const std::string digits = std::to_string(count);
  std::string id = form;
  replace(id, "{count}", digits);
  replace(id, "{count:9}", std::string(kDigits - std::min(kDigits, digits.size()), '0') + digits);
  replace(id, "{name}", name);  // last: a name may hold anything
  return id;
}

std::size_t count_calls(std::span<const Message> messages) {
  std::size_t count = 0;
  for (const auto& message : messages) count += message.tool_calls.size();
  return count;
}

void NativeIds::open(const std::string& id, std::string native) {
  open_.push_back({id, std::move(native), false});
}

std::string NativeIds::native_of(const message::ToolCall& call) {
  const auto known = known_.find(call.id);
  if (known != known_.end()) return known->second;
  return derived_native_id(form_, call.name, count_);
}

Message NativeIds::shown(Message message) {
  for (auto& call : message.tool_calls) {
    std::string native = native_of(call);
    ++count_;
    open_.push_back({std::exchange(call.id, native), native, false});
  }
  if (message.role != Role::kTool) return message;
  const auto unanswered = [](const Call& call) { return !call.answered; };
  auto call = std::find_if(open_.begin(), open_.end(), [&](const Call& each) {
    return unanswered(each) && each.id == message.tool_call_id;
  });
  if (call == open_.end()) call = std::find_if(open_.begin(), open_.end(), unanswered);
  if (call == open_.end()) return message;
  call->answered = true;
  message.tool_call_id = call->native;
  return message;
}

}  // namespace verbatim::gateway
