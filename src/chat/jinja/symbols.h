#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "chat/jinja/ast.h"

namespace verbatim::chat::jinja {

// Functions around a place in the template, innermost first.
struct FunctionChain {
  Function* function = nullptr;
  const FunctionChain* outer = nullptr;
};

// The names of one scope, as jinja2/idtracking.py (3.1) works them out: which slot a name means,
// and how slots start.
class Symbols {
 public:
  static constexpr std::size_t kMaxNames = 500;

  struct Ref {
    Function* function = nullptr;
    std::uint32_t slot = 0;
    auto operator<=>(const Ref&) const = default;
  };

  Symbols(Symbols* parent, Function* function);

  // What statements and expressions of a scope do to its names. Scopes inside are not entered.
  void visit(const Block& block);
  void visit(const Stmt& stmt);
  void visit_expr(const Expr* expr);

  void declare_parameters(const Expr& target);
  Ref declare_parameter(const std::string& name);
  // More names than a scope may have: the work for its branches would get out of hand.
  [[nodiscard]] bool overflown() const { return slots_->size() > kMaxNames; }
  [[nodiscard]] const Ref* find(const std::string& name) const;
  // Loads on entry, slots seen from the innermost function of `chain`.
  [[nodiscard]] Scope scope(const FunctionChain& chain) const;

 private:
  struct Start {
    enum class From : std::uint8_t { kParameter, kContext, kOuter, kNothing } from = From::kNothing;
    Ref outer;
    std::string name;
  };
  Ref define(const std::string& name, Start start);
  void load(const std::string& name);
  void store(const std::string& name);
  void store_target(const Expr& target);
  void visit_if(const Stmt& stmt, std::size_t branch, std::size_t count);
  void merge(std::vector<Symbols> branches);

  Symbols* parent_;
  Function* function_;
  std::shared_ptr<std::map<std::string, std::uint32_t>>
      slots_;  // shared by the copies made for branches
  std::map<std::string, Ref> refs_;
  std::map<std::uint32_t, Start> loads_;  // by slot
  std::set<std::string> stores_;
};

SlotRef seen_from(const FunctionChain& chain, const Symbols::Ref& ref);

}  // namespace verbatim::chat::jinja
