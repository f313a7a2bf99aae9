#pragma once

#include <string_view>

#include "chat/jinja/parser_base.h"

namespace verbatim::chat::jinja {

// Expressions, by recursive descent with the precedences of Jinja2 (unlike Python's: ~ binds
// tighter than +, and `**` groups to the left).
class ExpressionParser : public ParserBase {
 public:
  using ParserBase::ParserBase;

 protected:
  enum class Conditional : bool { kNo, kYes };
  enum class Parentheses : bool { kNo, kYes };
  enum class Target : bool { kName, kNameOrAttribute };  // ns.attribute, where it is allowed
  enum class FilterStart : bool { kAtBar, kAtName };     // {% filter name %} has no bar

  ExprPtr expression() { return conditional(); }
  // One expression, or a tuple where there is a comma. `end_name` stops it, too ("in",
  // "recursive").
  ExprPtr tuple(Conditional with, std::string_view end_name = {},
                Parentheses parentheses = Parentheses::kNo);
  // Assignment targets: names, ns.attributes where allowed, tuples of them.
  ExprPtr target(Target what, std::string_view end_name = {});
  ExprPtr name_target();
  ExprPtr filters(ExprPtr input, FilterStart start);
  // Parses "(...)" into arguments of `call`.
  void arguments(Expr& call);

 private:
  ExprPtr conditional();
  ExprPtr either();
  ExprPtr both();
  ExprPtr negation();
  ExprPtr comparison();
  bool comparison_sign(Comparison& sign);
  ExprPtr sum();
  ExprPtr concat();
  ExprPtr product();
  ExprPtr power();
  enum class Filters : bool { kNo, kYes };
  ExprPtr unary(Filters with);
  ExprPtr primary(Target what = Target::kName);
  ExprPtr number();
  ExprPtr list();
  ExprPtr dict();
  ExprPtr postfix(ExprPtr expr);
  ExprPtr filter_chain(ExprPtr expr);
  ExprPtr attribute(ExprPtr object);
  ExprPtr subscript(ExprPtr object);
  ExprPtr slice_rest(ExprPtr start, ExprPtr object, std::uint32_t line);
  ExprPtr call(ExprPtr callee);
  ExprPtr test(ExprPtr input);
  ExprPtr simple_target(Target what);
  void named_argument(Expr& call);
};

}  // namespace verbatim::chat::jinja
