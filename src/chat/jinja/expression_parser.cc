#include "chat/jinja/expression_parser.h"

#include <algorithm>
#include <limits>

#include "chat/jinja/numbers.h"

namespace verbatim::chat::jinja {
namespace {

bool is_assignable(const Expr& expr) {
  if (expr.kind == ExprKind::kTuple) {
    return std::all_of(expr.kids.begin(), expr.kids.end(),
                       [](const ExprPtr& kid) { return is_assignable(*kid); });
  }
  return expr.kind == ExprKind::kName || expr.kind == ExprKind::kNamespaceRef;
}

}  // namespace

ExprPtr ExpressionParser::tuple(Conditional with, std::string_view end_name,
                                Parentheses parentheses) {
  const std::uint32_t line = current().line;
  const auto ends = [&] {
    return at(TokenKind::kVariableEnd) || at(TokenKind::kBlockEnd) || at_op(")") ||
           (!end_name.empty() && at_name(end_name));
  };
  ExprPtr all = make(ExprKind::kTuple, line);
  bool is_tuple = false;
  while (!failed()) {
    if (!all->kids.empty()) expect_op(",");
    if (ends()) break;
    add(*all, with == Conditional::kYes ? expression() : either());
    if (!at_op(",")) break;
    is_tuple = true;
  }
  if (!is_tuple && !all->kids.empty()) return std::move(all->kids.front());
  if (!is_tuple && parentheses == Parentheses::kNo)
    fail("expected an expression, found " + describe(current()));
  return all;
}

ExprPtr ExpressionParser::simple_target(Target what) {
  if (!at_op("(")) return primary(what);
  const Nesting nesting(*this);
  return primary();
}

ExprPtr ExpressionParser::target(Target what, std::string_view end_name) {
  const std::uint32_t line = current().line;
  ExprPtr all = make(ExprKind::kTuple, line);
  bool is_tuple = false;
  while (!failed()) {
    if (!all->kids.empty()) expect_op(",");
    if (at(TokenKind::kBlockEnd) || (!end_name.empty() && at_name(end_name))) break;
    add(*all, simple_target(what));
    if (!at_op(",")) break;
    is_tuple = true;
  }
  ExprPtr found = is_tuple || all->kids.empty() ? std::move(all) : std::move(all->kids.front());
  if (found->kind == ExprKind::kTuple && found->kids.empty())
    fail_at(line, "expected a name to assign to");
  if (!failed() && !is_assignable(*found)) fail_at(line, "can't assign to this expression");
  return found;
}

ExprPtr ExpressionParser::name_target() {
  const Token token = expect(TokenKind::kName, "a name");
  for (const std::string_view constant : {"true", "false", "none", "True", "False", "None"}) {
    if (token.text == constant) fail_at(token.line, "can't assign to '" + token.text + "'");
  }
  ExprPtr name = make(ExprKind::kName, token.line);
  name->value = Value::string(token.text);
  return name;
}

ExprPtr ExpressionParser::conditional() {
  const Nesting nesting(*this);
  const std::uint32_t line = current().line;
  ExprPtr expr = either();
  while (skip_name("if")) {
    ExprPtr whole = make(ExprKind::kCond, line);
    add(*whole, either());
    add(*whole, std::move(expr));
    if (skip_name("else")) add(*whole, conditional());
    expr = std::move(whole);
  }
  return expr;
}

ExprPtr ExpressionParser::either() {
  ExprPtr first = both();
  if (!at_name("or")) return first;
  ExprPtr all = make(ExprKind::kOr, first->line);
  add(*all, std::move(first));
  while (skip_name("or")) add(*all, both());
  return all;
}

ExprPtr ExpressionParser::both() {
  ExprPtr first = negation();
  if (!at_name("and")) return first;
  ExprPtr all = make(ExprKind::kAnd, first->line);
  add(*all, std::move(first));
  while (skip_name("and")) add(*all, negation());
  return all;
}

ExprPtr ExpressionParser::negation() {
  if (!at_name("not")) return comparison();
  const Nesting nesting(*this);
  ExprPtr expr = make(ExprKind::kNot, next().line);
  add(*expr, negation());
  return expr;
}

bool ExpressionParser::comparison_sign(Comparison& sign) {
  constexpr std::pair<std::string_view, Comparison> kSigns[] = {
      {"==", Comparison::kEqual},  {"!=", Comparison::kNotEqual},
      {"<", Comparison::kLess},    {"<=", Comparison::kLessEqual},
      {">", Comparison::kGreater}, {">=", Comparison::kGreaterEqual},
  };
  for (const auto& [text, comparison] : kSigns) {
    if (!skip_op(text)) continue;
    sign = comparison;
    return true;
  }
  if (skip_name("in")) {
    sign = Comparison::kIn;
    return true;
  }
  if (at_name("not") && ahead().kind == TokenKind::kName && ahead().text == "in") {
    next();
    next();
    sign = Comparison::kNotIn;
    return true;
  }
  return false;
}

ExprPtr ExpressionParser::comparison() {
  ExprPtr first = sum();
  Comparison sign = Comparison::kEqual;
  if (!comparison_sign(sign)) return first;
  ExprPtr all = make(ExprKind::kCompare, first->line);
  add(*all, std::move(first));
  do {
    all->ops.push_back(sign);
    add(*all, sum());
  } while (!failed() && comparison_sign(sign));
  return all;
}

ExprPtr ExpressionParser::sum() {
  ExprPtr left = concat();
  while (at_op("+") || at_op("-")) {
    const bool plus = next().text == "+";
    if (plus && left->kind == ExprKind::kAdd && left->op == 0) {
      add(*left, concat());
      continue;
    }
    ExprPtr whole = make(plus ? ExprKind::kAdd : ExprKind::kBinary, left->line);
    if (!plus) whole->op = static_cast<std::uint8_t>(Arithmetic::kSub);
    add(*whole, std::move(left));
    add(*whole, concat());
    left = std::move(whole);
  }
  return left;
}

ExprPtr ExpressionParser::concat() {
  ExprPtr first = product();
  if (!at_op("~")) return first;
  ExprPtr all = make(ExprKind::kConcat, first->line);
  add(*all, std::move(first));
  while (skip_op("~")) add(*all, product());
  return all;
}

ExprPtr ExpressionParser::product() {
  constexpr std::pair<std::string_view, Arithmetic> kSigns[] = {
      {"*", Arithmetic::kMul},
      {"/", Arithmetic::kDiv},
      {"//", Arithmetic::kFloorDiv},
      {"%", Arithmetic::kMod},
  };
  ExprPtr left = power();
  while (!failed()) {
    const auto* sign = std::find_if(std::begin(kSigns), std::end(kSigns),
                                    [this](const auto& s) { return at_op(s.first); });
    if (sign == std::end(kSigns)) break;
    next();
    ExprPtr whole = make(ExprKind::kBinary, left->line);
    whole->op = static_cast<std::uint8_t>(sign->second);
    add(*whole, std::move(left));
    add(*whole, power());
    left = std::move(whole);
  }
  return left;
}

ExprPtr ExpressionParser::power() {
  ExprPtr left = unary(Filters::kYes);
  while (skip_op("**")) {
    ExprPtr whole = make(ExprKind::kBinary, left->line);
    whole->op = static_cast<std::uint8_t>(Arithmetic::kPow);
    add(*whole, std::move(left));
    add(*whole, unary(Filters::kYes));
    left = std::move(whole);
  }
  return left;
}

ExprPtr ExpressionParser::unary(Filters with) {
  ExprPtr expr;
  if (at_op("-") || at_op("+")) {
    const Nesting nesting(*this);
    const Token sign = next();
    expr = make(sign.text == "-" ? ExprKind::kNegative : ExprKind::kPositive, sign.line);
    add(*expr, unary(Filters::kNo));
  } else {
    expr = primary();
  }
  expr = postfix(std::move(expr));
  // "(a + b) + c" must not become one chain with its inside: parentheses end a chain.
  if (expr->kind == ExprKind::kAdd) expr->op = 1;
  return with == Filters::kYes ? filter_chain(std::move(expr)) : std::move(expr);
}

ExprPtr ExpressionParser::number() {
  const Token token = next();
  ExprPtr expr = make(ExprKind::kConst, token.line);
  if (token.kind == TokenKind::kInteger) {
    const auto value = parse_integer(token.text, 0);
    if (!value) {
      fail_at(token.line, "bad integer '" + token.text + "'");
      return expr;
    }
    expr->value = *value;
  } else {
    expr->value =
        Value::floating(parse_float(token.text).value_or(std::numeric_limits<double>::infinity()));
  }
  return expr;
}

ExprPtr ExpressionParser::primary(Target what) {
  const Token& token = current();
  ExprPtr expr = make(ExprKind::kConst, token.line);
  if (token.kind == TokenKind::kName) {
    const Token name = next();
    if (name.text == "true" || name.text == "True" || name.text == "false" ||
        name.text == "False") {
      expr->value = Value::boolean(name.text[0] == 't' || name.text[0] == 'T');
    } else if (name.text == "none" || name.text == "None") {
      expr->value = Value::none();
    } else if (what == Target::kNameOrAttribute && skip_op(".")) {
      expr->kind = ExprKind::kNamespaceRef;
      expr->value = Value::string(expect(TokenKind::kName, "a name").text);
      expr->names.push_back(Value::string(name.text));
    } else {
      expr->kind = ExprKind::kName;
      expr->value = Value::string(name.text);
    }
    return expr;
  }
  if (token.kind == TokenKind::kString) {
    std::string text;
    while (at(TokenKind::kString)) text += next().text;
    expr->value = Value::string(std::move(text));
    return expr;
  }
  if (token.kind == TokenKind::kInteger || token.kind == TokenKind::kFloat) return number();
  if (at_op("[")) return list();
  if (at_op("{")) return dict();
  if (!skip_op("(")) {
    fail("unexpected " + describe(token));
    return expr;
  }
  expr = tuple(Conditional::kYes, {}, Parentheses::kYes);
  expect_op(")");
  return expr;
}

ExprPtr ExpressionParser::list() {
  ExprPtr expr = make(ExprKind::kList, next().line);
  while (!failed() && !at_op("]")) {
    if (!expr->kids.empty()) expect_op(",");
    if (at_op("]")) break;
    add(*expr, expression());
  }
  expect_op("]");
  return expr;
}

ExprPtr ExpressionParser::dict() {
  ExprPtr expr = make(ExprKind::kDict, next().line);
  while (!failed() && !at_op("}")) {
    if (!expr->kids.empty()) expect_op(",");
    if (at_op("}")) break;
    add(*expr, expression());
    expect_op(":");
    add(*expr, expression());
  }
  expect_op("}");
  return expr;
}

ExprPtr ExpressionParser::postfix(ExprPtr expr) {
  while (!failed()) {
    if (at_op(".")) {
      expr = attribute(std::move(expr));
    } else if (at_op("[")) {
      expr = subscript(std::move(expr));
    } else if (at_op("(")) {
      expr = call(std::move(expr));
    } else {
      break;
    }
  }
  return expr;
}

ExprPtr ExpressionParser::filter_chain(ExprPtr expr) {
  while (!failed()) {
    if (at_op("|")) {
      expr = filters(std::move(expr), FilterStart::kAtBar);
    } else if (at_name("is")) {
      expr = test(std::move(expr));
    } else if (at_op("(")) {
      expr = call(std::move(expr));
    } else {
      break;
    }
  }
  return expr;
}

ExprPtr ExpressionParser::attribute(ExprPtr object) {
  const std::uint32_t line = next().line;
  if (at(TokenKind::kInteger)) {
    ExprPtr item = make(ExprKind::kItem, line);
    add(*item, std::move(object));
    add(*item, number());
    return item;
  }
  ExprPtr expr = make(ExprKind::kAttribute, line);
  add(*expr, std::move(object));
  const Token name = expect(TokenKind::kName, "a name or number");
  expr->value = Value::string(name.text);
  expr->attribute = find_attribute(name.text);
  expr->op = static_cast<std::uint8_t>(find_loop_field(name.text));
  return expr;
}

ExprPtr ExpressionParser::slice_rest(ExprPtr start, ExprPtr object, std::uint32_t line) {
  ExprPtr expr = make(ExprKind::kSlice, line);
  add(*expr, std::move(object));
  add(*expr, std::move(start));
  ExprPtr stop;
  ExprPtr step;
  if (!at_op(":") && !at_op("]")) stop = expression();
  if (skip_op(":") && !at_op("]")) step = expression();
  add(*expr, std::move(stop));
  add(*expr, std::move(step));
  expect_op("]");
  return expr;
}

ExprPtr ExpressionParser::subscript(ExprPtr object) {
  const std::uint32_t line = next().line;
  if (skip_op(":")) return slice_rest(nullptr, std::move(object), line);
  ExprPtr index = make(ExprKind::kTuple, line);
  bool comma = at_op("]");  // obj[] is obj[()]
  while (!failed() && !at_op("]")) {
    if (!index->kids.empty()) expect_op(",");
    add(*index, expression());
    if (at_op(":") && index->kids.size() == 1) {
      next();
      return slice_rest(std::move(index->kids.front()), std::move(object), line);
    }
    if (at_op(",")) comma = true;
  }
  expect_op("]");
  ExprPtr expr = make(ExprKind::kItem, line);
  add(*expr, std::move(object));
  if (!failed()) add(*expr, comma ? std::move(index) : std::move(index->kids.front()));
  return expr;
}

void ExpressionParser::named_argument(Expr& call) {
  call.names.push_back(Value::string(next().text));
  next();
  add(call, expression());
}

void ExpressionParser::arguments(Expr& call) {
  const std::uint32_t line = current().line;
  expect_op("(");
  const auto ensure = [&](bool ok) {
    if (!ok) fail_at(line, "invalid syntax for function call expression");
  };
  bool comma = false;
  ExprPtr list;
  ExprPtr dict;
  while (!failed() && !at_op(")")) {
    if (comma) {
      expect_op(",");
      if (at_op(")")) break;
    }
    if (skip_op("*")) {
      ensure(list == nullptr && dict == nullptr);
      list = expression();
    } else if (skip_op("**")) {
      ensure(dict == nullptr);
      dict = expression();
    } else if (at(TokenKind::kName) && ahead().kind == TokenKind::kOperator &&
               ahead().text == "=") {
      ensure(dict == nullptr);
      if (!failed()) named_argument(call);
    } else {
      ensure(list == nullptr && dict == nullptr && call.names.empty());
      if (!failed()) add(call, expression());
    }
    comma = true;
  }
  expect_op(")");
  call.has_args_list = list != nullptr;
  call.has_kwargs_dict = dict != nullptr;
  if (list != nullptr) add(call, std::move(list));
  if (dict != nullptr) add(call, std::move(dict));
}

ExprPtr ExpressionParser::call(ExprPtr callee) {
  ExprPtr expr = make(ExprKind::kCall, current().line);
  add(*expr, std::move(callee));
  arguments(*expr);
  return expr;
}

ExprPtr ExpressionParser::filters(ExprPtr input, FilterStart start) {
  while (!failed() && (at_op("|") || start == FilterStart::kAtName)) {
    if (start == FilterStart::kAtBar) next();
    start = FilterStart::kAtBar;
    const Token token = expect(TokenKind::kName, "the name of a filter");
    std::string name = token.text;
    while (skip_op(".")) name += "." + expect(TokenKind::kName, "a name").text;
    ExprPtr expr = make(ExprKind::kFilter, token.line);
    expr->filter = find_filter(name);
    expr->value = Value::string(std::move(name));
    add(*expr, std::move(input));
    if (at_op("(")) arguments(*expr);
    input = std::move(expr);
  }
  return input;
}

ExprPtr ExpressionParser::test(ExprPtr input) {
  const std::uint32_t line = next().line;
  const bool negated = skip_name("not");
  std::string name = expect(TokenKind::kName, "the name of a test").text;
  while (skip_op(".")) name += "." + expect(TokenKind::kName, "a name").text;
  ExprPtr expr = make(ExprKind::kTest, line);
  expr->test = find_test(name);
  expr->value = Value::string(std::move(name));
  add(*expr, std::move(input));
  const bool argument = at(TokenKind::kName) || at(TokenKind::kString) || at(TokenKind::kInteger) ||
                        at(TokenKind::kFloat) || at_op("[") || at_op("{");
  if (at_op("(")) {
    arguments(*expr);
  } else if (argument && !at_name("else") && !at_name("or") && !at_name("and")) {
    if (at_name("is")) fail("tests can't be chained with `is`");
    const Nesting nesting(*this);
    add(*expr, postfix(primary()));
  }
  if (!negated) return expr;
  ExprPtr inverse = make(ExprKind::kNot, line);
  add(*inverse, std::move(expr));
  return inverse;
}

}  // namespace verbatim::chat::jinja
