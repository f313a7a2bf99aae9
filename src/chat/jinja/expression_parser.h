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

  ExprPtr expression() { return conditional(); }
  // One expression, or a tuple where there is a comma. `end_name` stops it, too ("in",
  // "recursive").
  ExprPtr tuple(Conditional with, std::string_view end_name = {}, bool parentheses = false);
  // Assignment targets: names, ns.attributes where allowed, tuples of them.
  ExprPtr target(bool with_namespace, std::string_view end_name = {});
  ExprPtr name_target();
  ExprPtr filters(ExprPtr input, bool start_inline);
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
  ExprPtr unary(bool with_filter);
  ExprPtr primary(bool with_namespace);
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
  ExprPtr simple_target(bool with_namespace);
  void named_argument(Expr& call);
};

}  // namespace verbatim::chat::jinja
