// SPDX-License-Identifier: Apache-2.0
// Walks a parsed template once and writes the prompt. One a rendering; used by the functions of the tables as well.
#pragma once

#include <ctime>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "llm/chat/ast.h"
#include "llm/chat/function.h"
#include "llm/chat/heap.h"
#include "llm/chat/iterate.h"
#include "llm/chat/value.h"

namespace nereid::chat {

// Names and their values; a macro keeps the scope it was defined in.
struct Scope {
  Scope* parent = nullptr;
  std::vector<NamedValue> names;
};

struct Macro {
  std::string_view name;
  const Signature* signature;
  const Block* body;
  Scope* closure;
};

// What the name `loop` means inside a for block.
struct LoopState {
  const Stmt* stmt;
  Scope* outer;
  Iterator source;
  std::deque<Value> ahead;  // taken from the source and passed by the condition, but not yet looped over
  Value previous;
  Value current;
  Value last_changed;  // the arguments of the last loop.changed(), a tuple
  int64_t index0 = -1;
  int depth0 = 0;
};

class Interpreter {
 public:
  Interpreter(const Ast& ast, Heap& heap, const std::optional<std::tm>& now) : ast_(ast), heap_(heap), now_(now) {}

  void define(std::string_view name, const Value& value) { inputs_.names.push_back({name, value}); }
  // The whole output. On an error, line() says where; was_raised() whether the template itself raised it.
  Result<std::string> run();
  int line() const { return error_line_; }
  bool was_raised() const { return was_raised_; }

  // For the functions of the tables.
  Heap& heap() { return heap_; }
  std::tm now() const;
  Result<Value> apply_filter(std::string_view name, const Value& self, const CallArgs& args);
  Result<bool> apply_test(std::string_view name, const Value& self, const CallArgs& args);
  Result<Value> call(const Value& callee, const CallArgs& args);
  Result<Value> attribute_of(const Value& object, std::string_view name);  // object.name
  Result<Value> item_of(const Value& object, const Value& key);            // object[key]
  Result<bool> look_ahead(LoopState& loop, size_t count);                  // whether `count` more items come
  Status raise(std::string_view message);

 private:
  enum class Flow { kNext, kBreak, kContinue };
  friend class DepthGuard;

  // eval_expr.cc
  Result<Value> eval(const Expr& e);
  Result<Value> eval_kind(const Expr& e);
  Result<Value> name(const Expr& e);
  Result<Value> items(const Expr& e, Kind kind);
  Result<Value> dict(const Expr& e);
  Result<Value> item(const Expr& e);
  Result<Value> logic(const Expr& e);
  Result<Value> concat(const Expr& e);
  Result<Value> comparison(const Expr& e);
  Result<Value> conditional(const Expr& e);
  Result<Value> call(const Expr& e);
  Result<Value> filter(const Expr& e, const Value* body);
  Result<Value> test(const Expr& e);
  Result<CallArgs> arguments(const Arguments& a);
  Result<Value> slice(const Value& object, const Expr& slice);
  Result<Value> filter_chain(const Expr& e, const Value& body);

  // eval_stmt.cc
  Result<Flow> run(const Block& block);
  Result<Flow> run(const Stmt& s);
  Result<Flow> run_scoped(const Block& block);
  Result<Flow> run_if(const Stmt& s);
  Result<Flow> run_set_block(const Stmt& s);
  Result<Flow> run_call_block(const Stmt& s);
  Result<Flow> run_filter_block(const Stmt& s);
  Result<Flow> run_with(const Stmt& s);
  Result<Flow> loop_over(const Stmt& s, const Value& iterable, Scope* outer, int depth0);
  Status assign(const Expr& target, const Value& value);
  Status print(const Value& value);
  Status write(std::string_view text);
  // Runs the block in a scope of its own and hands its output out instead of printing it.
  Result<Flow> capture(const Block& block, Value* output);

  // eval_call.cc
  Result<Value> call_macro(const Macro& macro, const CallArgs& args);
  Result<Value> call_loop(LoopState& loop, const CallArgs& args);
  Result<Value> loop_attribute(const Value& loop, std::string_view name);

  void set(std::string_view name, const Value& value);
  const Value* find(std::string_view name) const;
  Scope* make_scope(Scope* parent);
  Value make_macro(std::string_view name, const Signature& signature, const Block& body);

  const Ast& ast_;
  Heap& heap_;
  const std::optional<std::tm>& now_;
  Scope inputs_;
  Scope* scope_ = nullptr;
  TextBuilder* out_ = nullptr;
  std::deque<Scope> scopes_;
  std::deque<Macro> macros_;
  std::deque<LoopState> loops_;
  int depth_ = 0;
  int error_line_ = 0;
  bool was_raised_ = false;
};

// Counts nested evaluations; past the limit ok() is false.
class DepthGuard {
 public:
  explicit DepthGuard(Interpreter& in) : in_(in) { ++in_.depth_; }
  ~DepthGuard() { --in_.depth_; }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;
  Status status() const;

 private:
  Interpreter& in_;
};

}  // namespace nereid::chat
