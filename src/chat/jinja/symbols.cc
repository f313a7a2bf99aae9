#include "chat/jinja/symbols.h"

#include <algorithm>

namespace verbatim::chat::jinja {

Symbols::Symbols(Symbols* parent, Function* function)
    : parent_(parent),
      function_(function),
      slots_(std::make_shared<std::map<std::string, std::uint32_t>>()) {}

Symbols::Ref Symbols::define(const std::string& name, Start start) {
  const auto [it, fresh] = slots_->try_emplace(name, function_->slots);
  if (fresh) ++function_->slots;
  const Ref ref{function_, it->second};
  refs_[name] = ref;
  loads_[ref.slot] = std::move(start);
  return ref;
}

const Symbols::Ref* Symbols::find(const std::string& name) const {
  for (const Symbols* scope = this; scope != nullptr; scope = scope->parent_) {
    if (const auto it = scope->refs_.find(name); it != scope->refs_.end()) return &it->second;
  }
  return nullptr;
}

void Symbols::store(const std::string& name) {
  stores_.insert(name);
  if (refs_.contains(name)) return;
  const Ref* outer = parent_ != nullptr ? parent_->find(name) : nullptr;
  if (outer != nullptr) {
    define(name, {Start::From::kOuter, *outer, {}});
  } else {
    define(name, {Start::From::kNothing, {}, {}});
  }
}

Symbols::Ref Symbols::declare_parameter(const std::string& name) {
  stores_.insert(name);
  return define(name, {Start::From::kParameter, {}, {}});
}

void Symbols::load(const std::string& name) {
  if (find(name) == nullptr) define(name, {Start::From::kContext, {}, name});
}

void Symbols::declare_parameters(const Expr& target) {
  if (target.kind == ExprKind::kName) declare_parameter(std::string(target.value.text()));
  for (const ExprPtr& kid : target.kids) declare_parameters(*kid);
}

void Symbols::store_target(const Expr& target) {
  if (target.kind == ExprKind::kName) {
    store(std::string(target.value.text()));
  } else if (target.kind == ExprKind::kNamespaceRef) {
    load(std::string(target.names.front().text()));
  }
  for (const ExprPtr& kid : target.kids) store_target(*kid);
}

void Symbols::visit_expr(const Expr* expr) {
  if (expr == nullptr) return;
  if (expr->kind == ExprKind::kName) load(std::string(expr->value.text()));
  for (const ExprPtr& kid : expr->kids) visit_expr(kid.get());
}

void Symbols::visit(const Block& block) {
  for (const StmtPtr& stmt : block) {
    if (overflown()) return;
    visit(*stmt);
  }
}

void Symbols::visit(const Stmt& stmt) {
  switch (stmt.kind) {
    case StmtKind::kOutput:
    case StmtKind::kFor:
    case StmtKind::kCallBlock:
    case StmtKind::kFilterBlock:
      return visit_expr(stmt.expr.get());
    case StmtKind::kIf:
      return visit_if(stmt, 0, stmt.branches.size());
    case StmtKind::kSet:
      visit_expr(stmt.expr.get());
      return store_target(*stmt.target);
    case StmtKind::kSetBlock:
    case StmtKind::kMacro:
      return store_target(*stmt.target);
    case StmtKind::kWith:
      for (const ExprPtr& value : stmt.values) visit_expr(value.get());
      return;
    default:
      return;
  }
}

// `if` with the branches from `branch` on: jinja2 visits the body, all elifs one after the other,
// and the else each on a copy.
void Symbols::visit_if(const Stmt& stmt, std::size_t branch, std::size_t count) {
  const Branch& first = stmt.branches[branch];
  visit_expr(first.test.get());
  Symbols body = *this;
  body.visit(first.body);
  Symbols elifs = *this;
  Symbols otherwise = *this;
  for (std::size_t i = branch + 1; i < count; ++i) {
    if (stmt.branches[i].test == nullptr) {
      otherwise.visit(stmt.branches[i].body);
    } else {
      elifs.visit_if(stmt, i, i + 1);
    }
  }
  std::vector<Symbols> branches;
  branches.push_back(std::move(body));
  branches.push_back(std::move(elifs));
  branches.push_back(std::move(otherwise));
  merge(std::move(branches));
}

void Symbols::merge(std::vector<Symbols> branches) {
  std::set<std::string> stored;
  for (const Symbols& branch : branches) {
    for (const std::string& name : branch.stores_) {
      if (!stores_.contains(name)) stored.insert(name);
    }
  }
  for (const Symbols& branch : branches) {
    for (const auto& [name, ref] : branch.refs_) refs_[name] = ref;
    for (const auto& [slot, start] : branch.loads_) loads_[slot] = start;
    stores_.insert(branch.stores_.begin(), branch.stores_.end());
  }
  for (const std::string& name : stored) {
    const Ref target = *find(name);
    const Ref* outer = parent_ != nullptr ? parent_->find(name) : nullptr;
    const Start start = outer != nullptr ? Start{Start::From::kOuter, *outer, {}}
                                         : Start{Start::From::kContext, {}, name};
    if (const auto known = loads_.find(target.slot); known != loads_.end()) known->second = start;
  }
}

SlotRef seen_from(const FunctionChain& chain, const Symbols::Ref& ref) {
  SlotRef slot;
  slot.slot = ref.slot;
  for (const FunctionChain* at = &chain; at != nullptr && at->function != ref.function;
       at = at->outer) {
    ++slot.hops;
  }
  return slot;
}

Scope Symbols::scope(const FunctionChain& chain) const {
  Scope scope;
  for (const auto& [slot, start] : loads_) {
    if (start.from == Start::From::kParameter) continue;
    Load load;
    load.slot = slot;
    if (start.from == Start::From::kContext) {
      load.from = Load::From::kContext;
      load.name = Value::string(start.name);
    } else if (start.from == Start::From::kOuter) {
      load.from = Load::From::kOuter;
      load.outer = seen_from(chain, start.outer);
    }
    scope.loads.push_back(std::move(load));
  }
  return scope;
}

}  // namespace verbatim::chat::jinja
