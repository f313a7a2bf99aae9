#include <utility>

#include "chat/jinja/attributes.h"
#include "chat/jinja/globals.h"
#include "chat/jinja/interpreter.h"
#include "chat/jinja/interpreter_scopes.h"

namespace verbatim::chat::jinja {

Value Interpreter::evaluate_call(const Expr& expr) {
  const Expr& callee = *expr.kids.front();
  Value scratch;
  Arguments arguments;
  if (callee.kind == ExprKind::kAttribute) {
    const Value& object = evaluate(*callee.kids[0], scratch);
    if (failed()) return {};
    // Called where it is looked up: no bound method is made. Python looks it up ahead of the
    // arguments.
    if (is_method(object, callee.attribute)) {
      evaluate_arguments(expr, arguments);
      if (failed()) return {};
      return call_method(*this, object, callee.attribute->method, arguments);
    }
    const Value function = get_attribute(*this, object, callee.value, callee.attribute);
    evaluate_arguments(expr, arguments);
    return failed() ? Value() : call(function, std::move(arguments));
  }
  const Value& function = evaluate(callee, scratch);
  if (failed()) return {};
  evaluate_arguments(expr, arguments);
  return failed() ? Value() : call(function, std::move(arguments));
}

Value Interpreter::call(const Value& callee, Arguments&& arguments) {
  const Depth depth(*this);
  if (failed()) return {};
  switch (callee.kind()) {
    case Kind::kMacro: {
      Capture capture(*this);
      run_macro(*static_cast<const MacroObject*>(callee.object()), std::move(arguments));
      return failed() ? Value() : capture.take();
    }
    case Kind::kMethod: {
      const auto& method = *static_cast<const MethodObject*>(callee.object());
      return call_method(*this, method.self, static_cast<Method>(method.method), arguments);
    }
    case Kind::kFunction:
      return call_function(callee.extra(), arguments);
    case Kind::kLoop:
      return call_loop(*static_cast<LoopObject*>(callee.object()), arguments);
    case Kind::kJoiner: {
      auto& joiner = *static_cast<JoinerObject*>(callee.object());
      if (!arguments.empty()) return type_error("Joiner.__call__() takes no arguments");
      return std::exchange(joiner.used, true) ? joiner.separator : Value::string(std::string());
    }
    case Kind::kUndefined:
      return undefined_error(callee);
    default:
      return type_error(type_name_quoted(callee) + " object is not callable");
  }
}

Value Interpreter::call_function(std::uint16_t id, Arguments& arguments) {
  switch (static_cast<Global>(id)) {
    case Global::kRange:
      return call_range(*this, arguments);
    case Global::kDict:
      return call_dict(*this, arguments);
    case Global::kNamespace: {
      Value made = call_namespace(*this, arguments);
      if (made.kind() == Kind::kNamespace) namespaces_.push_back(made);
      return made;
    }
    case Global::kRaiseException:
      return call_raise_exception(*this, arguments);
    case Global::kStrftimeNow:
      return call_strftime_now(*this, arguments);
    case Global::kJoiner:
      return call_joiner(*this, arguments);
    case Global::kCycler:
      return call_cycler(*this, arguments);
  }
  return {};
}

Value Interpreter::call_loop(LoopObject& loop, Arguments& arguments) {
  if (loop.recursive == nullptr) {
    return type_error("The loop must have the 'recursive' marker to be called recursively.");
  }
  if (arguments.positional.size() != 1 || !arguments.named.empty()) {
    return type_error("loop() takes exactly one argument");
  }
  const Stmt& stmt = *loop.recursive;
  std::unique_ptr<Activation> owner;
  Activation* const caller = frame_;
  frame_ = &new_activation(*stmt.function, loop.home, owner);
  Capture capture(*this);
  run_loop(stmt, stmt.function->body, arguments.positional.front(), loop.depth0 + 1, loop.home);
  frame_ = caller;
  return failed() ? Value() : capture.take();
}

Value Interpreter::make_macro(const Function& function) {
  auto* macro = new MacroObject;
  macro->function = &function;
  macro->home = frame_;
  return Value::of(Kind::kMacro, macro);
}

Activation& Interpreter::new_activation(const Function& function, Activation* outer,
                                        std::unique_ptr<Activation>& owner) {
  auto activation = std::make_unique<Activation>();
  activation->outer = outer;
  activation->slots.resize(function.slots, Value::missing());
  Activation& made = *activation;
  // Macros made inside point to these variables and may outlive the call: kept until the render
  // ends.
  if (function.captures) {
    allocate(sizeof(Activation) + function.slots * sizeof(Value));
    kept_.push_back(std::move(activation));
  } else {
    owner = std::move(activation);
  }
  return made;
}

void Interpreter::run_macro(const MacroObject& macro, Arguments&& arguments) {
  const Depth depth(*this);
  if (failed()) return;
  const Function& function = *macro.function;
  std::unique_ptr<Activation> owner;
  Activation& activation = new_activation(function, macro.home, owner);
  if (!bind_macro(macro, arguments, activation)) return;
  const std::uint32_t line_of_call = line();
  Activation* const caller = std::exchange(frame_, &activation);
  enter(function.scope);
  apply_defaults(function);
  execute(function.body);
  frame_ = caller;
  // Errors of what follows the call name the line of the call.
  if (!failed()) set_line(line_of_call);
}

// As jinja2/runtime.py, Macro.__call__.
bool Interpreter::bind_macro(const MacroObject& macro, Arguments& arguments,
                             Activation& activation) {
  const Function& function = *macro.function;
  auto& given = arguments.positional;
  const std::size_t count = function.parameters.size();
  bool found_caller = false;
  for (std::size_t i = 0; i < count; ++i) {
    const Expr& parameter = *function.parameters[i];
    if (i < given.size()) {
      activation.slots[parameter.slot.slot] = given[i];
      continue;
    }
    activation.slots[parameter.slot.slot] = arguments.take(parameter.value.text());
    if (parameter.value.text() == "caller") found_caller = true;
  }
  if (given.size() >= count) found_caller = function.explicit_caller;
  return bind_specials(function, arguments, found_caller, activation);
}

bool Interpreter::bind_specials(const Function& function, Arguments& arguments, bool found_caller,
                                Activation& activation) {
  const std::string label =
      function.name.is_string() ? "macro '" + std::string(function.name.text()) + "'" : "macro";
  if (function.takes_caller && !found_caller) {
    Value caller = arguments.take("caller");
    if (caller.is_missing())
      caller = make_undefined(UndefinedBy::kHint, Value::string("No caller defined"));
    activation.slots[function.caller_slot] = std::move(caller);
  }
  if (function.takes_kwargs) {
    activation.slots[function.kwargs_slot] = Value::dict(std::move(arguments.named));
  } else if (!arguments.named.empty()) {
    type_error(label + " takes no keyword argument '" +
               std::string(arguments.named.front().first.text()) + "'");
    return false;
  }
  const std::size_t count = function.parameters.size();
  auto& given = arguments.positional;
  if (function.takes_varargs) {
    std::vector<Value> rest;
    if (given.size() > count)
      rest.assign(given.begin() + static_cast<std::ptrdiff_t>(count), given.end());
    activation.slots[function.varargs_slot] = Value::tuple(std::move(rest));
  } else if (given.size() > count) {
    type_error(label + " takes not more than " + std::to_string(count) + " argument(s)");
    return false;
  }
  return true;
}

void Interpreter::apply_defaults(const Function& function) {
  const std::size_t count = function.parameters.size();
  const std::size_t required = count - function.defaults.size();
  for (std::size_t i = 0; i < count && !failed(); ++i) {
    Value& parameter = frame_->slots[function.parameters[i]->slot.slot];
    if (!parameter.is_missing()) continue;
    if (i >= required) {
      Value scratch;
      parameter = evaluate(*function.defaults[i - required], scratch);
    } else {
      parameter = make_undefined(
          UndefinedBy::kHint,
          Value::string("parameter '" + std::string(function.parameters[i]->value.text()) +
                        "' was not provided"));
    }
  }
}

}  // namespace verbatim::chat::jinja
