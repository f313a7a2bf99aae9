#pragma once

#include <functional>

namespace verbatim::base {

class CancelHook;

// Tells a running piece of work that nobody wants its result: the client hung up, the session was
// deleted, a deadline passed. Fired at most once. Single-threaded: it belongs to one executor.
class CancelSignal {
 public:
  CancelSignal() = default;
  CancelSignal(const CancelSignal&) = delete;
  CancelSignal& operator=(const CancelSignal&) = delete;
  ~CancelSignal();

  // Runs the hooks, newest first. `reason` must outlive the signal (a literal). A hook may destroy
  // the signal: the rest is then forgotten.
  void fire(const char* reason);
  [[nodiscard]] bool fired() const { return reason_ != nullptr; }
  [[nodiscard]] const char* reason() const { return reason_; }

 private:
  friend class CancelHook;
  CancelHook* first_ = nullptr;
  const char* reason_ = nullptr;
  bool* destroyed_ = nullptr;  // set while fire() runs
};

// Runs `action` when the signal fires while the hook lives (at once when it has already fired).
class CancelHook {
 public:
  CancelHook(CancelSignal& signal, std::function<void()> action);
  CancelHook(const CancelHook&) = delete;
  CancelHook& operator=(const CancelHook&) = delete;
  ~CancelHook();

 private:
  friend class CancelSignal;
  void unlink();
  CancelSignal* signal_ = nullptr;
  CancelHook* next_ = nullptr;
  CancelHook* prev_ = nullptr;
  std::function<void()> action_;
};

}  // namespace verbatim::base
