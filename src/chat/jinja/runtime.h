#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/jinja/objects.h"
#include "chat/jinja/render_options.h"
#include "chat/jinja/value.h"

namespace verbatim::chat::jinja {

// Arguments of a call, in the order Python passes them.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<Value, Value>> named;  // name (a string), value

  [[nodiscard]] bool empty() const { return positional.empty() && named.empty(); }
  // Takes an argument given by name out; kMissing when there is none.
  Value take(std::string_view name);
};

// What everything that runs during one render shares: the first error, the budget, the clock. An
// error sticks: after it everything returns quickly and whatever it returns is thrown away, so that
// code only has to look where it would loop.
class Runtime {
 public:
  explicit Runtime(const RenderOptions& options);
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  virtual ~Runtime() = default;

  [[nodiscard]] bool failed() const { return error_.has_value(); }
  [[nodiscard]] base::Error take_error() { return std::move(*error_); }
  [[nodiscard]] const RenderOptions& options() const { return options_; }

  // Work of about `count` elementary steps. False once the render has failed.
  bool step(std::uint64_t count = 1) {
    if (steps_left_ < count) return out_of_steps();
    steps_left_ -= count;
    return true;
  }
  // Work on this many bytes.
  bool scan(std::size_t bytes) { return step(bytes / 64 + 1); }
  // Memory that the template makes the engine use. Counted up only: what is freed again counts,
  // too.
  bool allocate(std::size_t bytes);

  // Errors; each returns a value that nobody looks at. `line` is the one of the statement that
  // runs.
  Value fail(base::ErrorKind kind, std::string message);    // message as it is
  Value raise(std::string_view type, std::string message);  // "line 3: TypeError: message"
  Value type_error(std::string message) { return raise("TypeError", std::move(message)); }
  Value value_error(std::string message) { return raise("ValueError", std::move(message)); }
  Value unsupported(std::string message);
  // The error that using an undefined value is.
  Value undefined_error(const Value& undefined);
  void set_line(std::uint32_t line) { line_ = line; }
  [[nodiscard]] std::uint32_t line() const { return line_; }

  // A string out of a builder, its bytes counted.
  Value make_string(TextBuilder&& builder);
  Value make_list(std::vector<Value> items, SourceId source = kTemplate, bool tuple = false);
  // Refuses objects that are nested too deeply.
  Value checked(Value value);

  virtual Value call(const Value& callee, Arguments&& arguments) = 0;

  // Counts what runs inside of something else (expressions, statements, generators), so that the
  // stack stays bounded. Life: on the stack.
  class Depth {
   public:
    explicit Depth(Runtime& runtime) : runtime_(runtime) {
      if (++runtime_.depth_ > runtime_.options_.max_depth) runtime_.too_deep();
    }
    ~Depth() { --runtime_.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;

   private:
    Runtime& runtime_;
  };

 private:
  bool out_of_steps();
  void too_deep();

  const RenderOptions& options_;
  std::optional<base::Error> error_;
  std::uint64_t steps_left_;
  std::uint64_t bytes_left_;
  std::uint32_t line_ = 1;
  unsigned depth_ = 0;
};

// Kinds of undefined values, in Value::extra() together with the kind of the object that was asked.
enum class UndefinedBy : std::uint8_t { kName, kAttribute, kElement, kHint, kUnsafe };
// `name`: a string value (name or hint), may be undefined for none.
Value make_undefined(UndefinedBy by, const Value& name, Kind object = Kind::kUndefined);
std::string undefined_message(const Value& undefined);

std::string_view type_name(const Value& value);  // as Python names it: "str", "dict" ...
std::string type_name_quoted(const Value& value);

}  // namespace verbatim::chat::jinja
