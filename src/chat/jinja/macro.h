#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chat/jinja/ast.h"
#include "chat/jinja/operations.h"

// What the interpreter alone makes: variables of running functions, macros, `loop`.
namespace verbatim::chat::jinja {

// The variables of one call of a function. Owned by the interpreter; macros point to the one they
// were made in.
struct Activation {
  Activation* outer = nullptr;  // of the function around this one
  std::vector<Value> slots;
};

struct MacroObject final : Object {
  const Function* function = nullptr;
  Activation* home = nullptr;
};
// The macro's name in quotes, or "anonymous".
std::string macro_label(const MacroObject& macro);

// The special variable of a loop. While the loop runs it is the one that takes items out of what is
// looped over.
struct LoopObject final : Object {
  LoopObject(Runtime& runtime, const Value& iterable) : items(std::in_place, runtime, iterable) {
    length = length_of(iterable);
  }
  std::optional<Iteration> items;
  std::optional<std::int64_t> length;  // known for what has one, or once it was asked for
  std::vector<Value> ahead;            // items taken already; the next one is the last
  Value current = Value::missing();
  Value before = Value::missing();
  std::optional<Value> last_changed;
  std::int64_t index0 = -1;
  std::int64_t depth0 = 0;
  const Stmt* recursive = nullptr;  // the statement to run again when `loop` is called
  Activation* home = nullptr;       // where that statement stands

  bool next(Value& item);
  bool peek(Value& item);
  std::int64_t count(Runtime& runtime);
  // After the loop: lets go of everything but the numbers.
  void end();
};

// kMissing when there is no such attribute.
Value loop_attribute(Runtime& runtime, LoopObject& loop, LoopField field);

}  // namespace verbatim::chat::jinja
