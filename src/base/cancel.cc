#include "base/cancel.h"

#include <utility>

namespace verbatim::base {

CancelSignal::~CancelSignal() {
  if (destroyed_ != nullptr) *destroyed_ = true;
  while (first_ != nullptr) first_->unlink();
}

void CancelSignal::fire(const char* reason) {
  if (reason_ != nullptr) return;
  reason_ = reason;
  bool destroyed = false;
  destroyed_ = &destroyed;
  // A hook may destroy other hooks, so the head is read again each time; or end the work that owns
  // this signal.
  while (first_ != nullptr) {
    CancelHook* hook = first_;
    hook->unlink();
    auto action = std::move(hook->action_);
    action();
    if (destroyed) return;
  }
  destroyed_ = nullptr;
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
