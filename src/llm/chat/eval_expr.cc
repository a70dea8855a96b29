// SPDX-License-Identifier: Apache-2.0
// Expressions: from node to value.
#include "llm/chat/interpreter.h"
#include "llm/chat/operators.h"
#include "llm/chat/slice.h"
#include "llm/chat/text.h"

namespace nereid::chat {

Status DepthGuard::status() const {
  if (in_.depth_ <= in_.heap_.limits().depth) return Status::ok();
  return exhausted("the template nests calls and expressions more than {} deep.", in_.heap_.limits().depth);
}

// The innermost node that fails gives the error its line.
Result<Value> Interpreter::eval(const Expr& e) {
  const DepthGuard guard(*this);
  Result<Value> result = guard.status().is_ok() && heap_.work(1) ? eval_kind(e) : Result<Value>(Value());
  if (result.is_ok()) {
    if (Status s = guard.status(); !s.is_ok()) result = std::move(s);
    if (heap_.is_spent()) result = heap_.status();
  }
  if (!result.is_ok() && error_line_ == 0) error_line_ = e.line;
  return result;
}

Result<Value> Interpreter::eval_kind(const Expr& e) {
  switch (e.kind) {
    case ExprKind::kConstant:
      return e.constant;
    case ExprKind::kName:
      return name(e);
    case ExprKind::kTuple:
      return items(e, Kind::kTuple);
    case ExprKind::kList:
      return items(e, Kind::kList);
    case ExprKind::kDict:
      return dict(e);
    case ExprKind::kAttribute: {
      NEREID_TRY(Value object, eval(*e.children[0]));
      return attribute_of(object, e.text);
    }
    case ExprKind::kItem:
      return item(e);
    case ExprKind::kCall:
      return call(e);
    case ExprKind::kFilter:
      return filter(e, nullptr);
    case ExprKind::kTest:
      return test(e);
    case ExprKind::kNot: {
      NEREID_TRY(Value operand, eval(*e.children[0]));
      return Value::boolean(!is_true(operand));
    }
    case ExprKind::kNegative: {
      NEREID_TRY(Value operand, eval(*e.children[0]));
      return negative(operand);
    }
    case ExprKind::kPositive: {
      NEREID_TRY(Value operand, eval(*e.children[0]));
      return positive(operand);
    }
    case ExprKind::kAnd:
    case ExprKind::kOr:
      return logic(e);
    case ExprKind::kBinary: {
      NEREID_TRY(Value left, eval(*e.children[0]));
      NEREID_TRY(Value right, eval(*e.children[1]));
      return arithmetic(heap_, e.text, left, right);
    }
    case ExprKind::kConcat:
      return concat(e);
    case ExprKind::kCompare:
      return comparison(e);
    case ExprKind::kConditional:
      return conditional(e);
    case ExprKind::kNamespaceRef:
    case ExprKind::kSlice:
      break;
  }
  return internal("an expression of kind {} has no value of its own.", static_cast<int>(e.kind));
}

Result<Value> Interpreter::name(const Expr& e) {
  if (const Value* value = find(e.text)) return *value;
  if (const FunctionRow* row = find_row(global_table(), e.text)) return Value::function(row);
  return Value::undefined(Origin::kName, e.text);
}

Result<Value> Interpreter::items(const Expr& e, Kind kind) {
  std::vector<Value> values;
  values.reserve(e.children.size());
  for (const Expr* child : e.children) {
    NEREID_TRY(Value value, eval(*child));
    values.push_back(value);
  }
  return heap_.sequence(kind, std::move(values));
}

Result<Value> Interpreter::dict(const Expr& e) {
  Value out = heap_.dict();
  for (size_t i = 0; i + 1 < e.children.size(); i += 2) {
    NEREID_TRY(Value key, eval(*e.children[i]));
    NEREID_TRY(Value value, eval(*e.children[i + 1]));
    if (!is_hashable(key)) return invalid_argument("a value of type '{}' cannot be a key.", type_name(key));
    if (!heap_.take(sizeof(Dict::Entry))) break;
    out.as_dict().set(key, value);
  }
  return out;
}

Result<Value> Interpreter::item(const Expr& e) {
  NEREID_TRY(Value object, eval(*e.children[0]));
  const Expr& index = *e.children[1];
  if (index.kind == ExprKind::kSlice) return slice(object, index);
  NEREID_TRY(Value key, eval(index));
  return item_of(object, key);
}

Result<Value> Interpreter::slice(const Value& object, const Expr& slice) {
  Value parts[3];
  for (size_t i = 0; i < 3; ++i) {
    if (!slice.children[i]) continue;
    NEREID_TRY(parts[i], eval(*slice.children[i]));
  }
  if (object.is_undefined()) return undefined_error(object);
  return slice_of(heap_, object, parts[0], parts[1], parts[2]);
}

Result<Value> Interpreter::logic(const Expr& e) {
  NEREID_TRY(Value left, eval(*e.children[0]));
  if (is_true(left) == (e.kind == ExprKind::kOr)) return left;
  return eval(*e.children[1]);
}

Result<Value> Interpreter::concat(const Expr& e) {
  TextBuilder out(heap_);
  for (const Expr* child : e.children) {
    NEREID_TRY(Value value, eval(*child));
    write_str(out, value);
  }
  return out.finish();
}

Result<Value> Interpreter::comparison(const Expr& e) {
  NEREID_TRY(Value left, eval(*e.children[0]));
  for (size_t i = 0; i < e.operators.size(); ++i) {
    NEREID_TRY(Value right, eval(*e.children[i + 1]));
    NEREID_TRY(const bool holds, compare(heap_, e.operators[i], left, right));
    if (!holds) return Value::boolean(false);
    left = right;
  }
  return Value::boolean(true);
}

Result<Value> Interpreter::conditional(const Expr& e) {
  NEREID_TRY(Value condition, eval(*e.children[0]));
  if (is_true(condition)) return eval(*e.children[1]);
  if (e.children[2]) return eval(*e.children[2]);
  return Value::undefined(Origin::kSentence,
                          "the inline if-expression evaluated to false and no else section was defined");
}

Result<CallArgs> Interpreter::arguments(const Arguments& a) {
  CallArgs out;
  out.positional.reserve(a.positional.size());
  for (const Expr* e : a.positional) {
    NEREID_TRY(Value value, eval(*e));
    out.positional.push_back(value);
  }
  for (const KeywordArgument& keyword : a.keywords) {
    NEREID_TRY(Value value, eval(*keyword.value));
    out.keywords.push_back({keyword.name, value});
  }
  if (a.star) {
    NEREID_TRY(Value value, eval(*a.star));
    NEREID_TRY(std::vector<Value> more, all_items(heap_, value));
    out.positional.insert(out.positional.end(), more.begin(), more.end());
  }
  if (a.double_star) {
    NEREID_TRY(Value value, eval(*a.double_star));
    if (!value.is_dict())
      return invalid_argument("the argument after ** must be a dict, found '{}'.", type_name(value));
    for (const Dict::Entry& entry : value.as_dict().entries) {
      if (!entry.key.is_string()) return invalid_argument("the keys of the dict after ** must be str.");
      out.keywords.push_back({entry.key.as_text(), entry.value});
    }
    heap_.work(value.as_dict().entries.size());
  }
  return out;
}

Result<Value> Interpreter::call(const Expr& e) {
  NEREID_TRY(Value callee, eval(*e.children[0]));
  NEREID_TRY(CallArgs args, arguments(e.arguments));
  return call(callee, args);
}

Result<Value> Interpreter::filter(const Expr& e, const Value* body) {
  Value self;
  if (e.children[0]) {
    NEREID_TRY(self, body ? filter_chain(*e.children[0], *body) : eval(*e.children[0]));
  } else {
    self = *body;
  }
  NEREID_TRY(CallArgs args, arguments(e.arguments));
  return apply_filter(e.text, self, args);
}

// The filters of a {% filter %} or a {% set x | f %}, whose innermost subject is the block's output.
Result<Value> Interpreter::filter_chain(const Expr& e, const Value& body) {
  const DepthGuard guard(*this);
  NEREID_RETURN_IF_ERROR(guard.status());
  Result<Value> result = filter(e, &body);
  if (!result.is_ok() && error_line_ == 0) error_line_ = e.line;
  return result;
}

Result<Value> Interpreter::test(const Expr& e) {
  NEREID_TRY(Value self, eval(*e.children[0]));
  NEREID_TRY(CallArgs args, arguments(e.arguments));
  NEREID_TRY(const bool holds, apply_test(e.text, self, args));
  return Value::boolean(holds);
}

}  // namespace nereid::chat
