#include "base/cancel.h"

#include <utility>

namespace verbatim::base {

CancelSignal::~CancelSignal() {
  while (first_ != nullptr) first_->unlink();
}

void CancelSignal::fire(const char* reason) {
  if (reason_ != nullptr) return;
  reason_ = reason;
  // A hook may destroy other hooks, so the head is read again each time.
  while (first_ != nullptr) {
    CancelHook* hook = first_;
    hook->unlink();
    auto action = std::move(hook->action_);
    action();
  }
}

CancelHook::CancelHook(CancelSignal& signal, std::function<void()> action)
    : action_(std::move(action)) {
  if (signal.fired()) {
    action_();
    return;
  }
  signal_ = &signal;
  next_ = signal.first_;
  if (next_ != nullptr) next_->prev_ = this;
  signal.first_ = this;
}

CancelHook::~CancelHook() {
  unlink();
}

void CancelHook::unlink() {
  if (signal_ == nullptr) return;
  if (prev_ != nullptr) {
    prev_->next_ = next_;
  } else {
    signal_->first_ = next_;
  }
  if (next_ != nullptr) next_->prev_ = prev_;
  signal_ = nullptr;
  next_ = prev_ = nullptr;
}

}  // namespace verbatim::base
