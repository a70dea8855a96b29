// SPDX-License-Identifier: Apache-2.0
// The parsed template: expressions and statements, owned flat by one Ast (so that no depth of nesting can overflow a
// destructor) and never changed after parsing. Safe to share between threads.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "llm/chat/value.h"

namespace nereid::chat {

// What `children` and `text` hold, kind by kind. A child may be null only where it says so.
enum class ExprKind : uint8_t {
  kConstant,      // constant
  kName,          // text
  kNamespaceRef,  // text, attribute: only as the target of a set
  kTuple,         // the items
  kList,          // the items
  kDict,          // key, value, key, value ...
  kAttribute,     // object; text is the attribute
  kItem,          // object, index
  kSlice,         // start, stop, step; each may be null. Only as the index of a kItem
  kCall,          // callee; arguments
  kFilter,        // subject (null for the body of a filter or set block); text, arguments
  kTest,          // subject; text, arguments
  kNot,           // operand
  kNegative,      // operand
  kPositive,      // operand
  kAnd,           // left, right
  kOr,            // left, right
  kBinary,        // left, right; text is + - * / // % **
  kConcat,        // the operands of ~
  kCompare,       // first, second ...; operators has one fewer: == != < <= > >= in notin
  kConditional,   // condition, value, otherwise (may be null)
};

struct Expr;

struct KeywordArgument {
  std::string_view name;
  const Expr* value;
};

struct Arguments {
  std::vector<const Expr*> positional;
  std::vector<KeywordArgument> keywords;
  const Expr* star = nullptr;         // *list
  const Expr* double_star = nullptr;  // **dict
};

struct Expr {
  ExprKind kind;
  int line;
  std::string_view text;
  std::string_view attribute;
  Value constant;
  std::vector<const Expr*> children;
  std::vector<std::string_view> operators;
  Arguments arguments;
};

enum class StmtKind : uint8_t {
  kData,       // text
  kPrint,      // exprs
  kIf,         // branches in order; a branch without condition is the else
  kFor,        // target, exprs = {iterable, condition or null}, body, otherwise, is_recursive
  kSet,        // target, exprs = {value}
  kSetBlock,   // target, exprs = {filter or null}, body
  kMacro,      // text is the name; signature, body
  kCallBlock,  // exprs = {call}; signature, body
  kFilter,     // exprs = {filter}, body
  kWith,       // targets[i] = exprs[i], body
  kScope,      // body: {% generation %}, or a {% block %} without inheritance
  kBreak,
  kContinue,
};

struct Stmt;
using Block = std::vector<const Stmt*>;

struct Parameter {
  std::string_view name;
  const Expr* fallback;  // null: none
};

struct Signature {
  std::vector<Parameter> parameters;
  bool wants_caller = false;   // the body names `caller`,
  bool wants_varargs = false;  // `varargs`
  bool wants_kwargs = false;   // or `kwargs`
};

struct Branch {
  const Expr* condition;
  Block body;
};

struct Stmt {
  StmtKind kind;
  int line;
  std::string_view text;
  const Expr* target = nullptr;
  std::vector<const Expr*> targets;
  std::vector<const Expr*> exprs;
  std::vector<Branch> branches;
  Signature signature;
  Block body;
  Block otherwise;
  bool is_recursive = false;
};

struct Ast {
  std::string source;               // normalised; names and texts are views into it
  std::deque<std::string> decoded;  // string literals with escapes
  std::deque<Expr> exprs;
  std::deque<Stmt> stmts;
  Block body;
};

}  // namespace nereid::chat
