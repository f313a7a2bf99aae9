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

void TimerWheel::append(unsigned index, Timer& timer) {
  timer.slot_ = index;
  Slot& slot = slots_[index];
  timer.prev_ = slot.tail;
  timer.next_ = nullptr;
  (slot.tail != nullptr ? slot.tail->next_ : slot.head) = &timer;
  slot.tail = &timer;
}

void TimerWheel::insert(Timer& timer) {
  if (timer.tick_ <= now_tick_) timer.tick_ = now_tick_ + 1;
  append(static_cast<unsigned>(timer.tick_ % kSlots), timer);
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
  if (slot.head == nullptr && timer.slot_ < kSlots)
    used_[timer.slot_ / 64] &= ~(std::uint64_t{1} << (timer.slot_ % 64));
  --armed_;
}

void TimerWheel::collect_due(Slot& slot) {
  for (Timer* t = slot.head; t != nullptr;) {
    Timer& timer = *t;
    t = t->next_;
    if (timer.tick_ > now_tick_) continue;  // a later round of the wheel
    remove(timer);
    append(kSlots, timer);
    ++armed_;
  }
}

void TimerWheel::advance(MonoTime now) {
  const auto target = static_cast<std::uint64_t>(now.us / kTick);
  while (now_tick_ < target) {
    const std::uint64_t next = next_used_tick();
    if (next > target) {
      now_tick_ = target;
      break;
    }
    now_tick_ = next;
    collect_due(slots_[now_tick_ % kSlots]);
    // An action may arm, move or cancel any timer, also one that is due now.
    while (Timer* t = slots_[kSlots].head) {
      remove(*t);
      t->wheel_ = nullptr;
      auto action = std::move(t->action_);
      t->action_ = nullptr;
      action();
    }
  }
  promised_ = UINT64_MAX;
}

std::uint64_t TimerWheel::next_used_tick() const {
  if (armed_ == 0) return UINT64_MAX;
  const std::uint64_t first = now_tick_ + 1;
  for (unsigned i = 0; i < kSlots;) {
    const auto slot = static_cast<unsigned>((first + i) % kSlots);
    const std::uint64_t rest = used_[slot / 64] >> (slot % 64);
    if (rest != 0) return first + i + static_cast<unsigned>(std::countr_zero(rest));
    i += 64 - slot % 64;
  }
  return UINT64_MAX;
}

MonoTime TimerWheel::next_deadline() const {
  promised_ = next_used_tick();
  return promised_ == UINT64_MAX ? kNever : MonoTime{static_cast<std::int64_t>(promised_) * kTick};
}

}  // namespace verbatim::base
