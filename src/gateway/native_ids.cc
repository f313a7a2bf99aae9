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

void NativeIds::know_answer(std::size_t at, std::span<const message::ToolCall> recorded,
                            std::span<const message::ToolCall> sent) {
  for (std::size_t i = 0; i < recorded.size(); ++i) know(recorded[i].id, recorded[i].native_id);
  auto& natives = answers_[at];
  for (std::size_t i = 0; i < sent.size(); ++i) {
    // Equal calls may come back in another order: their handles tell which is which.
    const auto handle = handles_.find(sent[i].id);
    natives.push_back(handle == handles_.end() ? recorded[i].native_id : handle->second);
    spelled_[sent[i].id] = natives.back();
  }
}

void NativeIds::start(std::size_t first, std::size_t count) {
  at_ = first;
  count_ = count;
  open_.clear();
}

void NativeIds::open(std::span<const message::ToolCall> recorded,
                     std::span<const message::ToolCall> sent) {
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    const auto handle = handles_.find(sent[i].id);
    open_.push_back(
        {sent[i].id, handle == handles_.end() ? recorded[i].native_id : handle->second, false});
  }
}

std::string NativeIds::native_of(const message::ToolCall& call, std::size_t index) const {
  const auto answer = answers_.find(at_);
  if (answer != answers_.end() && index < answer->second.size()) return answer->second[index];
  const auto handle = handles_.find(call.id);
  if (handle != handles_.end()) return handle->second;
  return derived_native_id(form_, call.name, count_);
}

const std::string* NativeIds::known(const std::string& id) const {
  for (const auto* ids : {&handles_, &spelled_}) {
    if (const auto found = ids->find(id); found != ids->end()) return &found->second;
  }
  return nullptr;
}

// By the id among the calls that wait for a result; then whatever call it was given to before, one
// with a result too; then the first that waits. An id of nobody stays.
void NativeIds::answer(std::string& id) {
  const auto waits = [](const Call& call) { return !call.answered; };
  const auto named = [&](const Call& call) { return call.id == id; };
  auto call = std::find_if(open_.begin(), open_.end(),
                           [&](const Call& each) { return waits(each) && named(each); });
  if (call == open_.end()) call = std::find_if(open_.begin(), open_.end(), named);
  const std::string* before = call == open_.end() ? known(id) : nullptr;
  if (before != nullptr) {
    id = *before;
    return;
  }
  if (call == open_.end()) call = std::find_if(open_.begin(), open_.end(), waits);
  if (call == open_.end()) return;
  call->answered = true;
  id = call->native;
}

Message NativeIds::shown(Message message) {
  for (std::size_t i = 0; i < message.tool_calls.size(); ++i) {
    auto& call = message.tool_calls[i];
    std::string native = native_of(call, i);
    ++count_;
    open_.push_back({std::exchange(call.id, native), native, false});
  }
  ++at_;
  if (message.role == Role::kTool) answer(message.tool_call_id);
  return message;
}

}  // namespace verbatim::gateway
