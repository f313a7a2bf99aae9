#include "chat/jinja/interpreter.h"

#include <utility>

#include "chat/jinja/attributes.h"
#include "chat/jinja/globals.h"
#include "chat/jinja/interpreter_scopes.h"
#include "chat/jinja/print.h"

// Statements and output; expressions and calls are in evaluate.cc and call.cc.
namespace verbatim::chat::jinja {
namespace {

// What {% for x in y if test %} loops over.
struct FilteredIterator final : IteratorObject {
  FilteredIterator(Interpreter& interpreter_in, const Stmt& loop_in, Activation* activation_in,
                   const Value& iterable)
      : interpreter(interpreter_in),
        loop(loop_in),
        activation(activation_in),
        items(interpreter_in, iterable) {
    depth = depth_of(iterable) + 1;
  }
  bool next(Runtime& runtime, Value& out) override {
    while (items.next(out)) {
      if (interpreter.passes(loop, activation, out)) return !runtime.failed();
    }
    return false;
  }
  Interpreter& interpreter;
  const Stmt& loop;
  Activation* activation;
  Iteration items;
};

}  // namespace

Interpreter::Interpreter(const Program& program, const Value& context, const RenderOptions& options)
    : Runtime(options), program_(program), context_(context) {}

Interpreter::~Interpreter() {
  // Namespaces and variables may hold each other; taking them apart one by one also keeps
  // destructors from nesting.
  for (const Value& name_space : namespaces_) {
    static_cast<NamespaceObject*>(name_space.object())->attributes.clear();
  }
  for (const auto& activation : kept_) activation->slots.clear();
}

base::Result<Text> Interpreter::run() {
  TextBuilder out;
  out_ = &out;
  std::unique_ptr<Activation> owner;
  frame_ = &new_activation(program_.main, nullptr, owner);
  enter(program_.main.scope);
  execute(program_.main.body);
  if (failed()) return take_error();
  return out.take();
}

Value Interpreter::resolve(const Value& name) {
  if (context_.kind() == Kind::kDict) {
    if (const Value* found = context_.dict_object().find(name.text())) return *found;
  }
  return find_global(name.text());
}

Value& Interpreter::slot(const SlotRef& ref) {
  Activation* at = frame_;
  for (unsigned i = 0; i < ref.hops; ++i) at = at->outer;
  return at->slots[ref.slot];
}

void Interpreter::enter(const Scope& scope) {
  for (const Load& load : scope.loads) {
    Value& target = frame_->slots[load.slot];
    switch (load.from) {
      case Load::From::kContext:
        target = resolve(load.name);
        break;
      case Load::From::kOuter:
        target = slot(load.outer);
        break;
      case Load::From::kNothing:
        target = Value::missing();
        break;
    }
  }
}

bool Interpreter::fits() {
  if (out_->size() <= options().max_output_bytes) return true;
  allocate(out_->size());
  return false;
}

void Interpreter::emit_value(const Value& value) {
  append_str(*this, *out_, value);
  fits();
}

Interpreter::Flow Interpreter::execute(const Block& block) {
  const Depth depth(*this);
  for (const StmtPtr& stmt : block) {
    if (!step()) return Flow::kNext;
    const Flow flow = execute(*stmt);
    if (failed()) return Flow::kNext;
    if (flow != Flow::kNext) return flow;
  }
  return Flow::kNext;
}

Interpreter::Flow Interpreter::execute(const Stmt& stmt) {
  set_line(stmt.line);
  switch (stmt.kind) {
    case StmtKind::kText:
      out_->append(stmt.text.text(), kTemplate);
      fits();
      return Flow::kNext;
    case StmtKind::kOutput:
      emit(*stmt.expr);
      return Flow::kNext;
    case StmtKind::kIf:
      return execute_if(stmt);
    case StmtKind::kFor:
      return execute_for(stmt);
    case StmtKind::kSet: {
      Value scratch;
      const Value& value = evaluate(*stmt.expr, scratch);
      if (!failed()) assign(*stmt.target, value);
      return Flow::kNext;
    }
    case StmtKind::kSetBlock:
      return execute_set_block(stmt);
    case StmtKind::kMacro:
      assign(*stmt.target, make_macro(*stmt.function));
      return Flow::kNext;
    case StmtKind::kCallBlock:
    case StmtKind::kGeneration:
      execute_call_block(stmt);
      return Flow::kNext;
    case StmtKind::kFilterBlock:
      return execute_filter_block(stmt);
    case StmtKind::kWith:
      return execute_with(stmt);
    case StmtKind::kBreak:
      return Flow::kBreak;
    case StmtKind::kContinue:
      return Flow::kContinue;
  }
  return Flow::kNext;
}

Interpreter::Flow Interpreter::execute_if(const Stmt& stmt) {
  for (const Branch& branch : stmt.branches) {
    if (branch.test == nullptr) return execute(branch.body);
    Value scratch;
    const bool taken = truthy(evaluate(*branch.test, scratch));
    if (failed()) return Flow::kNext;
    if (taken) return execute(branch.body);
  }
  return Flow::kNext;
}

Interpreter::Flow Interpreter::execute_for(const Stmt& stmt) {
  Value scratch;
  const Value& iterable = evaluate(*stmt.expr, scratch);
  if (failed()) return Flow::kNext;
  if (!stmt.recursive) return run_loop(stmt, stmt.body, iterable, 0, nullptr);
  std::unique_ptr<Activation> owner;
  Activation* const home = frame_;
  frame_ = &new_activation(*stmt.function, home, owner);
  const Value items = iterable;
  run_loop(stmt, stmt.function->body, items, 0, home);
  frame_ = home;
  return Flow::kNext;
}

Interpreter::Flow Interpreter::run_loop(const Stmt& stmt, const Block& body, Value iterable,
                                        std::int64_t depth0, Activation* home) {
  if (stmt.test != nullptr) {
    iterable =
        checked(Value::of(Kind::kIterator, new FilteredIterator(*this, stmt, frame_, iterable)));
    if (failed()) return Flow::kNext;
  }
  bool completed = false;
  Flow flow = Flow::kNext;
  if (stmt.uses_loop) {
    auto* loop = new LoopObject(*this, iterable);
    const Value holder = Value::of(Kind::kLoop, loop);
    loop->depth0 = depth0;
    if (stmt.recursive) {
      loop->recursive = &stmt;
      loop->home = home;
    }
    frame_->slots[stmt.loop_slot] = holder;
    loop_items(stmt, body, loop, nullptr, completed);
    frame_->slots[stmt.loop_slot] = Value::missing();
    loop->end();
  } else {
    Iteration items(*this, std::move(iterable));
    loop_items(stmt, body, nullptr, &items, completed);
  }
  if (!failed() && !completed && !stmt.otherwise.empty()) {
    enter(stmt.else_scope);
    flow = execute(stmt.otherwise);
  }
  return flow;
}

Interpreter::Flow Interpreter::loop_items(const Stmt& stmt, const Block& body, LoopObject* loop,
                                          Iteration* items, bool& completed) {
  Value item;
  while (!failed() && (loop != nullptr ? loop->next(item) : items->next(item))) {
    assign(*stmt.target, item);
    enter(stmt.scope);
    if (failed()) break;
    const Flow flow = execute(body);
    if (flow == Flow::kBreak) break;
    if (flow == Flow::kNext) completed = true;
  }
  return Flow::kNext;
}

bool Interpreter::passes(const Stmt& loop, Activation* activation, Value& item) {
  const Depth depth(*this);
  Activation* const outer = std::exchange(frame_, activation);
  enter(loop.test_scope);
  assign(*loop.test_target, item);
  Value scratch;
  const bool passed = truthy(evaluate(*loop.test, scratch)) && !failed();
  if (passed && loop.test_target->kind == ExprKind::kTuple && item.kind() == Kind::kList) {
    item = make_list(collect(*this, item), item.source(),
                     true);  // jinja2 puts the targets together again
  }
  frame_ = outer;
  return passed;
}

Interpreter::Flow Interpreter::execute_set_block(const Stmt& stmt) {
  Flow flow = Flow::kNext;
  enter(stmt.scope);
  Capture capture(*this);
  flow = execute(stmt.body);
  Value text = capture.take();
  if (failed() || flow != Flow::kNext) return flow;
  if (stmt.expr != nullptr) text = evaluate_filter(*stmt.expr, &text);
  if (!failed()) assign(*stmt.target, text);
  return flow;
}

Interpreter::Flow Interpreter::execute_filter_block(const Stmt& stmt) {
  Flow flow = Flow::kNext;
  enter(stmt.scope);
  Value text;
  {
    Capture capture(*this);
    flow = execute(stmt.body);
    text = capture.take();
  }
  if (failed() || flow != Flow::kNext) return flow;
  const Value filtered = evaluate_filter(*stmt.expr, &text);
  if (!failed()) emit_value(filtered);
  return flow;
}

Interpreter::Flow Interpreter::execute_with(const Stmt& stmt) {
  enter(stmt.scope);
  for (std::size_t i = 0; i < stmt.targets.size() && !failed(); ++i) {
    Value scratch;
    assign(*stmt.targets[i], evaluate(*stmt.values[i], scratch));
  }
  return failed() ? Flow::kNext : execute(stmt.body);
}

void Interpreter::execute_call_block(const Stmt& stmt) {
  Value caller = make_macro(*stmt.function);
  if (stmt.kind == StmtKind::kGeneration) {
    return run_macro(*static_cast<const MacroObject*>(caller.object()), {});
  }
  Value scratch;
  const Value& callee = evaluate(*stmt.expr->kids.front(), scratch);
  Arguments arguments;
  evaluate_arguments(*stmt.expr, arguments);
  if (failed()) return;
  arguments.named.emplace_back(Value::string("caller"), std::move(caller));
  if (callee.kind() == Kind::kMacro) {
    return run_macro(*static_cast<const MacroObject*>(callee.object()), std::move(arguments));
  }
  const Value result = call(callee, std::move(arguments));
  if (!failed()) emit_value(result);
}

void Interpreter::assign(const Expr& target, const Value& value) {
  switch (target.kind) {
    case ExprKind::kName:
      slot(target.slot) = value;
      return;
    case ExprKind::kNamespaceRef:
      return assign_attribute(target, value);
    default:
      return unpack(target, value);
  }
}

void Interpreter::assign_attribute(const Expr& target, const Value& value) {
  const Value& owner = slot(target.slot);
  const std::string_view name = target.value.text();
  if (owner.kind() != Kind::kNamespace) {
    raise("TemplateRuntimeError", "cannot assign attribute on non-namespace object");
  } else if (name.front() == '_') {
    raise("SecurityError", "a namespace attribute may not start with an underscore");
  } else {
    auto& attributes = *static_cast<NamespaceObject*>(owner.object());
    if (Value* known = attributes.find(name)) {
      *known = value;
    } else {
      attributes.attributes.push_back({target.value, value});
    }
  }
}

void Interpreter::unpack(const Expr& target, const Value& value) {
  const std::vector<Value> items = collect(*this, value);
  if (failed()) return;
  if (items.size() != target.kids.size()) {
    value_error(items.size() > target.kids.size() ? "too many values to unpack"
                                                  : "not enough values to unpack");
    return;
  }
  for (std::size_t i = 0; i < items.size(); ++i) assign(*target.kids[i], items[i]);
}

}  // namespace verbatim::chat::jinja
