// SPDX-License-Identifier: Apache-2.0
// Attributes, items and calls: what a value answers to a name, an index or brackets.
#include <algorithm>

#include "llm/chat/interpreter.h"
#include "llm/chat/operators.h"
#include "llm/chat/slice.h"

namespace nereid::chat {

namespace {

// A null when the kind has no such method.
Value method_of(Heap& heap, const Value& object, std::string_view name) {
  const FunctionRow* row = find_row(method_table(object.kind()), name);
  return row ? heap.method(row, object) : Value();
}

Value group_attribute(const Value& object, std::string_view name) {
  const Sequence& s = object.as_sequence();
  if (s.label != "group" || s.items.size() != 2) return Value();
  return name == "grouper" ? s.items[0] : name == "list" ? s.items[1] : Value();
}

}  // namespace

// Python's attributes come first: message.items is the method even where the dict has a key of that name.
Result<Value> Interpreter::attribute_of(const Value& object, std::string_view name) {
  if (object.is_undefined()) return undefined_error(object);
  if (object.is(Kind::kLoop)) return loop_attribute(object, name);
  if (object.is(Kind::kTuple)) {
    if (const Value part = group_attribute(object, name); !part.is_missing()) return part;
  }
  if (const Value method = method_of(heap_, object, name); !method.is_missing()) return method;
  if (object.is_dict() || object.is(Kind::kNamespace)) {
    if (const Value* value = object.as_dict().find(name)) return *value;
  }
  if (object.is(Kind::kMacro) && name == "name") return Value::text(object.as_macro().name);
  return Value::undefined(Origin::kAttribute, name, object.kind());
}

Result<Value> Interpreter::item_of(const Value& object, const Value& key) {
  if (object.is_undefined()) return undefined_error(object);
  if (object.is_dict() && is_hashable(key)) {
    if (const Value* value = object.as_dict().find(key)) return *value;
  }
  if (key.is_integral()) {
    if (const Value value = item_at(heap_, object, key.as_int()); !value.is_missing()) return value;
    return heap_.undefined(fmt::format("'{} object' has no element {}", type_name(object), key.as_int()));
  }
  if (!key.is_string()) {
    return heap_.undefined(fmt::format("'{} object' has no element of type '{}'", type_name(object), type_name(key)));
  }
  if (object.is(Kind::kNamespace) || object.is(Kind::kLoop)) return attribute_of(object, key.as_text());
  if (const Value method = method_of(heap_, object, key.as_text()); !method.is_missing()) return method;
  return Value::undefined(Origin::kAttribute, key.as_text(), object.kind());
}

Result<Value> Interpreter::apply_filter(std::string_view name, const Value& self, const CallArgs& args) {
  const FunctionRow* row = find_row(filter_table(), name);
  if (!row) return invalid_argument("there is no filter named '{}'.", name);
  if (self.is_string()) heap_.work(self.as_text().size() / 32);
  NEREID_TRY(Args bound, bind(*row, args));
  return row->call(*this, self, bound);
}

Result<bool> Interpreter::apply_test(std::string_view name, const Value& self, const CallArgs& args) {
  const FunctionRow* row = find_row(test_table(), name);
  if (!row) return invalid_argument("there is no test named '{}'.", name);
  NEREID_TRY(Args bound, bind(*row, args));
  NEREID_TRY(Value holds, row->call(*this, self, bound));
  return is_true(holds);
}

Result<Value> Interpreter::call(const Value& callee, const CallArgs& args) {
  switch (callee.kind()) {
    case Kind::kFunction: {
      NEREID_TRY(Args bound, bind(callee.as_function(), args));
      return callee.as_function().call(*this, Value(), bound);
    }
    case Kind::kMethod: {
      const Method& method = callee.as_method();
      if (method.receiver.is_string()) heap_.work(method.receiver.as_text().size() / 32);
      NEREID_TRY(Args bound, bind(*method.row, args));
      return method.row->call(*this, method.receiver, bound);
    }
    case Kind::kMacro:
      return call_macro(callee.as_macro(), args);
    case Kind::kLoop:
      return call_loop(callee.as_loop(), args);
    case Kind::kUndefined:
      return undefined_error(callee);
    default:
      return invalid_argument("'{}' object is not callable.", type_name(callee));
  }
}

Value Interpreter::make_macro(std::string_view name, const Signature& signature, const Block& body) {
  heap_.take(sizeof(Macro));
  return Value::macro(&macros_.emplace_back(Macro{name, &signature, &body, scope_}));
}

Result<Value> Interpreter::call_macro(const Macro& macro, const CallArgs& args) {
  const DepthGuard guard(*this);
  NEREID_RETURN_IF_ERROR(guard.status());
  const auto& parameters = macro.signature->parameters;
  std::vector<Value> values(parameters.size());
  std::vector<Value> rest;
  for (size_t i = 0; i < args.positional.size(); ++i) {
    if (i < values.size()) {
      values[i] = args.positional[i];
    } else {
      rest.push_back(args.positional[i]);
    }
  }
  if (!rest.empty() && !macro.signature->wants_varargs) {
    return invalid_argument("macro '{}' takes not more than {} argument(s).", macro.name, values.size());
  }
  Value caller = Value::undefined(Origin::kSentence, "No caller defined");
  Value named = heap_.dict();
  for (const NamedValue& keyword : args.keywords) {
    const auto at =
        std::find_if(parameters.begin(), parameters.end(), [&](const Parameter& p) { return p.name == keyword.name; });
    const auto i = static_cast<size_t>(at - parameters.begin());
    if (at != parameters.end()) {
      if (!values[i].is_missing()) {
        return invalid_argument("macro '{}' got two values for the argument '{}'.", macro.name, keyword.name);
      }
      values[i] = keyword.value;
    } else if (keyword.name == "caller" && macro.signature->wants_caller) {
      caller = keyword.value;
    } else if (macro.signature->wants_kwargs) {
      heap_.take(sizeof(Dict::Entry));
      named.as_dict().set(Value::text(keyword.name), keyword.value);
    } else {
      return invalid_argument("macro '{}' takes no keyword argument '{}'.", macro.name, keyword.name);
    }
  }
  Scope* const outer = std::exchange(scope_, make_scope(macro.closure));
  auto run_body = [&]() -> Result<Value> {
    if (macro.signature->wants_caller) set("caller", caller);
    if (macro.signature->wants_varargs) set("varargs", heap_.tuple(std::move(rest)));
    if (macro.signature->wants_kwargs) set("kwargs", named);
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (values[i].is_missing()) {
        values[i] = Value::undefined(Origin::kParameter, parameters[i].name);
        if (parameters[i].fallback) {
          NEREID_TRY(values[i], eval(*parameters[i].fallback));
        }
      }
      set(parameters[i].name, values[i]);
    }
    Value output;
    NEREID_RETURN_IF_ERROR(capture(*macro.body, &output));
    return output;
  };
  Result<Value> result = run_body();
  scope_ = outer;
  return result;
}

// loop(children) inside a recursive for.
Result<Value> Interpreter::call_loop(LoopState& loop, const CallArgs& args) {
  const DepthGuard guard(*this);
  NEREID_RETURN_IF_ERROR(guard.status());
  if (!loop.stmt->is_recursive)
    return invalid_argument("the loop must have the 'recursive' marker to be called recursively.");
  if (args.positional.size() != 1 || !args.keywords.empty()) return invalid_argument("loop() takes one list.");
  TextBuilder text(heap_);
  TextBuilder* const outer = std::exchange(out_, &text);
  const auto flow = loop_over(*loop.stmt, args.positional[0], loop.outer, loop.depth0 + 1);
  out_ = outer;
  NEREID_RETURN_IF_ERROR(flow);
  return text.finish();
}

Result<bool> Interpreter::look_ahead(LoopState& loop, size_t count) {
  while (loop.ahead.size() < count) {
    Value item;
    if (!loop.source.next(&item)) return false;
    if (const Expr* condition = loop.stmt->exprs[1]) {
      Scope* const inner = std::exchange(scope_, make_scope(loop.outer));
      Status assigned = assign(*loop.stmt->target, item);
      Result<Value> holds = assigned.is_ok() ? eval(*condition) : Result<Value>(assigned);
      scope_ = inner;
      NEREID_RETURN_IF_ERROR(holds);
      if (!is_true(*holds)) continue;
    }
    if (!heap_.take(sizeof(Value))) return heap_.status();
    loop.ahead.push_back(item);
  }
  return true;
}

Result<Value> Interpreter::loop_attribute(const Value& value, std::string_view name) {
  LoopState& loop = value.as_loop();
  if (name == "index") return Value::integer(loop.index0 + 1);
  if (name == "index0") return Value::integer(loop.index0);
  if (name == "first") return Value::boolean(loop.index0 == 0);
  if (name == "depth") return Value::integer(loop.depth0 + 1);
  if (name == "depth0") return Value::integer(loop.depth0);
  if (name == "previtem") {
    if (loop.index0 > 0) return loop.previous;
    return Value::undefined(Origin::kSentence, "there is no previous item");
  }
  if (name == "last" || name == "nextitem") {
    NEREID_TRY(const bool has_next, look_ahead(loop, 1));
    if (name == "last") return Value::boolean(!has_next);
    return has_next ? loop.ahead.front() : Value::undefined(Origin::kSentence, "there is no next item");
  }
  if (name == "length" || name == "revindex" || name == "revindex0") {
    NEREID_RETURN_IF_ERROR(look_ahead(loop, ~size_t{0}));
    const auto left = static_cast<int64_t>(loop.ahead.size());
    if (name == "length") return Value::integer(loop.index0 + 1 + left);
    return Value::integer(name == "revindex" ? left + 1 : left);
  }
  if (const Value method = method_of(heap_, value, name); !method.is_missing()) return method;
  return Value::undefined(Origin::kAttribute, name, Kind::kLoop);
}

}  // namespace nereid::chat
