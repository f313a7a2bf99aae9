#include "base/timer.h"

#include <bit>
#include <utility>

namespace verbatim::base {

void Timer::arm(TimerWheel& wheel, MonoTime deadline, std::function<void()> action) {
  cancel();
  action_ = std::move(action);
  wheel_ = &wheel;
  // Rounded up, so that a timer never fires early.
  tick_ = static_cast<std::uint64_t>((deadline.us + TimerWheel::kTick - 1) / TimerWheel::kTick);
  wheel.insert(*this);
}

void Timer::move(MonoTime deadline) {
  if (wheel_ == nullptr) return;
  TimerWheel& wheel = *wheel_;
  wheel.remove(*this);
  tick_ = static_cast<std::uint64_t>((deadline.us + TimerWheel::kTick - 1) / TimerWheel::kTick);
  wheel.insert(*this);
}

void Timer::cancel() {
  if (wheel_ == nullptr) return;
  wheel_->remove(*this);
  wheel_ = nullptr;
  action_ = nullptr;
}

TimerWheel::~TimerWheel() {
  for (Slot& slot : slots_) {
    while (slot.head != nullptr) slot.head->cancel();
  }
}

void TimerWheel::insert(Timer& timer) {
  if (timer.tick_ <= now_tick_) timer.tick_ = now_tick_ + 1;
  timer.slot_ = static_cast<unsigned>(timer.tick_ % kSlots);
  Slot& slot = slots_[timer.slot_];
  timer.prev_ = slot.tail;
  timer.next_ = nullptr;
  (slot.tail != nullptr ? slot.tail->next_ : slot.head) = &timer;
  slot.tail = &timer;
  used_[timer.slot_ / 64] |= std::uint64_t{1} << (timer.slot_ % 64);
  ++armed_;
  if (timer.tick_ < promised_) {
    promised_ = timer.tick_;
    if (wake_) wake_();
  }
}

void TimerWheel::remove(Timer& timer) {
  Slot& slot = slots_[timer.slot_];
  (timer.prev_ != nullptr ? timer.prev_->next_ : slot.head) = timer.next_;
  (timer.next_ != nullptr ? timer.next_->prev_ : slot.tail) = timer.prev_;
  timer.next_ = timer.prev_ = nullptr;
  if (slot.head == nullptr) used_[timer.slot_ / 64] &= ~(std::uint64_t{1} << (timer.slot_ % 64));
  --armed_;
}

void TimerWheel::advance(MonoTime now) {
  const auto target = static_cast<std::uint64_t>(now.us / kTick);
  while (now_tick_ < target) {
    if (armed_ == 0) {
      now_tick_ = target;
      break;
    }
    ++now_tick_;
    Slot& slot = slots_[now_tick_ % kSlots];
    // An action may arm or cancel any timer, so the slot is searched again from its head after each
    // one.
    for (Timer* t = slot.head; t != nullptr;) {
      if (t->tick_ > now_tick_) {
        t = t->next_;
        continue;
      }
      remove(*t);
      t->wheel_ = nullptr;
      auto action = std::move(t->action_);
      t->action_ = nullptr;
      action();
      t = slot.head;
    }
  }
  promised_ = UINT64_MAX;
}

MonoTime TimerWheel::next_deadline() const {
  promised_ = UINT64_MAX;
  if (armed_ == 0) return kNever;
  const std::uint64_t first = now_tick_ + 1;
  for (unsigned i = 0; i < kSlots;) {
    const auto slot = static_cast<unsigned>((first + i) % kSlots);
    const std::uint64_t rest = used_[slot / 64] >> (slot % 64);
    if (rest == 0) {
      i += 64 - slot % 64;
      continue;
    }
    promised_ = first + i + static_cast<unsigned>(std::countr_zero(rest));
    break;
  }
  return MonoTime{static_cast<std::int64_t>(promised_) * kTick};
}

}  // namespace verbatim::base
