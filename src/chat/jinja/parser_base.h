#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chat/jinja/ast.h"
#include "chat/jinja/lexer.h"

namespace verbatim::chat::jinja {

inline constexpr unsigned kMaxExpressionDepth = 400;  // of a tree
inline constexpr unsigned kMaxParserDepth = 200;      // brackets or blocks inside each other

// The token stream and the first error. After an error the stream stands at its end, so that every
// loop over it stops.
class ParserBase {
 public:
  explicit ParserBase(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  [[nodiscard]] const Token& current() const { return tokens_[at_]; }
  [[nodiscard]] const Token& ahead() const {
    return tokens_[std::min(at_ + 1, tokens_.size() - 1)];
  }
  Token next() {
    Token token = current();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  [[nodiscard]] bool at(TokenKind kind) const { return current().kind == kind; }
  [[nodiscard]] bool at_name(std::string_view name) const {
    return at(TokenKind::kName) && current().text == name;
  }
  [[nodiscard]] bool at_op(std::string_view op) const {
    return at(TokenKind::kOperator) && current().text == op;
  }
  bool skip_name(std::string_view name) {
    if (!at_name(name)) return false;
    next();
    return true;
  }
  bool skip_op(std::string_view op) {
    if (!at_op(op)) return false;
    next();
    return true;
  }
  void expect_op(std::string_view op) {
    if (!skip_op(op)) fail("expected '" + std::string(op) + "', found " + describe(current()));
  }
  Token expect(TokenKind kind, std::string_view what) {
    if (at(kind)) return next();
    fail("expected " + std::string(what) + ", found " + describe(current()));
    return {};
  }

  [[nodiscard]] bool failed() const { return error_.has_value(); }
  void fail(std::string message) { fail_at(current().line, std::move(message)); }
  void fail_at(std::uint32_t line, std::string message) {
    if (!error_) error_ = syntax_error(line, std::move(message));
    at_ = tokens_.size() - 1;
  }
  static std::string describe(const Token& token);

 protected:
  // Counts brackets or blocks that are open.
  class Nesting {
   public:
    explicit Nesting(ParserBase& parser) : parser_(parser) {
      if (++parser_.depth_ > kMaxParserDepth) parser_.fail("nested too deeply");
    }
    ~Nesting() { --parser_.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    ParserBase& parser_;
  };

  ExprPtr make(ExprKind kind, std::uint32_t line) {
    auto expr = std::make_unique<Expr>();
    expr->kind = kind;
    expr->line = line;
    return expr;
  }
  void add(Expr& parent, ExprPtr kid) {
    if (kid != nullptr) {
      parent.depth =
          std::max<std::uint16_t>(parent.depth, static_cast<std::uint16_t>(kid->depth + 1));
      if (parent.depth > kMaxExpressionDepth) fail("the expression is nested too deeply");
    }
    parent.kids.push_back(std::move(kid));
  }

  std::optional<base::Error> error_;

 private:
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  unsigned depth_ = 0;
};

}  // namespace verbatim::chat::jinja
