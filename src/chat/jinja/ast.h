#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chat/jinja/attributes.h"
#include "chat/jinja/filters.h"
#include "chat/jinja/tests.h"
#include "chat/jinja/value.h"

// A parsed template. Names are resolved to slots before it runs (scope.h).
namespace verbatim::chat::jinja {

// Where a variable lives: `slot` of the activation `hops` functions out.
struct SlotRef {
  std::uint16_t hops = 0;
  std::uint32_t slot = 0;
};

enum class ExprKind : std::uint8_t {
  kConst,
  kName,
  kNamespaceRef,  // target of {% set ns.x = ... %}: `value` is the attribute's name
  kTuple,
  kList,
  kDict,  // key, value, key, value ...
  kCond,  // test, then, else (optional)
  kAnd,   // two or more operands
  kOr,
  kNot,
  kNegative,
  kPositive,
  kAdd,        // two or more operands, from left to right
  kBinary,     // `op`: Arithmetic
  kConcat,     // two or more operands
  kCompare,    // first operand, then one per comparison; `ops`
  kAttribute,  // object; `value` is the name
  kItem,       // object, index
  kSlice,      // object, start, stop, step (null where left out)
  kCall,       // callee, arguments
  kFilter,     // input (null in a filter block), arguments; `value` is the name
  kTest,
};

enum class Comparison : std::uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kIn,
  kNotIn,
};

struct Expr {
  ExprKind kind = ExprKind::kConst;
  std::uint8_t op = 0;      // kBinary: Arithmetic; kAttribute: LoopField
  std::uint16_t depth = 1;  // of the tree below
  std::uint32_t line = 1;
  SlotRef slot;                              // kName, kNamespaceRef
  Value value;                               // constant or name
  const AttributeInfo* attribute = nullptr;  // kAttribute: what Python's types have under this name
  FilterFunction filter = nullptr;           // null: unknown, an error when it runs
  TestFunction test = nullptr;
  std::vector<std::unique_ptr<Expr>> kids;
  std::vector<Comparison> ops;
  // Calls, filters and tests: behind the positional arguments stand the named ones, then *args,
  // then **kwargs.
  std::vector<Value> names;
  bool has_args_list = false;
  bool has_kwargs_dict = false;

  [[nodiscard]] std::size_t positional_end() const {
    return kids.size() - names.size() - (has_args_list ? 1 : 0) - (has_kwargs_dict ? 1 : 0);
  }
};
using ExprPtr = std::unique_ptr<Expr>;

struct Stmt;
using StmtPtr = std::unique_ptr<Stmt>;
using Block = std::vector<StmtPtr>;

// How a slot gets its value when a scope is entered.
struct Load {
  enum class From : std::uint8_t { kContext, kOuter, kNothing };
  From from = From::kNothing;
  std::uint32_t slot = 0;
  SlotRef outer;  // kOuter
  Value name;     // kContext
};

// Variables a scope sets up on entry.
struct Scope {
  std::vector<Load> loads;
};

// Code with an activation of its own: the template, a macro, the body of a call block, a recursive
// loop.
struct Function {
  Value name;                       // a string; undefined for the anonymous caller
  std::vector<ExprPtr> parameters;  // kName
  std::vector<ExprPtr> defaults;    // of the last parameters
  Block body;
  Scope scope;
  std::uint32_t slots = 0;
  bool captures = false;  // functions are made inside, which may outlive a call
  bool takes_caller = false, takes_kwargs = false, takes_varargs = false;
  bool explicit_caller = false;  // `caller` is one of the parameters
  std::uint32_t caller_slot = 0, kwargs_slot = 0, varargs_slot = 0;
};

enum class StmtKind : std::uint8_t {
  kText,
  kOutput,
  kIf,
  kFor,
  kSet,
  kSetBlock,
  kMacro,
  kCallBlock,
  kFilterBlock,
  kWith,
  kGeneration,
  kBreak,
  kContinue,
};

struct Branch {
  ExprPtr test;  // null: else
  Block body;
};

struct Stmt {
  StmtKind kind = StmtKind::kText;
  std::uint32_t line = 1;
  Value text;                    // kText
  ExprPtr target;                // for, set, set block, macro (its name)
  ExprPtr expr;                  // output, iterable, value, call, filter
  ExprPtr test;                  // for ... if
  std::vector<ExprPtr> targets;  // with
  std::vector<ExprPtr> values;
  std::vector<Branch> branches;  // if
  Block body;
  Block otherwise;  // for ... else
  Scope scope;      // of the body
  Scope test_scope, else_scope;
  ExprPtr test_target;  // the target again, in the scope of the test
  bool recursive = false;
  bool uses_loop = false;
  std::uint32_t loop_slot = 0;
  std::unique_ptr<Function> function;  // macro, call block, generation, recursive loop
};

// A template ready to run.
struct Program {
  std::string source;
  Function main;
};

}  // namespace verbatim::chat::jinja
