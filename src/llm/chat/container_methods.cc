// SPDX-License-Identifier: Apache-2.0
// Methods of lists, tuples, dicts and of the loop variable.
//
// Methods that change a list or dict work, though transformers' sandbox refuses them: templates written for other
// engines use them (append, pop). They change the rendering's own copy, never the caller's messages.
#include <algorithm>

#include "llm/chat/interpreter.h"
#include "llm/chat/methods.h"
#include "llm/chat/operators.h"
#include "llm/chat/sorting.h"

namespace nereid::chat {
namespace {

using MethodResult = Result<Value>;
using Items = std::vector<Value>;

Items& items_of(const Value& self) {
  return self.as_sequence().items;
}

MethodResult append(Interpreter& in, const Value& self, const Args& args) {
  if (!in.heap().take(sizeof(Value))) return in.heap().status();
  items_of(self).push_back(args[0]);
  return Value::none();
}

MethodResult extend(Interpreter& in, const Value& self, const Args& args) {
  NEREID_TRY(Items more, all_items(in.heap(), args[0]));
  if (!in.heap().take(more.size() * sizeof(Value))) return in.heap().status();
  items_of(self).insert(items_of(self).end(), more.begin(), more.end());
  return Value::none();
}

MethodResult insert(Interpreter& in, const Value& self, const Args& args) {
  NEREID_TRY(int64_t at, args.integer(0, 0));
  Items& items = items_of(self);
  const auto size = static_cast<int64_t>(items.size());
  at = std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
  if (!in.heap().take(sizeof(Value)) || !in.heap().work(items.size() / 16)) return in.heap().status();
  items.insert(items.begin() + at, args[1]);
  return Value::none();
}

MethodResult pop_item(Interpreter& in, const Value& self, const Args& args) {
  NEREID_TRY(int64_t at, args.integer(0, -1));
  Items& items = items_of(self);
  const auto size = static_cast<int64_t>(items.size());
  if (at < 0) at += size;
  if (at < 0 || at >= size) return invalid_argument("pop from a list of {} item(s): there is no such index.", size);
  const Value item = items[static_cast<size_t>(at)];
  in.heap().work(items.size() / 16);
  items.erase(items.begin() + at);
  return item;
}

// The place of an equal item; the size when there is none.
size_t place_of(Interpreter& in, const Value& self, const Value& item) {
  const Items& items = items_of(self);
  return static_cast<size_t>(
      std::find_if(items.begin(), items.end(), [&](const Value& v) { return is_equal(in.heap(), v, item); }) -
      items.begin());
}

MethodResult remove(Interpreter& in, const Value& self, const Args& args) {
  const size_t at = place_of(in, self, args[0]);
  if (at == items_of(self).size()) return invalid_argument("list.remove(x): x not in list.");
  items_of(self).erase(items_of(self).begin() + static_cast<std::ptrdiff_t>(at));
  return Value::none();
}

MethodResult index(Interpreter& in, const Value& self, const Args& args) {
  const size_t at = place_of(in, self, args[0]);
  if (at == items_of(self).size()) return invalid_argument("the item is not in the list.");
  return Value::integer(static_cast<int64_t>(at));
}

MethodResult count(Interpreter& in, const Value& self, const Args& args) {
  return Value::integer(std::count_if(items_of(self).begin(), items_of(self).end(),
                                      [&](const Value& v) { return is_equal(in.heap(), v, args[0]); }));
}

MethodResult reverse(Interpreter& in, const Value& self, const Args&) {
  in.heap().work(items_of(self).size() / 16);
  std::reverse(items_of(self).begin(), items_of(self).end());
  return Value::none();
}

MethodResult sort(Interpreter& in, const Value& self, const Args& args) {
  std::vector<Keyed> keyed;
  for (const Value& v : items_of(self)) keyed.push_back({v, v});
  NEREID_RETURN_IF_ERROR(sort_keyed(in, &keyed, args.flag(0, false)));
  for (size_t i = 0; i < keyed.size(); ++i) items_of(self)[i] = keyed[i].value;
  return Value::none();
}

MethodResult copy_list(Interpreter& in, const Value& self, const Args&) {
  return in.heap().list(items_of(self));
}

MethodResult clear_list(Interpreter&, const Value& self, const Args&) {
  items_of(self).clear();
  return Value::none();
}

constexpr FunctionRow kListMethods[] = {
    {"append", {"object"}, 1, false, append},
    {"clear", {}, 0, false, clear_list},
    {"copy", {}, 0, false, copy_list},
    {"count", {"value"}, 1, false, count},
    {"extend", {"iterable"}, 1, false, extend},
    {"index", {"value"}, 1, false, index},
    {"insert", {"index", "object"}, 2, false, insert},
    {"pop", {"index"}, 0, false, pop_item},
    {"remove", {"value"}, 1, false, remove},
    {"reverse", {}, 0, false, reverse},
    {"sort", {"reverse"}, 0, false, sort},
};

constexpr FunctionRow kTupleMethods[] = {
    {"count", {"value"}, 1, false, count},
    {"index", {"value"}, 1, false, index},
};

Status check_key(const Value& key) {
  return is_hashable(key) ? Status::ok() : invalid_argument("unhashable type: '{}'.", type_name(key));
}

MethodResult get(Interpreter&, const Value& self, const Args& args) {
  NEREID_RETURN_IF_ERROR(check_key(args[0]));
  if (const Value* value = self.as_dict().find(args[0])) return *value;
  return args.has(1) ? args[1] : Value::none();
}

enum class DictPart { kKeys, kValues, kItems };

template <DictPart part>
MethodResult dict_view(Interpreter& in, const Value& self, const Args&) {
  static constexpr std::string_view kLabels[] = {"dict_keys", "dict_values", "dict_items"};
  Items out;
  out.reserve(self.as_dict().entries.size());
  in.heap().work(self.as_dict().entries.size() / 8);
  for (const Dict::Entry& e : self.as_dict().entries) {
    out.push_back(part == DictPart::kKeys     ? e.key
                  : part == DictPart::kValues ? e.value
                                              : in.heap().tuple({e.key, e.value}));
  }
  return in.heap().sequence(Kind::kView, std::move(out), kLabels[static_cast<size_t>(part)]);
}

MethodResult pop_key(Interpreter& in, const Value& self, const Args& args) {
  NEREID_RETURN_IF_ERROR(check_key(args[0]));
  const Value* found = self.as_dict().find(args[0]);
  if (!found && args.has(1)) return args[1];
  if (!found) return invalid_argument("pop: the dict has no such key.");
  const Value value = *found;
  in.heap().work(self.as_dict().entries.size() / 4);
  self.as_dict().erase(args[0]);
  return value;
}

MethodResult setdefault(Interpreter& in, const Value& self, const Args& args) {
  NEREID_RETURN_IF_ERROR(check_key(args[0]));
  if (const Value* found = self.as_dict().find(args[0])) return *found;
  if (!in.heap().take(sizeof(Dict::Entry))) return in.heap().status();
  const Value value = args.has(1) ? args[1] : Value::none();
  self.as_dict().set(args[0], value);
  return value;
}

MethodResult update(Interpreter& in, const Value& self, const Args& args) {
  Dict& dict = self.as_dict();
  if (args.rest.size() > 1 || (args.rest.size() == 1 && !args.rest[0].is_dict())) {
    return invalid_argument("update() takes one dict and names.");
  }
  const std::vector<Dict::Entry> more = args.rest.empty() ? std::vector<Dict::Entry>() : args.rest[0].as_dict().entries;
  if (!in.heap().take((more.size() + args.named.size()) * sizeof(Dict::Entry))) return in.heap().status();
  for (const Dict::Entry& e : more) dict.set(e.key, e.value);
  for (const NamedValue& n : args.named) dict.set(Value::text(n.name), n.value);
  return Value::none();
}

MethodResult copy_dict(Interpreter& in, const Value& self, const Args&) {
  Value out = in.heap().dict();
  if (!in.heap().take(self.as_dict().entries.size() * sizeof(Dict::Entry))) return in.heap().status();
  out.as_dict().entries = self.as_dict().entries;
  return out;
}

MethodResult clear_dict(Interpreter&, const Value& self, const Args&) {
  self.as_dict() = Dict();
  return Value::none();
}

constexpr FunctionRow kDictMethods[] = {
    {"clear", {}, 0, false, clear_dict},
    {"copy", {}, 0, false, copy_dict},
    {"get", {"key", "default"}, 1, false, get},
    {"items", {}, 0, false, dict_view<DictPart::kItems>},
    {"keys", {}, 0, false, dict_view<DictPart::kKeys>},
    {"pop", {"key", "default"}, 1, false, pop_key},
    {"setdefault", {"key", "default"}, 1, false, setdefault},
    {"update", {}, 0, true, update},
    {"values", {}, 0, false, dict_view<DictPart::kValues>},
};

MethodResult cycle(Interpreter&, const Value& self, const Args& args) {
  if (args.rest.empty()) return invalid_argument("no items for cycling given.");
  return args.rest[static_cast<size_t>(self.as_loop().index0) % args.rest.size()];
}

MethodResult is_changed(Interpreter& in, const Value& self, const Args& args) {
  LoopState& loop = self.as_loop();
  const Value now = in.heap().tuple(args.rest);
  if (!loop.last_changed.is_missing() && is_equal(in.heap(), loop.last_changed, now)) return Value::boolean(false);
  loop.last_changed = now;
  return Value::boolean(true);
}

constexpr FunctionRow kLoopMethods[] = {
    {"changed", {}, 0, true, is_changed},
    {"cycle", {}, 0, true, cycle},
};

}  // namespace

std::span<const FunctionRow> list_methods() {
  return kListMethods;
}
std::span<const FunctionRow> tuple_methods() {
  return kTupleMethods;
}
std::span<const FunctionRow> dict_methods() {
  return kDictMethods;
}
std::span<const FunctionRow> loop_methods() {
  return kLoopMethods;
}

std::span<const FunctionRow> method_table(Kind kind) {
  switch (kind) {
    case Kind::kString:
      return string_methods();
    case Kind::kList:
      return list_methods();
    case Kind::kTuple:
      return tuple_methods();
    case Kind::kDict:
      return dict_methods();
    case Kind::kLoop:
      return loop_methods();
    default:
      return {};
  }
}

}  // namespace nereid::chat
