#include "chat/jinja/scope.h"

#include <functional>
#include <optional>
#include <string>

#include "chat/jinja/lexer.h"
#include "chat/jinja/symbols.h"

namespace verbatim::chat::jinja {
namespace {

enum class NameUse : std::uint8_t { kLoad, kStore };
using NameVisitor = std::function<void(std::string_view, NameUse)>;

void walk(const Expr* expr, NameUse use, const NameVisitor& visit) {
  if (expr == nullptr) return;
  if (expr->kind == ExprKind::kName) visit(expr->value.text(), use);
  for (const ExprPtr& kid : expr->kids) walk(kid.get(), use, visit);
}

void walk(const Block& block, const NameVisitor& visit);

// Every name below a statement, in the order jinja2 goes through its nodes.
void walk(const Stmt& stmt, const NameVisitor& visit) {
  const bool macro = stmt.kind == StmtKind::kMacro;
  if (!macro)
    walk(stmt.target.get(), NameUse::kStore, visit);  // the name of a macro is no name node
  for (const ExprPtr& target : stmt.targets) walk(target.get(), NameUse::kStore, visit);
  for (const ExprPtr& value : stmt.values) walk(value.get(), NameUse::kLoad, visit);
  if (stmt.kind != StmtKind::kFilterBlock) walk(stmt.expr.get(), NameUse::kLoad, visit);
  if (stmt.function != nullptr) {
    for (const ExprPtr& name : stmt.function->parameters) walk(name.get(), NameUse::kStore, visit);
    for (const ExprPtr& value : stmt.function->defaults) walk(value.get(), NameUse::kLoad, visit);
    walk(stmt.function->body, visit);
  }
  for (const Branch& branch : stmt.branches) {
    walk(branch.test.get(), NameUse::kLoad, visit);
    walk(branch.body, visit);
  }
  walk(stmt.body, visit);
  walk(stmt.otherwise, visit);
  walk(stmt.test.get(), NameUse::kLoad, visit);
  if (stmt.kind == StmtKind::kFilterBlock) walk(stmt.expr.get(), NameUse::kLoad, visit);
}

void walk(const Block& block, const NameVisitor& visit) {
  for (const StmtPtr& stmt : block) walk(*stmt, visit);
}

// Whether `name` is read somewhere below before something below stores it.
bool is_undeclared(const Block& block, std::string_view name) {
  bool stored = false;
  bool loaded = false;
  walk(block, [&](std::string_view found, NameUse use) {
    if (found != name) return;
    if (use == NameUse::kStore) stored = true;
    if (use == NameUse::kLoad && !stored) loaded = true;
  });
  return loaded;
}

// A place in the template: its names, the functions around it, and whether unknown filters are
// excused until they run.
struct Frame {
  Symbols* symbols = nullptr;
  FunctionChain* chain = nullptr;
  bool soft = false;
};

class Resolver {
 public:
  base::Status run(Program& program) {
    if (is_undeclared(program.main.body, "self"))
      fail(1, "the variable 'self' is not supported in chat templates");
    FunctionChain chain{&program.main, nullptr};
    Symbols symbols(nullptr, &program.main);
    symbols.visit(program.main.body);
    check(symbols);
    block(program.main.body, {&symbols, &chain, false});
    program.main.scope = symbols.scope(chain);
    if (error_) return std::move(*error_);
    return {};
  }

 private:
  void fail(std::uint32_t line, std::string message) {
    if (!error_) error_ = syntax_error(line, std::move(message));
  }

  void check(const Symbols& symbols) {
    if (symbols.overflown()) {
      fail(1, "more than " + std::to_string(Symbols::kMaxNames) + " variables in one scope");
    }
  }

  void block(Block& body, Frame frame) {
    for (StmtPtr& stmt : body) {
      if (error_) return;
      statement(*stmt, frame);
    }
  }

  void statement(Stmt& stmt, Frame frame) {
    switch (stmt.kind) {
      case StmtKind::kOutput:
        return expr(stmt.expr.get(), frame);
      case StmtKind::kIf:
        frame.soft = true;
        for (Branch& branch : stmt.branches) {
          expr(branch.test.get(), frame);
          block(branch.body, frame);
        }
        return;
      case StmtKind::kFor:
        return for_loop(stmt, frame);
      case StmtKind::kSet:
        expr(stmt.expr.get(), frame);
        return expr(stmt.target.get(), frame);
      case StmtKind::kMacro:
        function(stmt, frame);
        return expr(stmt.target.get(), frame);
      case StmtKind::kCallBlock:
      case StmtKind::kGeneration:
        function(stmt, frame);
        return expr(stmt.expr.get(), frame);
      case StmtKind::kSetBlock:
      case StmtKind::kFilterBlock:
        return captured(stmt, frame);
      case StmtKind::kWith:
        return with(stmt, frame);
      default:
        return;
    }
  }

  void name(Expr& node, std::string_view text, const Frame& frame) {
    const Symbols::Ref* ref = frame.symbols->find(std::string(text));
    if (ref == nullptr) return fail(node.line, "internal: unresolved name");
    node.slot = seen_from(*frame.chain, *ref);
  }

  void expr(Expr* node, Frame frame) {
    if (node == nullptr) return;
    if (node->kind == ExprKind::kName) name(*node, node->value.text(), frame);
    if (node->kind == ExprKind::kNamespaceRef) name(*node, node->names.front().text(), frame);
    if (node->kind == ExprKind::kCond) frame.soft = true;
    const bool unknown_filter = node->kind == ExprKind::kFilter && node->filter == nullptr;
    const bool unknown_test = node->kind == ExprKind::kTest && node->test == nullptr;
    if ((unknown_filter || unknown_test) && !frame.soft) {
      fail(node->line, std::string("there is no ") + (unknown_filter ? "filter" : "test") +
                           " named '" + std::string(node->value.text()) + "'");
    }
    for (ExprPtr& kid : node->kids) expr(kid.get(), frame);
  }

  void captured(Stmt& stmt, Frame frame) {
    Symbols inner(frame.symbols, frame.chain->function);
    inner.visit(stmt.body);
    check(inner);
    if (stmt.kind == StmtKind::kFilterBlock) inner.visit_expr(stmt.expr.get());
    const Frame inside{&inner, frame.chain, false};
    block(stmt.body, inside);
    // The filter of a set block is no part of what opens the scope; its names must exist around it.
    if (stmt.kind == StmtKind::kSetBlock) {
      inner.visit_expr(stmt.expr.get());
      expr(stmt.target.get(), frame);
    }
    expr(stmt.expr.get(), inside);
    stmt.scope = inner.scope(*frame.chain);
  }

  void with(Stmt& stmt, Frame frame) {
    Symbols inner(frame.symbols, frame.chain->function);
    for (const ExprPtr& target : stmt.targets) inner.declare_parameters(*target);
    inner.visit(stmt.body);
    check(inner);
    const Frame inside{&inner, frame.chain, false};
    for (ExprPtr& value : stmt.values) expr(value.get(), frame);
    for (ExprPtr& target : stmt.targets) expr(target.get(), inside);
    block(stmt.body, inside);
    stmt.scope = inner.scope(*frame.chain);
  }

  void for_loop(Stmt& stmt, Frame frame) {
    walk(stmt, [&](std::string_view found, NameUse use) {
      if (found == "loop" && use == NameUse::kStore)
        fail(stmt.line, "can't assign to the special variable 'loop'");
    });
    Block& body = stmt.recursive ? stmt.function->body : stmt.body;
    stmt.uses_loop = stmt.recursive || is_undeclared(body, "loop");
    expr(stmt.expr.get(), frame);

    FunctionChain own_chain{stmt.function.get(), frame.chain};
    FunctionChain* chain = stmt.recursive ? &own_chain : frame.chain;
    if (stmt.recursive) mark_captures(frame.chain);
    if (stmt.test != nullptr) {
      Symbols inner(frame.symbols, chain->function);
      inner.declare_parameters(*stmt.target);
      inner.visit_expr(stmt.test.get());
      stmt.test_target = copy_target(*stmt.target);
      expr(stmt.test_target.get(), {&inner, chain, false});
      expr(stmt.test.get(), {&inner, chain, false});
      stmt.test_scope = inner.scope(*chain);
    }
    Symbols inner(frame.symbols, chain->function);
    if (stmt.uses_loop) stmt.loop_slot = inner.declare_parameter("loop").slot;
    inner.declare_parameters(*stmt.target);
    inner.visit(body);
    check(inner);
    const Frame inside{&inner, chain, false};
    expr(stmt.target.get(), inside);
    block(body, inside);
    stmt.scope = inner.scope(*chain);
    if (!stmt.otherwise.empty()) {
      Symbols other(frame.symbols, chain->function);
      other.visit(stmt.otherwise);
      check(other);
      block(stmt.otherwise, {&other, chain, false});
      stmt.else_scope = other.scope(*chain);
    }
  }

  static ExprPtr copy_target(const Expr& target) {
    auto copy = std::make_unique<Expr>();
    copy->kind = target.kind;
    copy->line = target.line;
    copy->value = target.value;
    for (const ExprPtr& kid : target.kids) copy->kids.push_back(copy_target(*kid));
    return copy;
  }

  static void mark_captures(const FunctionChain* chain) {
    for (; chain != nullptr; chain = chain->outer) chain->function->captures = true;
  }

  void special(Function& function, Symbols& inner, const char* name, bool& takes,
               std::uint32_t& slot) {
    if (!is_undeclared(function.body, name)) return;
    for (const ExprPtr& parameter : function.parameters) {
      if (parameter->value.text() == name) return;
    }
    takes = true;
    slot = inner.declare_parameter(name).slot;
  }

  void function(Stmt& stmt, Frame frame) {
    Function& own = *stmt.function;
    mark_captures(frame.chain);
    FunctionChain chain{&own, frame.chain};
    Symbols inner(frame.symbols, &own);
    for (const ExprPtr& parameter : own.parameters) inner.declare_parameters(*parameter);
    for (const ExprPtr& value : own.defaults) inner.visit_expr(value.get());
    inner.visit(own.body);
    check(inner);
    for (std::size_t i = 0; i < own.parameters.size(); ++i) {
      if (own.parameters[i]->value.text() != "caller") continue;
      own.explicit_caller = true;
      if (is_undeclared(own.body, "caller") && i + own.defaults.size() < own.parameters.size()) {
        fail(stmt.line, "the special argument 'caller' must be omitted or have a default");
      }
    }
    special(own, inner, "caller", own.takes_caller, own.caller_slot);
    special(own, inner, "kwargs", own.takes_kwargs, own.kwargs_slot);
    special(own, inner, "varargs", own.takes_varargs, own.varargs_slot);
    const Frame inside{&inner, &chain, false};
    for (ExprPtr& parameter : own.parameters) expr(parameter.get(), inside);
    for (ExprPtr& value : own.defaults) expr(value.get(), inside);
    block(own.body, inside);
    own.scope = inner.scope(chain);
  }

  std::optional<base::Error> error_;
};

}  // namespace

base::Status resolve_names(Program& program) {
  return Resolver().run(program);
}

}  // namespace verbatim::chat::jinja
