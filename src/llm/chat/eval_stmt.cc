// SPDX-License-Identifier: Apache-2.0
// Statements: scopes, loops, assignments and output.
#include <algorithm>

#include "llm/chat/interpreter.h"
#include "llm/chat/operators.h"
#include "llm/chat/text.h"

namespace nereid::chat {

Result<std::string> Interpreter::run() {
  Scope top{&inputs_, {}};
  scope_ = &top;
  TextBuilder out(heap_);
  out_ = &out;
  NEREID_RETURN_IF_ERROR(run(ast_.body));
  NEREID_RETURN_IF_ERROR(heap_.status());
  return out.take();
}

std::tm Interpreter::now() const {
  if (now_) return *now_;
  const std::time_t seconds = std::time(nullptr);
  std::tm local{};
  localtime_r(&seconds, &local);
  return local;
}

Status Interpreter::raise(std::string_view message) {
  was_raised_ = true;
  return Status(StatusCode::kInvalidArgument, std::string(message));
}

const Value* Interpreter::find(std::string_view name) const {
  for (const Scope* s = scope_; s; s = s->parent) {
    for (const NamedValue& n : s->names) {
      if (n.name == name) return &n.value;
    }
  }
  return nullptr;
}

void Interpreter::set(std::string_view name, const Value& value) {
  for (NamedValue& n : scope_->names) {
    if (n.name == name) {
      n.value = value;
      return;
    }
  }
  heap_.take(sizeof(NamedValue));
  scope_->names.push_back({name, value});
}

Scope* Interpreter::make_scope(Scope* parent) {
  heap_.take(sizeof(Scope));
  return &scopes_.emplace_back(Scope{parent, {}});
}

Result<Interpreter::Flow> Interpreter::run(const Block& block) {
  for (const Stmt* s : block) {
    Result<Flow> flow = run(*s);
    if (flow.is_ok() && heap_.is_spent()) flow = heap_.status();
    if (!flow.is_ok()) {
      if (error_line_ == 0) error_line_ = s->line;
      return flow;
    }
    if (*flow != Flow::kNext) return flow;
  }
  return Flow::kNext;
}

Result<Interpreter::Flow> Interpreter::run_scoped(const Block& block) {
  Scope* const outer = std::exchange(scope_, make_scope(scope_));
  auto flow = run(block);
  scope_ = outer;
  return flow;
}

Result<Interpreter::Flow> Interpreter::run(const Stmt& s) {
  const DepthGuard guard(*this);
  NEREID_RETURN_IF_ERROR(guard.status());
  heap_.work(1);
  switch (s.kind) {
    case StmtKind::kData:
      NEREID_RETURN_IF_ERROR(write(s.text));
      return Flow::kNext;
    case StmtKind::kPrint:
      for (const Expr* e : s.exprs) {
        NEREID_TRY(Value value, eval(*e));
        NEREID_RETURN_IF_ERROR(print(value));
      }
      return Flow::kNext;
    case StmtKind::kIf:
      return run_if(s);
    case StmtKind::kFor: {
      NEREID_TRY(Value iterable, eval(*s.exprs[0]));
      return loop_over(s, iterable, scope_, 0);
    }
    case StmtKind::kSet: {
      NEREID_TRY(Value value, eval(*s.exprs[0]));
      NEREID_RETURN_IF_ERROR(assign(*s.target, value));
      return Flow::kNext;
    }
    case StmtKind::kSetBlock:
      return run_set_block(s);
    case StmtKind::kMacro:
      set(s.text, make_macro(s.text, s.signature, s.body));
      return Flow::kNext;
    case StmtKind::kCallBlock:
      return run_call_block(s);
    case StmtKind::kFilter:
      return run_filter_block(s);
    case StmtKind::kWith:
      return run_with(s);
    case StmtKind::kScope:
      return run_scoped(s.body);
    case StmtKind::kBreak:
      return Flow::kBreak;
    case StmtKind::kContinue:
      return Flow::kContinue;
  }
  return internal("a statement of kind {} cannot be run.", static_cast<int>(s.kind));
}

Result<Interpreter::Flow> Interpreter::run_if(const Stmt& s) {
  for (const Branch& branch : s.branches) {
    if (branch.condition) {
      NEREID_TRY(Value condition, eval(*branch.condition));
      if (!is_true(condition)) continue;
    }
    return run(branch.body);
  }
  return Flow::kNext;
}

Result<Interpreter::Flow> Interpreter::loop_over(const Stmt& s, const Value& iterable, Scope* outer, int depth0) {
  if (!is_iterable(iterable) && error_line_ == 0) error_line_ = s.line;
  NEREID_TRY(Iterator source, Iterator::over(iterable));
  heap_.take(sizeof(LoopState));
  LoopState& loop = loops_.emplace_back();
  loop.stmt = &s;
  loop.outer = outer;
  loop.source = source;
  loop.depth0 = depth0;
  Scope* const before = scope_;
  auto iterate = [&]() -> Result<Flow> {
    Scope* scope = nullptr;
    size_t macros = 0;
    for (;;) {
      NEREID_TRY(const bool has_next, look_ahead(loop, 1));
      if (!has_next) break;
      loop.previous = loop.current;
      loop.current = loop.ahead.front();
      loop.ahead.pop_front();
      ++loop.index0;
      // Each round has a scope of its own; one that no macro has captured is used again.
      if (!scope || macros_.size() != macros) scope = make_scope(outer);
      macros = macros_.size();
      scope->names.clear();
      scope_ = scope;
      set("loop", Value::loop(&loop));
      NEREID_RETURN_IF_ERROR(assign(*s.target, loop.current));
      NEREID_TRY(const Flow flow, run(s.body));
      scope_ = outer;
      if (flow == Flow::kBreak) break;
    }
    if (loop.index0 >= 0 || s.otherwise.empty()) return Flow::kNext;
    scope_ = outer;
    return run_scoped(s.otherwise);
  };
  Result<Flow> flow = iterate();
  scope_ = before;
  return flow;
}

Result<Interpreter::Flow> Interpreter::capture(const Block& block, Value* output) {
  TextBuilder text(heap_);
  TextBuilder* const outer = std::exchange(out_, &text);
  Scope* const before = std::exchange(scope_, make_scope(scope_));
  auto flow = run(block);
  scope_ = before;
  out_ = outer;
  *output = text.finish();
  return flow;
}

Result<Interpreter::Flow> Interpreter::run_set_block(const Stmt& s) {
  Value body;
  NEREID_TRY(const Flow flow, capture(s.body, &body));
  if (flow != Flow::kNext) return flow;
  if (s.exprs[0]) {
    NEREID_TRY(body, filter_chain(*s.exprs[0], body));
  }
  NEREID_RETURN_IF_ERROR(assign(*s.target, body));
  return Flow::kNext;
}

Result<Interpreter::Flow> Interpreter::run_filter_block(const Stmt& s) {
  Value body;
  NEREID_TRY(const Flow flow, capture(s.body, &body));
  if (flow != Flow::kNext) return flow;
  NEREID_TRY(Value filtered, filter_chain(*s.exprs[0], body));
  NEREID_RETURN_IF_ERROR(print(filtered));
  return Flow::kNext;
}

Result<Interpreter::Flow> Interpreter::run_call_block(const Stmt& s) {
  const Expr& call_expr = *s.exprs[0];
  NEREID_TRY(Value callee, eval(*call_expr.children[0]));
  NEREID_TRY(CallArgs args, arguments(call_expr.arguments));
  args.keywords.push_back({"caller", make_macro("caller", s.signature, s.body)});
  NEREID_TRY(Value output, call(callee, args));
  NEREID_RETURN_IF_ERROR(print(output));
  return Flow::kNext;
}

Result<Interpreter::Flow> Interpreter::run_with(const Stmt& s) {
  std::vector<Value> values;
  for (const Expr* e : s.exprs) {
    NEREID_TRY(Value value, eval(*e));
    values.push_back(value);
  }
  Scope* const outer = std::exchange(scope_, make_scope(scope_));
  auto run_body = [&]() -> Result<Flow> {
    for (size_t i = 0; i < values.size(); ++i) NEREID_RETURN_IF_ERROR(assign(*s.targets[i], values[i]));
    return run(s.body);
  };
  auto flow = run_body();
  scope_ = outer;
  return flow;
}

Status Interpreter::assign(const Expr& target, const Value& value) {
  if (target.kind == ExprKind::kName) {
    set(target.text, value);
    return Status::ok();
  }
  if (target.kind == ExprKind::kNamespaceRef) {
    const Value* ns = find(target.text);
    if (!ns || !ns->is(Kind::kNamespace)) return invalid_argument("cannot assign attribute on non-namespace object.");
    if (target.attribute.starts_with('_')) {
      return invalid_argument("a namespace cannot hold '{}': names with a leading underscore are reserved.",
                              target.attribute);
    }
    heap_.take(sizeof(Dict::Entry));
    ns->as_dict().set(Value::text(target.attribute), value);
    return Status::ok();
  }
  NEREID_TRY(std::vector<Value> items, all_items(heap_, value));
  if (items.size() != target.children.size()) {
    return invalid_argument("cannot unpack {} value(s) into {} names.", items.size(), target.children.size());
  }
  for (size_t i = 0; i < items.size(); ++i) NEREID_RETURN_IF_ERROR(assign(*target.children[i], items[i]));
  return Status::ok();
}

Status Interpreter::print(const Value& value) {
  write_str(*out_, value);
  return write({});
}

Status Interpreter::write(std::string_view text) {
  out_->add(text);
  if (out_->str().size() <= heap_.limits().output_bytes) return Status::ok();
  return exhausted("the output is larger than {} MiB.", heap_.limits().output_bytes >> 20);
}

}  // namespace nereid::chat
