#pragma once

#include "chat/jinja/interpreter.h"

// Guards of the interpreter: for its own sources only.
namespace verbatim::chat::jinja {

// While it lives, output goes into a text of its own.
class Interpreter::Capture {
 public:
  explicit Capture(Interpreter& interpreter)
      : interpreter_(interpreter), outer_(std::exchange(interpreter.out_, &text_)) {}
  ~Capture() { interpreter_.out_ = outer_; }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  Value take() { return interpreter_.make_string(std::move(text_)); }

 private:
  Interpreter& interpreter_;
  TextBuilder text_;
  TextBuilder* outer_;
};

}  // namespace verbatim::chat::jinja
