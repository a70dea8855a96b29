// SPDX-License-Identifier: Apache-2.0
// Filters that apply another filter, a test or an attribute to every item.
#include "llm/chat/filters.h"
#include "llm/chat/interpreter.h"
#include "llm/chat/operators.h"
#include "llm/chat/sorting.h"

namespace nereid::chat {
namespace {

// The arguments after the first `skip`, for the filter or test that they name.
CallArgs arguments_after(const Args& args, size_t skip) {
  return {{args.rest.begin() + static_cast<std::ptrdiff_t>(skip), args.rest.end()}, args.named};
}

// by_attribute: the first argument is the path of what is tested.
FilterResult choose(Interpreter& in, const Value& self, const Args& args, bool wanted, bool by_attribute) {
  if (!is_true(self)) return in.heap().generator({});
  const size_t skip = by_attribute ? 1 : 0;
  if (args.rest.size() < skip) return invalid_argument("missing parameter for attribute name.");
  std::string_view test;
  if (args.rest.size() > skip) {
    if (!args.rest[skip].is_string())
      return invalid_argument("the name of a test must be a str, found '{}'.", type_name(args.rest[skip]));
    test = args.rest[skip].as_text();
  }
  const CallArgs test_args = test.empty() ? CallArgs() : arguments_after(args, skip + 1);
  NEREID_TRY(std::vector<Value> items, all_items(in.heap(), self));
  std::vector<Value> out;
  for (const Value& item : items) {
    if (!in.heap().work(1)) return in.heap().status();
    NEREID_TRY(Value subject, value_at_path(in, item, by_attribute ? args.rest[0] : Value()));
    bool holds = is_true(subject);
    if (!test.empty()) {
      NEREID_TRY(holds, in.apply_test(test, subject, test_args));
    }
    if (holds == wanted) out.push_back(item);
  }
  return in.heap().generator(std::move(out));
}

FilterResult map_attribute(Interpreter& in, const Value& self, const Args& args) {
  Value path;
  Value fallback;
  for (const NamedValue& n : args.named) {
    if (n.name != "attribute" && n.name != "default")
      return invalid_argument("unexpected keyword argument '{}'.", n.name);
    (n.name == "attribute" ? path : fallback) = n.value;
  }
  NEREID_TRY(std::vector<Value> items, all_items(in.heap(), self));
  for (Value& item : items) {
    if (!in.heap().work(1)) return in.heap().status();
    NEREID_TRY(item, value_at_path(in, item, path));
    if (item.is_undefined() && !fallback.is_missing() && !fallback.is_none()) item = fallback;
  }
  return in.heap().generator(std::move(items));
}

}  // namespace

FilterResult filter_map(Interpreter& in, const Value& self, const Args& args) {
  if (!is_true(self)) return in.heap().generator({});
  if (args.rest.empty()) {
    if (args.named.empty()) return invalid_argument("map requires a filter argument.");
    return map_attribute(in, self, args);
  }
  if (!args.rest[0].is_string())
    return invalid_argument("the name of a filter must be a str, found '{}'.", type_name(args.rest[0]));
  const CallArgs filter_args = arguments_after(args, 1);
  NEREID_TRY(std::vector<Value> items, all_items(in.heap(), self));
  for (Value& item : items) {
    if (!in.heap().work(1)) return in.heap().status();
    NEREID_TRY(item, in.apply_filter(args.rest[0].as_text(), item, filter_args));
  }
  return in.heap().generator(std::move(items));
}

FilterResult filter_select(Interpreter& in, const Value& self, const Args& args) {
  return choose(in, self, args, true, false);
}
FilterResult filter_reject(Interpreter& in, const Value& self, const Args& args) {
  return choose(in, self, args, false, false);
}
FilterResult filter_selectattr(Interpreter& in, const Value& self, const Args& args) {
  return choose(in, self, args, true, true);
}
FilterResult filter_rejectattr(Interpreter& in, const Value& self, const Args& args) {
  return choose(in, self, args, false, true);
}

// Like object.name, but never the item of a dict.
FilterResult filter_attr(Interpreter& in, const Value& self, const Args& args) {
  NEREID_TRY(const std::string_view name, args.text(0, {}));
  if (self.is_dict() && !find_row(method_table(Kind::kDict), name))
    return Value::undefined(Origin::kAttribute, name, self.kind());
  return in.attribute_of(self, name);
}

}  // namespace nereid::chat
