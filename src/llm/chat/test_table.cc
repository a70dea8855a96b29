// SPDX-License-Identifier: Apache-2.0
// The tests a template can use after `is`, in alphabetical order; the symbols of comparison are tests too.
#include "llm/chat/function.h"
#include "llm/chat/interpreter.h"
#include "llm/chat/operators.h"
#include "llm/chat/text.h"
#include "llm/chat/utf8.h"

namespace nereid::chat {
namespace {

using TestResult = Result<Value>;

TestResult yes(bool holds) {
  return Value::boolean(holds);
}

template <bool (*holds)(const Value&)>
TestResult simple(Interpreter&, const Value& self, const Args&) {
  return yes(holds(self));
}

template <char first, char second = 0>
TestResult comparison(Interpreter& in, const Value& self, const Args& args) {
  static constexpr char kSymbols[] = {first, second, 0};
  NEREID_TRY(const bool holds, compare(in.heap(), std::string_view(kSymbols), self, args[0]));
  return yes(holds);
}

TestResult remainder_is(Interpreter& in, const Value& self, const Value& by, int64_t rest) {
  NEREID_TRY(Value r, arithmetic(in.heap(), "%", self, by));
  return yes(is_equal(in.heap(), r, Value::integer(rest)));
}

TestResult divisibleby(Interpreter& in, const Value& self, const Args& args) {
  return remainder_is(in, self, args[0], 0);
}
TestResult even(Interpreter& in, const Value& self, const Args&) {
  return remainder_is(in, self, Value::integer(2), 0);
}
TestResult odd(Interpreter& in, const Value& self, const Args&) {
  return remainder_is(in, self, Value::integer(2), 1);
}

TestResult in_test(Interpreter& in, const Value& self, const Args& args) {
  NEREID_TRY(const bool found, contains(in.heap(), args[0], self));
  return yes(found);
}

TestResult sameas(Interpreter&, const Value& self, const Args& args) {
  return yes(is_identical(self, args[0]));
}

// Whether text has letters of the case and none of the other.
template <bool (*wanted)(int32_t), bool (*other)(int32_t)>
TestResult is_in_case(Interpreter& in, const Value& self, const Args&) {
  const Value text = to_str(in.heap(), self);
  bool found = false;
  for (size_t i = 0; i < text.as_text().size();) {
    const CodePoint c = code_point_at(text.as_text(), i);
    if (other(c.value)) return yes(false);
    found = found || wanted(c.value);
    i += c.bytes;
  }
  return yes(found);
}

bool is_callable(const Value& v) {
  return v.is(Kind::kFunction) || v.is(Kind::kMethod) || v.is(Kind::kMacro) || v.is(Kind::kLoop) || v.is_undefined();
}

TestResult names_filter(Interpreter&, const Value& self, const Args&) {
  return yes(self.is_string() && find_row(filter_table(), self.as_text()));
}

TestResult names_test(Interpreter&, const Value& self, const Args&) {
  return yes(self.is_string() && find_row(test_table(), self.as_text()));
}

constexpr FunctionRow kTests[] = {
    {"!=", {"other"}, 1, false, comparison<'!', '='>},
    {"<", {"other"}, 1, false, comparison<'<'>},
    {"<=", {"other"}, 1, false, comparison<'<', '='>},
    {"==", {"other"}, 1, false, comparison<'=', '='>},
    {">", {"other"}, 1, false, comparison<'>'>},
    {">=", {"other"}, 1, false, comparison<'>', '='>},
    {"boolean", {}, 0, false, simple<[](const Value& v) { return v.is(Kind::kBool); }>},
    {"callable", {}, 0, false, simple<is_callable>},
    {"defined", {}, 0, false, simple<[](const Value& v) { return !v.is_undefined(); }>},
    {"divisibleby", {"num"}, 1, false, divisibleby},
    {"eq", {"other"}, 1, false, comparison<'=', '='>},
    {"equalto", {"other"}, 1, false, comparison<'=', '='>},
    {"escaped", {}, 0, false, simple<[](const Value& v) { return v.is_markup(); }>},
    {"even", {}, 0, false, even},
    {"false", {}, 0, false, simple<[](const Value& v) { return v.is(Kind::kBool) && !v.as_bool(); }>},
    {"filter", {}, 0, false, names_filter},
    {"float", {}, 0, false, simple<[](const Value& v) { return v.is(Kind::kFloat); }>},
    {"ge", {"other"}, 1, false, comparison<'>', '='>},
    {"greaterthan", {"other"}, 1, false, comparison<'>'>},
    {"gt", {"other"}, 1, false, comparison<'>'>},
    {"in", {"seq"}, 1, false, in_test},
    {"integer", {}, 0, false, simple<[](const Value& v) { return v.is(Kind::kInt); }>},
    {"iterable", {}, 0, false, simple<is_iterable>},
    {"le", {"other"}, 1, false, comparison<'<', '='>},
    {"lessthan", {"other"}, 1, false, comparison<'<'>},
    {"lower", {}, 0, false, is_in_case<is_lower, is_upper>},
    {"lt", {"other"}, 1, false, comparison<'<'>},
    {"mapping", {}, 0, false, simple<[](const Value& v) { return v.is_dict(); }>},
    {"ne", {"other"}, 1, false, comparison<'!', '='>},
    {"none", {}, 0, false, simple<[](const Value& v) { return v.is_none(); }>},
    {"number", {}, 0, false, simple<[](const Value& v) { return v.is_number(); }>},
    {"odd", {}, 0, false, odd},
    {"sameas", {"other"}, 1, false, sameas},
    {"sequence",
     {},
     0,
     false,
     simple<[](const Value& v) { return v.is_indexable() || v.is_dict() || v.is_string() || v.is_undefined(); }>},
    {"string", {}, 0, false, simple<[](const Value& v) { return v.is_string(); }>},
    {"test", {}, 0, false, names_test},
    {"true", {}, 0, false, simple<[](const Value& v) { return v.is(Kind::kBool) && v.as_bool(); }>},
    {"undefined", {}, 0, false, simple<[](const Value& v) { return v.is_undefined(); }>},
    {"upper", {}, 0, false, is_in_case<is_upper, is_lower>},
};

}  // namespace

std::span<const FunctionRow> test_table() {
  return kTests;
}

}  // namespace nereid::chat
