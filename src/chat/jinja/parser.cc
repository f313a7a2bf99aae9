#include "chat/jinja/parser.h"

#include <algorithm>
#include <initializer_list>

#include "chat/jinja/expression_parser.h"
#include "chat/jinja/scope.h"

namespace verbatim::chat::jinja {
namespace {

using Ends = std::initializer_list<std::string_view>;

// Statements and text.
class Parser : public ExpressionParser {
 public:
  using ExpressionParser::ExpressionParser;

  base::Result<std::unique_ptr<Program>> run(std::string source) {
    auto program = std::make_unique<Program>();
    program->source = std::move(source);
    program->main.body = block({});
    if (!failed()) {
      if (auto status = resolve_names(*program); !status) return std::move(status).error();
      return program;
    }
    return std::move(*error_);
  }

 private:
  [[nodiscard]] bool at_any(Ends ends) const {
    return std::any_of(ends.begin(), ends.end(),
                       [this](std::string_view end) { return at_name(end); });
  }

  StmtPtr statement_of(StmtKind kind, std::uint32_t line) {
    auto stmt = std::make_unique<Stmt>();
    stmt->kind = kind;
    stmt->line = line;
    return stmt;
  }

  // Text and statements up to a tag of `ends`, whose name is the current token then.
  Block block(Ends ends) {
    const Nesting nesting(*this);
    Block body;
    while (!failed()) {
      if (at(TokenKind::kEnd)) {
        if (ends.size() != 0)
          fail("unexpected end of the template, looking for '" + std::string(*ends.begin()) + "'");
        break;
      }
      if (at(TokenKind::kData)) {
        const Token token = next();
        StmtPtr stmt = statement_of(StmtKind::kText, token.line);
        stmt->text = Value::string(token.text);
        body.push_back(std::move(stmt));
      } else if (at(TokenKind::kVariableBegin)) {
        StmtPtr stmt = statement_of(StmtKind::kOutput, next().line);
        stmt->expr = tuple(Conditional::kYes);
        expect(TokenKind::kVariableEnd, "'}}'");
        body.push_back(std::move(stmt));
      } else {
        next();
        if (at_any(ends)) break;
        statement(body);
        expect(TokenKind::kBlockEnd, "'%}'");
      }
    }
    return body;
  }

  // The body of a tag, from behind its expressions up to one of `ends`.
  Block body_until(Ends ends) {
    skip_op(":");
    expect(TokenKind::kBlockEnd, "'%}'");
    return block(ends);
  }
  Block whole_body(std::string_view end) {
    Block body = body_until({end});
    next();
    return body;
  }

  void statement(Block& body) {
    const Token tag = expect(TokenKind::kName, "the name of a tag");
    if (failed()) return;
    const std::string& name = tag.text;
    if (name == "for") return body.push_back(for_loop(tag.line));
    if (name == "if") return body.push_back(if_chain(tag.line));
    if (name == "set") return body.push_back(assignment(tag.line));
    if (name == "macro") return body.push_back(macro(tag.line));
    if (name == "call") return body.push_back(call_block(tag.line));
    if (name == "filter") return body.push_back(filter_block(tag.line));
    if (name == "with") return body.push_back(with(tag.line));
    if (name == "print") return print(body, tag.line);
    if (name == "generation") return body.push_back(generation(tag.line));
    if (name == "break" || name == "continue") {
      if (loops_ == 0) return fail_at(tag.line, "'" + name + "' outside of a loop");
      return body.push_back(
          statement_of(name == "break" ? StmtKind::kBreak : StmtKind::kContinue, tag.line));
    }
    for (const std::string_view known :
         {"block", "extends", "include", "import", "from", "autoescape"}) {
      if (name == known)
        return fail_at(tag.line, "the tag '" + name + "' is not supported in chat templates");
    }
    fail_at(tag.line, "unknown tag '" + name + "'");
  }

  StmtPtr for_loop(std::uint32_t line) {
    StmtPtr stmt = statement_of(StmtKind::kFor, line);
    stmt->target = target(Target::kName, "in");
    if (!skip_name("in")) fail("expected 'in', found " + describe(current()));
    stmt->expr = tuple(Conditional::kNo, "recursive");
    if (skip_name("if")) stmt->test = expression();
    stmt->recursive = skip_name("recursive");
    ++loops_;
    Block body = body_until({"endfor", "else"});
    --loops_;
    if (next().text == "else") stmt->otherwise = whole_body("endfor");
    if (stmt->recursive) {
      stmt->function = std::make_unique<Function>();
      stmt->function->body = std::move(body);
    } else {
      stmt->body = std::move(body);
    }
    return stmt;
  }

  StmtPtr if_chain(std::uint32_t line) {
    StmtPtr stmt = statement_of(StmtKind::kIf, line);
    while (!failed()) {
      Branch branch;
      branch.test = tuple(Conditional::kNo);
      branch.body = body_until({"elif", "else", "endif"});
      stmt->branches.push_back(std::move(branch));
      const std::string end = next().text;
      if (end == "elif") continue;
      if (end == "else") stmt->branches.push_back({nullptr, whole_body("endif")});
      break;
    }
    return stmt;
  }

  StmtPtr assignment(std::uint32_t line) {
    StmtPtr stmt = statement_of(StmtKind::kSet, line);
    stmt->target = target(Target::kNameOrAttribute);
    if (skip_op("=")) {
      stmt->expr = tuple(Conditional::kYes);
      return stmt;
    }
    stmt->kind = StmtKind::kSetBlock;
    stmt->expr = filters(nullptr, FilterStart::kAtBar);
    stmt->body = whole_body("endset");
    return stmt;
  }

  // "(a, b=1)"
  void signature(Function& function) {
    expect_op("(");
    while (!failed() && !at_op(")")) {
      if (!function.parameters.empty()) expect_op(",");
      function.parameters.push_back(name_target());
      if (skip_op("=")) {
        function.defaults.push_back(expression());
      } else if (!function.defaults.empty()) {
        fail("non-default argument follows default argument");
      }
    }
    expect_op(")");
  }

  // A body that is a function of its own: no loop reaches into it.
  Block function_body(std::string_view end) {
    const int outer = std::exchange(loops_, 0);
    Block body = whole_body(end);
    loops_ = outer;
    return body;
  }

  StmtPtr macro(std::uint32_t line) {
    StmtPtr stmt = statement_of(StmtKind::kMacro, line);
    stmt->function = std::make_unique<Function>();
    stmt->target = name_target();
    stmt->function->name = stmt->target->value;
    signature(*stmt->function);
    stmt->function->body = function_body("endmacro");
    return stmt;
  }

  StmtPtr call_block(std::uint32_t line) {
    StmtPtr stmt = statement_of(StmtKind::kCallBlock, line);
    stmt->function = std::make_unique<Function>();
    if (at_op("(")) signature(*stmt->function);
    stmt->expr = expression();
    if (!failed() && stmt->expr->kind != ExprKind::kCall) fail_at(line, "expected a call");
    stmt->function->body = function_body("endcall");
    return stmt;
  }

  StmtPtr generation(std::uint32_t line) {
    StmtPtr stmt = statement_of(StmtKind::kGeneration, line);
    stmt->function = std::make_unique<Function>();
    stmt->function->body = function_body("endgeneration");
    return stmt;
  }

  StmtPtr filter_block(std::uint32_t line) {
    StmtPtr stmt = statement_of(StmtKind::kFilterBlock, line);
    stmt->expr = filters(nullptr, FilterStart::kAtName);
    stmt->body = whole_body("endfilter");
    return stmt;
  }

  StmtPtr with(std::uint32_t line) {
    StmtPtr stmt = statement_of(StmtKind::kWith, line);
    while (!failed() && !at(TokenKind::kBlockEnd)) {
      if (!stmt->targets.empty()) expect_op(",");
      stmt->targets.push_back(target(Target::kName));
      expect_op("=");
      stmt->values.push_back(expression());
    }
    stmt->body = whole_body("endwith");
    return stmt;
  }

  void print(Block& body, std::uint32_t line) {
    bool first = true;
    while (!failed() && !at(TokenKind::kBlockEnd)) {
      if (!first) expect_op(",");
      first = false;
      StmtPtr stmt = statement_of(StmtKind::kOutput, line);
      stmt->expr = expression();
      body.push_back(std::move(stmt));
    }
  }

  int loops_ = 0;  // loops of the current function that are open
};

}  // namespace

base::Result<std::unique_ptr<Program>> parse_template(std::string source) {
  constexpr std::size_t kMaxBytes = std::size_t{2} << 20;
  if (source.size() > kMaxBytes) {
    return base::error(base::ErrorKind::kTooLarge, "the template is larger than 2 MiB");
  }
  auto tokens = tokenize(source);
  if (!tokens) return std::move(tokens).error();
  return Parser(std::move(*tokens)).run(std::move(source));
}

}  // namespace verbatim::chat::jinja
