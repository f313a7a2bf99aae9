#include <utility>

#include "chat/jinja/attributes.h"
#include "chat/jinja/interpreter.h"
#include "chat/jinja/interpreter_scopes.h"
#include "chat/jinja/print.h"

namespace verbatim::chat::jinja {
namespace {

bool is_plain_string(const Value& value) {
  return value.is_string() && !value.is_markup();
}

}  // namespace

// Most of a prompt is printed by ~, +, tojson and macros: these write straight into the output
// instead of making a value that is copied there.
void Interpreter::emit(const Expr& expr) {
  Value scratch;
  switch (expr.kind) {
    case ExprKind::kConcat:
      for (const ExprPtr& kid : expr.kids) {
        Value part;
        const Value& value = evaluate(*kid, part);
        if (failed()) return;
        emit_value(value);
      }
      return;
    case ExprKind::kAdd: {
      const Depth depth(*this);
      if (const auto value = sum_into(*out_, expr)) emit_value(*value);
      fits();
      return;
    }
    case ExprKind::kCall:
      return emit_call(expr);
    case ExprKind::kFilter:
      if (expr.filter == filter_tojson) {
        const Value& input = evaluate(*expr.kids.front(), scratch);
        Arguments arguments;
        evaluate_arguments(expr, arguments);
        if (!failed()) append_tojson(*this, *out_, input, arguments);
        fits();
        return;
      }
      break;
    default:
      break;
  }
  const Value& value = evaluate(expr, scratch);
  if (!failed()) emit_value(value);
}

void Interpreter::emit_call(const Expr& expr) {
  Value scratch;
  if (expr.kids.front()->kind == ExprKind::kName) {
    const Value& callee = evaluate(*expr.kids.front(), scratch);
    if (callee.kind() == Kind::kMacro) {
      const Depth depth(*this);
      Arguments arguments;
      evaluate_arguments(expr, arguments);
      if (!failed())
        run_macro(*static_cast<const MacroObject*>(callee.object()), std::move(arguments));
      return;
    }
  }
  const Value& value = evaluate(expr, scratch);
  if (!failed()) emit_value(value);
}

const Value& Interpreter::evaluate(const Expr& expr, Value& scratch) {
  switch (expr.kind) {
    case ExprKind::kConst:
      return expr.value;
    case ExprKind::kName:
      return evaluate_name(expr, scratch);
    default:
      break;
  }
  // Constants and names, above, are neither deep nor work: they cost no step.
  const Depth depth(*this);
  if (!step()) return scratch;
  switch (expr.kind) {
    case ExprKind::kAttribute:
      return evaluate_attribute(expr, scratch);
    case ExprKind::kItem:
      return evaluate_item(expr, scratch);
    case ExprKind::kAnd:
    case ExprKind::kOr:
      return evaluate_logic(expr, scratch);
    case ExprKind::kCond:
      return evaluate_condition(expr, scratch);
    default:
      scratch = evaluate_other(expr);
      return scratch;
  }
}

Value Interpreter::evaluate_other(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kTuple:
    case ExprKind::kList:
      return evaluate_collection(expr);
    case ExprKind::kDict:
      return evaluate_dict(expr);
    case ExprKind::kNot: {
      Value scratch;
      return Value::boolean(!truthy(evaluate(*expr.kids[0], scratch)));
    }
    case ExprKind::kNegative:
    case ExprKind::kPositive:
      return evaluate_sign(expr);
    case ExprKind::kAdd:
      return evaluate_sum(expr);
    case ExprKind::kBinary:
      return evaluate_binary(expr);
    case ExprKind::kConcat:
      return evaluate_concat(expr);
    case ExprKind::kCompare:
      return Value::boolean(evaluate_comparison(expr));
    case ExprKind::kSlice:
      return evaluate_slice(expr);
    case ExprKind::kCall:
      return evaluate_call(expr);
    case ExprKind::kFilter:
      return evaluate_filter(expr, nullptr);
    case ExprKind::kTest:
      return Value::boolean(evaluate_test(expr));
    default:
      return raise("TypeError", "this expression has no value");
  }
}

const Value& Interpreter::evaluate_name(const Expr& expr, Value& scratch) {
  const Value& value = slot(expr.slot);
  if (!value.is_missing()) return value;
  scratch = make_undefined(UndefinedBy::kName, expr.value);
  return scratch;
}

const Value& Interpreter::evaluate_attribute(const Expr& expr, Value& scratch) {
  Value local;
  const Value& object = evaluate(*expr.kids[0], local);
  if (failed()) return scratch;
  if (object.kind() == Kind::kDict && expr.attribute == nullptr) {
    const Value* found = object.dict_object().find(expr.value.text());
    // A dict that stands in `local` dies with this call, and its members with it: copied below.
    if (found != nullptr && &object != &local) return *found;
    scratch = found != nullptr ? *found
                               : make_undefined(UndefinedBy::kAttribute, expr.value, Kind::kDict);
    return scratch;
  }
  if (object.kind() == Kind::kLoop && expr.op != 0) {
    auto& loop = *static_cast<LoopObject*>(object.object());
    scratch = loop_attribute(*this, loop, static_cast<LoopField>(expr.op));
    return scratch;
  }
  scratch = get_attribute(*this, object, expr.value, expr.attribute);
  return scratch;
}

const Value& Interpreter::evaluate_item(const Expr& expr, Value& scratch) {
  Value local;
  const Value& object = evaluate(*expr.kids[0], local);
  Value index_scratch;
  const Value& index = evaluate(*expr.kids[1], index_scratch);
  if (failed()) return scratch;
  // The usual cases without a copy; everything else (and every error) is get_item's.
  if (&object != &local) {
    if (object.kind() == Kind::kList && index.kind() == Kind::kInt) {
      const auto& items = object.items();
      const std::int64_t at = index.integer();
      const std::int64_t place = at < 0 ? at + static_cast<std::int64_t>(items.size()) : at;
      if (place >= 0 && place < static_cast<std::int64_t>(items.size()))
        return items[static_cast<std::size_t>(place)];
    } else if (object.kind() == Kind::kDict && index.is_string()) {
      if (const Value* found = object.dict_object().find(index.text())) return *found;
    }
  }
  scratch = get_item(*this, object, index);
  return scratch;
}

const Value& Interpreter::evaluate_logic(const Expr& expr, Value& scratch) {
  // As in Python, the value is the operand that decided, not a bool.
  const bool stop_at = expr.kind == ExprKind::kOr;
  for (std::size_t i = 0;; ++i) {
    const Value& value = evaluate(*expr.kids[i], scratch);
    if (i + 1 == expr.kids.size() || failed() || truthy(value) == stop_at) return value;
  }
}

const Value& Interpreter::evaluate_condition(const Expr& expr, Value& scratch) {
  const bool taken = truthy(evaluate(*expr.kids[0], scratch));
  if (failed()) return scratch;
  if (taken) return evaluate(*expr.kids[1], scratch);
  if (expr.kids.size() > 2) return evaluate(*expr.kids[2], scratch);
  scratch =
      make_undefined(UndefinedBy::kHint,
                     Value::string("the inline if-expression on line " + std::to_string(expr.line) +
                                   " evaluated to false and no else section was defined."));
  return scratch;
}

std::optional<Value> Interpreter::sum_into(TextBuilder& out, const Expr& expr) {
  const std::size_t mark = out.size();
  for (std::size_t i = 0; i < expr.kids.size(); ++i) {
    Value scratch;
    const Value& value = evaluate(*expr.kids[i], scratch);
    if (failed()) return std::nullopt;
    if (is_plain_string(value)) {
      value.string_object().append_to(out);
      continue;
    }
    // The first operand that is no plain string: from here Python's rules of + decide, pair by
    // pair.
    Value sum = value;
    if (i != 0) sum = binary(*this, Arithmetic::kAdd, Value::string(out.cut(mark)), value);
    while (++i < expr.kids.size() && !failed()) {
      Value next;
      sum = binary(*this, Arithmetic::kAdd, sum, evaluate(*expr.kids[i], next));
    }
    return sum;
  }
  return std::nullopt;
}

Value Interpreter::evaluate_sum(const Expr& expr) {
  TextBuilder out;
  if (auto value = sum_into(out, expr)) return *value;
  return failed() ? Value() : make_string(std::move(out));
}

Value Interpreter::evaluate_concat(const Expr& expr) {
  TextBuilder out;
  for (const ExprPtr& kid : expr.kids) {
    Value scratch;
    append_str(*this, out, evaluate(*kid, scratch));
    if (failed()) return {};
  }
  return make_string(std::move(out));
}

Value Interpreter::evaluate_sign(const Expr& expr) {
  Value scratch;
  const Value& value = evaluate(*expr.kids[0], scratch);
  if (failed()) return {};
  if (value.is_undefined()) return undefined_error(value);
  if (!value.is_number())
    return type_error("bad operand type for unary sign: " + type_name_quoted(value));
  if (expr.kind == ExprKind::kNegative) return negated(*this, value);
  // +True is 1.
  return value.kind() == Kind::kBool ? Value::integer(value.integer(), value.source()) : value;
}

Value Interpreter::evaluate_binary(const Expr& expr) {
  Value left_scratch;
  Value right_scratch;
  const Value& left = evaluate(*expr.kids[0], left_scratch);
  if (failed()) return {};
  const Value& right = evaluate(*expr.kids[1], right_scratch);
  if (failed()) return {};
  return binary(*this, static_cast<Arithmetic>(expr.op), left, right);
}

Value Interpreter::evaluate_collection(const Expr& expr) {
  std::vector<Value> items;
  items.reserve(expr.kids.size());
  for (const ExprPtr& kid : expr.kids) {
    Value scratch;
    items.push_back(evaluate(*kid, scratch));
  }
  if (failed()) return {};
  return make_list(std::move(items), kTemplate, expr.kind == ExprKind::kTuple);
}

Value Interpreter::evaluate_dict(const Expr& expr) {
  std::vector<std::pair<Value, Value>> entries;
  for (std::size_t i = 0; i + 1 < expr.kids.size(); i += 2) {
    Value key_scratch;
    Value value_scratch;
    const Value& key = evaluate(*expr.kids[i], key_scratch);
    if (!failed() && !is_hashable(key))
      return type_error("unhashable type: " + type_name_quoted(key));
    const Value& value = evaluate(*expr.kids[i + 1], value_scratch);
    if (failed()) return {};
    entries.emplace_back(key, value);
  }
  if (!allocate(entries.size() * sizeof(DictEntry) + sizeof(DictObject))) return {};
  return checked(Value::dict(std::move(entries)));
}

Value Interpreter::evaluate_slice(const Expr& expr) {
  Value scratch;
  const Value& object = evaluate(*expr.kids[0], scratch);
  Value bounds[3] = {Value::none(), Value::none(), Value::none()};
  for (std::size_t i = 0; i < 3 && !failed(); ++i) {
    if (expr.kids[i + 1] == nullptr) continue;
    Value bound;
    bounds[i] = evaluate(*expr.kids[i + 1], bound);
  }
  if (failed()) return {};
  return slice(*this, object, bounds[0], bounds[1], bounds[2]);
}

bool Interpreter::compare(Comparison sign, const Value& a, const Value& b) {
  switch (sign) {
    case Comparison::kEqual:
      return equal(*this, a, b);
    case Comparison::kNotEqual:
      return !equal(*this, a, b);
    case Comparison::kLess:
      return ordered(*this, Order::kLess, a, b);
    case Comparison::kLessEqual:
      return ordered(*this, Order::kLessEqual, a, b);
    case Comparison::kGreater:
      return ordered(*this, Order::kGreater, a, b);
    case Comparison::kGreaterEqual:
      return ordered(*this, Order::kGreaterEqual, a, b);
    case Comparison::kIn:
      return contains(*this, b, a);
    case Comparison::kNotIn:
      return !contains(*this, b, a);
  }
  return false;
}

bool Interpreter::evaluate_comparison(const Expr& expr) {
  // In a < b < c each right side is the next left side, evaluated once: the scratches take turns.
  Value scratch[2];
  const Value* left = &evaluate(*expr.kids[0], scratch[0]);
  for (std::size_t i = 0; i < expr.ops.size(); ++i) {
    Value& next = scratch[(i + 1) % 2];
    const Value* right = &evaluate(*expr.kids[i + 1], next);
    if (failed() || !compare(expr.ops[i], *left, *right)) return false;
    left = right;
  }
  return true;
}

void Interpreter::evaluate_arguments(const Expr& expr, Arguments& arguments) {
  const std::size_t end = expr.positional_end();
  arguments.positional.reserve(end);
  for (std::size_t i = 1; i < end; ++i) {
    Value scratch;
    arguments.positional.push_back(evaluate(*expr.kids[i], scratch));
  }
  for (std::size_t i = 0; i < expr.names.size(); ++i) {
    Value scratch;
    arguments.named.emplace_back(expr.names[i], evaluate(*expr.kids[end + i], scratch));
  }
  if (expr.has_args_list || expr.has_kwargs_dict) spread_arguments(expr, arguments);
}

void Interpreter::spread_arguments(const Expr& expr, Arguments& arguments) {
  std::size_t at = expr.positional_end() + expr.names.size();
  if (expr.has_args_list) {
    Value scratch;
    for (Value& value : collect(*this, evaluate(*expr.kids[at++], scratch))) {
      arguments.positional.push_back(std::move(value));
    }
  }
  if (!expr.has_kwargs_dict || failed()) return;
  Value scratch;
  const Value& named = evaluate(*expr.kids[at], scratch);
  if (named.kind() != Kind::kDict) {
    type_error("argument after ** must be a mapping, not " + std::string(type_name(named)));
    return;
  }
  for (const DictEntry& entry : named.dict_object().entries) {
    if (!entry.key.is_string()) {
      type_error("keywords must be strings");
      return;
    }
    if (!arguments.take(entry.key.text()).is_missing()) {
      type_error("got multiple values for keyword argument '" + std::string(entry.key.text()) +
                 "'");
      return;
    }
    arguments.named.emplace_back(entry.key, entry.value);
  }
}

Value Interpreter::evaluate_filter(const Expr& expr, const Value* input) {
  Value scratch;
  if (input == nullptr || expr.kids.front() != nullptr) {
    // In a filter block the innermost filter of the chain gets the text of the block.
    const Expr& inner = *expr.kids.front();
    if (input != nullptr && inner.kind == ExprKind::kFilter) {
      scratch = evaluate_filter(inner, input);
      input = &scratch;
    } else {
      input = &evaluate(inner, scratch);
    }
  }
  Arguments arguments;
  evaluate_arguments(expr, arguments);
  if (failed()) return {};
  if (expr.filter == nullptr) {
    return raise("TemplateRuntimeError",
                 "No filter named '" + std::string(expr.value.text()) + "' found.");
  }
  return expr.filter(*this, *input, arguments);
}

bool Interpreter::evaluate_test(const Expr& expr) {
  Value scratch;
  const Value& input = evaluate(*expr.kids.front(), scratch);
  Arguments arguments;
  evaluate_arguments(expr, arguments);
  if (failed()) return false;
  if (expr.test == nullptr) {
    raise("TemplateRuntimeError", "No test named '" + std::string(expr.value.text()) + "' found.");
    return false;
  }
  return expr.test(*this, input, arguments);
}

}  // namespace verbatim::chat::jinja
