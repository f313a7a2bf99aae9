#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "chat/jinja/macro.h"
#include "chat/jinja/runtime.h"

namespace verbatim::chat::jinja {

// Runs one template once. Not thread-safe; many may run the same Program.
//
// An expression gives a reference: to a variable, to a part of one, to a constant, or to the
// `scratch` value of the caller where something new was made. References to variables stay good for
// as long as an expression is evaluated, since expressions can't assign; attributes of namespaces
// can change (a macro that is called may set them) and are copied.
class Interpreter final : public Runtime {
 public:
  // `context`: a dict value.
  Interpreter(const Program& program, const Value& context, const RenderOptions& options);
  ~Interpreter() override;

  base::Result<Text> run();
  Value call(const Value& callee, Arguments&& arguments) override;

  // For the iterator behind {% for ... if %}: whether the item passes; makes it what the loop sees.
  bool passes(const Stmt& loop, Activation* activation, Value& item);

 private:
  enum class Flow : std::uint8_t { kNext, kBreak, kContinue };
  class Capture;

  // Statements.
  Flow execute(const Block& block);
  Flow execute(const Stmt& stmt);
  Flow execute_if(const Stmt& stmt);
  Flow execute_for(const Stmt& stmt);
  Flow run_loop(const Stmt& stmt, const Block& body, Value iterable, std::int64_t depth0,
                Activation* home);
  Flow loop_items(const Stmt& stmt, const Block& body, LoopObject* loop, Iteration* items,
                  bool& completed);
  Flow execute_set_block(const Stmt& stmt);
  Flow execute_filter_block(const Stmt& stmt);
  Flow execute_with(const Stmt& stmt);
  void execute_call_block(const Stmt& stmt);
  void assign(const Expr& target, const Value& value);
  void unpack(const Expr& target, const Value& value);
  void assign_attribute(const Expr& target, const Value& value);
  void enter(const Scope& scope);

  // Output.
  void emit(const Expr& expr);
  void emit_value(const Value& value);
  void emit_call(const Expr& expr);
  bool fits();

  // Expressions.
  const Value& evaluate(const Expr& expr, Value& scratch);
  const Value& evaluate_name(const Expr& expr, Value& scratch);
  const Value& evaluate_attribute(const Expr& expr, Value& scratch);
  const Value& evaluate_item(const Expr& expr, Value& scratch);
  const Value& evaluate_logic(const Expr& expr, Value& scratch);
  const Value& evaluate_condition(const Expr& expr, Value& scratch);
  Value evaluate_other(const Expr& expr);
  Value evaluate_sum(const Expr& expr);
  Value evaluate_concat(const Expr& expr);
  Value evaluate_sign(const Expr& expr);
  Value evaluate_binary(const Expr& expr);
  Value evaluate_collection(const Expr& expr);
  Value evaluate_dict(const Expr& expr);
  Value evaluate_slice(const Expr& expr);
  Value evaluate_call(const Expr& expr);
  Value evaluate_filter(const Expr& expr, const Value* input);
  bool evaluate_test(const Expr& expr);
  bool evaluate_comparison(const Expr& expr);
  bool compare(Comparison sign, const Value& a, const Value& b);
  // Adds the operands from left to right, strings straight into `out`; what is no string comes back
  // as a value.
  std::optional<Value> sum_into(TextBuilder& out, const Expr& expr);
  void evaluate_arguments(const Expr& expr, Arguments& arguments);
  void spread_arguments(const Expr& expr, Arguments& arguments);

  // Calls.
  Value call_function(std::uint16_t id, Arguments& arguments);
  Value call_loop(LoopObject& loop, Arguments& arguments);
  // Runs the macro with its text going to the output.
  void run_macro(const MacroObject& macro, Arguments&& arguments);
  bool bind_macro(const MacroObject& macro, Arguments& arguments, Activation& activation);
  bool bind_specials(const Function& function, Arguments& arguments, bool found_caller,
                     Activation& activation);
  void apply_defaults(const Function& function);
  Value make_macro(const Function& function);
  Activation& new_activation(const Function& function, Activation* outer,
                             std::unique_ptr<Activation>& owner);

  Value resolve(const Value& name);
  Value& slot(const SlotRef& ref);

  const Program& program_;
  const Value& context_;
  TextBuilder* out_ = nullptr;
  Activation* frame_ = nullptr;
  std::vector<std::unique_ptr<Activation>> kept_;  // macros may point to these
  std::vector<Value> namespaces_;                  // emptied at the end: they may hold themselves
};

}  // namespace verbatim::chat::jinja
