// SPDX-License-Identifier: Apache-2.0
// The functions a template can call without an object.
#include <algorithm>

#include "llm/chat/function.h"
#include "llm/chat/interpreter.h"
#include "llm/chat/operators.h"
#include "llm/chat/text.h"

namespace nereid::chat {
namespace {

constexpr int64_t kMaxRange = 100'000;  // as jinja2's sandbox

Result<Value> range(Interpreter& in, const Value&, const Args& args) {
  NEREID_TRY(const int64_t first, args.integer(0, 0));
  NEREID_TRY(const int64_t second, args.integer(1, 0));
  NEREID_TRY(const int64_t step, args.integer(2, 1));
  const int64_t start = args.has(1) ? first : 0;
  const int64_t stop = args.has(1) ? second : first;
  if (step == 0) return invalid_argument("range() arg 3 must not be zero.");
  std::vector<Value> items;
  for (int64_t i = start; step > 0 ? i < stop : i > stop;) {
    if (static_cast<int64_t>(items.size()) >= kMaxRange)
      return invalid_argument("the range has more than {} items.", kMaxRange);
    items.push_back(Value::integer(i));
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  in.heap().work(items.size() / 8);
  const std::string shown =
      step == 1 ? fmt::format("range({}, {})", start, stop) : fmt::format("range({}, {}, {})", start, stop, step);
  return in.heap().sequence(Kind::kRange, std::move(items), in.heap().text(shown).as_text());
}

// dict(pairs or dict, **names), the shape that namespace() shares.
Status fill(Interpreter& in, Dict& out, const Args& args) {
  if (args.rest.size() > 1) return invalid_argument("expected at most 1 argument, got {}.", args.rest.size());
  auto set = [&](const Value& key, const Value& value) -> Status {
    if (!is_hashable(key)) return invalid_argument("unhashable type: '{}'.", type_name(key));
    if (!in.heap().take(sizeof(Dict::Entry))) return in.heap().status();
    out.set(key, value);
    return Status::ok();
  };
  if (!args.rest.empty() && args.rest[0].is_dict()) {
    for (const Dict::Entry& e : args.rest[0].as_dict().entries) NEREID_RETURN_IF_ERROR(set(e.key, e.value));
  } else if (!args.rest.empty()) {
    NEREID_TRY(std::vector<Value> pairs, all_items(in.heap(), args.rest[0]));
    for (const Value& pair : pairs) {
      NEREID_TRY(std::vector<Value> both, all_items(in.heap(), pair));
      if (both.size() != 2) return invalid_argument("expected pairs, found {} value(s).", both.size());
      NEREID_RETURN_IF_ERROR(set(both[0], both[1]));
    }
  }
  for (const NamedValue& n : args.named) NEREID_RETURN_IF_ERROR(set(Value::text(n.name), n.value));
  return Status::ok();
}

Result<Value> dict(Interpreter& in, const Value&, const Args& args) {
  Value out = in.heap().dict();
  NEREID_RETURN_IF_ERROR(fill(in, out.as_dict(), args));
  return out;
}

Result<Value> make_namespace(Interpreter& in, const Value&, const Args& args) {
  Value out = in.heap().dict(Kind::kNamespace);
  NEREID_RETURN_IF_ERROR(fill(in, out.as_dict(), args));
  for (const Dict::Entry& e : out.as_dict().entries) {
    if (e.key.is_string() && e.key.as_text().starts_with('_')) {
      return invalid_argument("a namespace cannot hold '{}': names with a leading underscore are reserved.",
                              e.key.as_text());
    }
  }
  return out;
}

Result<Value> raise_exception(Interpreter& in, const Value&, const Args& args) {
  return in.raise(to_str(in.heap(), args[0]).as_text());
}

// Python's %f (microseconds) is zero: the time has whole seconds.
Result<Value> strftime_now(Interpreter& in, const Value&, const Args& args) {
  NEREID_TRY(const std::string_view given, args.text(0, {}));
  std::string format;
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i] == '%' && i + 1 < given.size() && given[i + 1] == 'f') {
      format += "000000";
      ++i;
    } else {
      format += given[i];
      if (given[i] == '%' && i + 1 < given.size()) format += given[++i];
    }
  }
  if (format.size() > 1000)
    return invalid_argument("strftime_now: the format has {} bytes; at most 1000 are allowed.", format.size());
  format += '.';  // strftime's 0 means "nothing written" as well as "too long"
  const std::tm now = in.now();
  std::string out(65536, '\0');
  const size_t n = std::strftime(out.data(), out.size(), format.c_str(), &now);
  if (n == 0) return invalid_argument("strftime_now: the text is too long.");
  out.resize(n - 1);
  return in.heap().text(std::move(out));
}

// joiner(sep)() is empty the first time, then sep.
Result<Value> joiner_call(Interpreter&, const Value& self, const Args&) {
  Sequence& state = self.as_sequence();
  if (std::exchange(state.cursor, 1) == 0) return Value::text({});
  return state.items[0];
}
constexpr FunctionRow kJoinerCall = {"joiner", {}, 0, false, joiner_call};

Result<Value> joiner(Interpreter& in, const Value&, const Args& args) {
  return in.heap().method(&kJoinerCall, in.heap().list({args.has(0) ? args[0] : Value::text(", ")}));
}

// A cycler is a namespace with `current` and two methods; the items hang on `items`.
Result<Value> cycler_step(Value self, bool reset) {
  Dict& state = self.as_dict();
  const Value* tuple = state.find("items");  // a template may have set it to anything
  if (!tuple || !tuple->is(Kind::kTuple) || tuple->as_sequence().items.empty()) {
    return invalid_argument("the items of a cycler cannot be replaced.");
  }
  Sequence& items = tuple->as_sequence();
  const Value shown = items.items[items.cursor];
  items.cursor = reset ? 0 : (items.cursor + 1) % items.items.size();
  state.set(Value::text("current"), items.items[items.cursor]);
  return reset ? Value::none() : shown;
}
constexpr FunctionRow kCyclerNext = {
    "next", {}, 0, false, [](Interpreter&, const Value& self, const Args&) { return cycler_step(self, false); }};
constexpr FunctionRow kCyclerReset = {
    "reset", {}, 0, false, [](Interpreter&, const Value& self, const Args&) { return cycler_step(self, true); }};

Result<Value> cycler(Interpreter& in, const Value&, const Args& args) {
  if (args.rest.empty()) return invalid_argument("at least one item has to be provided.");
  Value out = in.heap().dict(Kind::kNamespace);
  Dict& state = out.as_dict();
  state.set(Value::text("items"), in.heap().tuple(args.rest));
  state.set(Value::text("current"), args.rest[0]);
  state.set(Value::text("next"), in.heap().method(&kCyclerNext, out));
  state.set(Value::text("reset"), in.heap().method(&kCyclerReset, out));
  return out;
}

constexpr FunctionRow kGlobals[] = {
    {"cycler", {}, 0, true, cycler},
    {"dict", {}, 0, true, dict},
    {"joiner", {"sep"}, 0, false, joiner},
    {"namespace", {}, 0, true, make_namespace},
    {"raise_exception", {"message"}, 1, false, raise_exception},
    {"range", {"start", "stop", "step"}, 1, false, range},
    {"strftime_now", {"format"}, 1, false, strftime_now},
};

}  // namespace

std::span<const FunctionRow> global_table() {
  return kGlobals;
}

}  // namespace nereid::chat
