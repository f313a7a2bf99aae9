#pragma once

#include "chat/jinja/interpreter.h"

// Guards of the interpreter: for its own sources only.
namespace verbatim::chat::jinja {

// Counts nested evaluations, so that the stack stays bounded.
class Interpreter::Depth {
 public:
  explicit Depth(Interpreter& interpreter) : interpreter_(interpreter) {
    if (++interpreter_.depth_ > interpreter_.options().max_depth) {
      interpreter_.fail(base::ErrorKind::kTooLarge, "line " + std::to_string(interpreter_.line()) +
                                                        ": the template recurses too deeply");
    }
  }
  ~Depth() { --interpreter_.depth_; }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;

 private:
  Interpreter& interpreter_;
};

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
