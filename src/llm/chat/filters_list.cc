// SPDX-License-Identifier: Apache-2.0
// Filters over sequences and dicts.
#include <algorithm>

#include "llm/chat/filters.h"
#include "llm/chat/interpreter.h"
#include "llm/chat/operators.h"
#include "llm/chat/sorting.h"
#include "llm/chat/text.h"
#include "llm/chat/utf8.h"

namespace nereid::chat {
namespace {

Value empty_aggregate(Interpreter& in) {
  return in.heap().undefined("No aggregated item, sequence was empty.");
}

// The first item that no other beats: sign is -1 for the least, 1 for the greatest.
FilterResult extreme(Interpreter& in, const Value& self, const Args& args, int sign) {
  NEREID_TRY(std::vector<Value> items, all_items(in.heap(), self));
  if (items.empty()) return empty_aggregate(in);
  const bool case_sensitive = args.flag(0, false);
  const Value path = args[1];
  Value best = items[0];
  NEREID_TRY(Value best_key, key_at_path(in, best, path, case_sensitive));
  for (size_t i = 1; i < items.size(); ++i) {
    NEREID_TRY(Value key, key_at_path(in, items[i], path, case_sensitive));
    NEREID_TRY(const int c, order(in.heap(), key, best_key, sign < 0 ? "<" : ">"));
    if (c != sign) continue;
    best = items[i];
    best_key = key;
  }
  return best;
}

bool is_reversible(const Value& v) {
  return v.is_indexable() || v.is(Kind::kView) || v.is_dict() || v.is_string() || v.is_undefined();
}

}  // namespace

FilterResult filter_length(Interpreter& in, const Value& self, const Args&) {
  NEREID_TRY(const int64_t length, length_of(in.heap(), self));
  return Value::integer(length);
}

FilterResult filter_list(Interpreter& in, const Value& self, const Args&) {
  NEREID_TRY(std::vector<Value> items, all_items(in.heap(), self));
  return in.heap().list(std::move(items));
}

FilterResult filter_items(Interpreter& in, const Value& self, const Args&) {
  if (self.is_undefined()) return in.heap().generator({});
  if (!self.is_dict()) return invalid_argument("Can only get item pairs from a mapping.");
  std::vector<Value> pairs;
  for (const Dict::Entry& e : self.as_dict().entries) pairs.push_back(in.heap().tuple({e.key, e.value}));
  return in.heap().generator(std::move(pairs));
}

FilterResult filter_join(Interpreter& in, const Value& self, const Args& args) {
  NEREID_TRY(Iterator it, Iterator::over(self));
  const Value separator = args.has(0) ? to_str(in.heap(), args[0]) : Value::text({});
  TextBuilder out(in.heap());
  Value item;
  for (bool first = true; it.next(&item) && !in.heap().is_spent(); first = false) {
    if (!first) out.add(separator.as_text());
    NEREID_TRY(Value part, value_at_path(in, item, args[1]));
    write_str(out, part);
    in.heap().work(1);
  }
  return out.finish();
}

FilterResult filter_first(Interpreter& in, const Value& self, const Args&) {
  NEREID_TRY(Iterator it, Iterator::over(self));
  Value item;
  if (it.next(&item)) return item;
  return in.heap().undefined("No first item, sequence was empty.");
}

FilterResult filter_last(Interpreter& in, const Value& self, const Args&) {
  if (!is_reversible(self)) return invalid_argument("'{}' object is not reversible.", type_name(self));
  if (self.is_string() && !self.as_text().empty()) {
    const std::string_view text = self.as_text();
    return Value::text(text.substr(text.size() - code_point_before(text, text.size()).bytes));
  }
  if (self.is_sequence() && !self.as_sequence().items.empty()) return self.as_sequence().items.back();
  if (self.is_dict() && !self.as_dict().entries.empty()) return self.as_dict().entries.back().key;
  return in.heap().undefined("No last item, sequence was empty.");
}

FilterResult filter_reverse(Interpreter& in, const Value& self, const Args&) {
  NEREID_TRY(std::vector<Value> items, all_items(in.heap(), self));
  std::reverse(items.begin(), items.end());
  if (self.is_string()) {
    TextBuilder out(in.heap());
    for (const Value& character : items) out.add(character.as_text());
    return out.finish().marked(self.is_markup());
  }
  return is_reversible(self) ? in.heap().sequence(Kind::kGenerator, std::move(items), "list_reverseiterator")
                             : in.heap().list(std::move(items));
}

FilterResult filter_dictsort(Interpreter& in, const Value& self, const Args& args) {
  if (self.is_undefined()) return undefined_error(self);
  if (!self.is_dict()) return invalid_argument("dictsort: expected a dict, found '{}'.", type_name(self));
  NEREID_TRY(const std::string_view by, args.text(1, "key"));
  if (by != "key" && by != "value") return invalid_argument("You can only sort by either \"key\" or \"value\".");
  std::vector<Keyed> items;
  for (const Dict::Entry& e : self.as_dict().entries) {
    NEREID_TRY(Value key, key_at_path(in, by == "key" ? e.key : e.value, Value(), args.flag(0, false)));
    items.push_back({key, in.heap().tuple({e.key, e.value})});
  }
  NEREID_RETURN_IF_ERROR(sort_keyed(in, &items, args.flag(2, false)));
  std::vector<Value> out;
  for (const Keyed& k : items) out.push_back(k.value);
  return in.heap().list(std::move(out));
}

// attribute may name several, parted by commas: the first decides, then the next.
FilterResult filter_sort(Interpreter& in, const Value& self, const Args& args) {
  NEREID_TRY(std::vector<Value> values, all_items(in.heap(), self));
  std::vector<Value> paths;
  if (args.is_set(2) && args[2].is_string()) {
    std::string_view rest = args[2].as_text();
    for (size_t comma = rest.find(','); comma != std::string_view::npos; comma = rest.find(',')) {
      paths.push_back(Value::text(rest.substr(0, comma)));
      rest.remove_prefix(comma + 1);
    }
    paths.push_back(Value::text(rest));
  } else {
    paths.push_back(args[2]);
  }
  std::vector<Keyed> items;
  for (const Value& value : values) {
    std::vector<Value> keys;
    for (const Value& path : paths) {
      NEREID_TRY(Value key, key_at_path(in, value, path, args.flag(1, false)));
      keys.push_back(key);
    }
    if (in.heap().is_spent()) return in.heap().status();
    items.push_back({in.heap().list(std::move(keys)), value});
  }
  NEREID_RETURN_IF_ERROR(sort_keyed(in, &items, args.flag(0, false)));
  for (size_t i = 0; i < items.size(); ++i) values[i] = items[i].value;
  return in.heap().list(std::move(values));
}

FilterResult filter_unique(Interpreter& in, const Value& self, const Args& args) {
  NEREID_TRY(std::vector<Value> items, all_items(in.heap(), self));
  Dict seen;
  std::vector<Value> out;
  for (const Value& item : items) {
    NEREID_TRY(Value key, key_at_path(in, item, args[1], args.flag(0, false)));
    if (!is_hashable(key)) return invalid_argument("unhashable type: '{}'.", type_name(key));
    if (seen.find(key)) continue;
    if (!in.heap().take(sizeof(Dict::Entry))) return in.heap().status();
    seen.set(key, Value::none());
    out.push_back(item);
  }
  return in.heap().generator(std::move(out));
}

FilterResult filter_min(Interpreter& in, const Value& self, const Args& args) {
  return extreme(in, self, args, -1);
}
FilterResult filter_max(Interpreter& in, const Value& self, const Args& args) {
  return extreme(in, self, args, 1);
}

FilterResult filter_sum(Interpreter& in, const Value& self, const Args& args) {
  NEREID_TRY(std::vector<Value> items, all_items(in.heap(), self));
  Value total = args.has(1) ? args[1] : Value::integer(0);
  if (total.is_string()) return invalid_argument("sum() can't sum strings [use ''.join(seq) instead].");
  for (const Value& item : items) {
    NEREID_TRY(Value value, value_at_path(in, item, args[0]));
    NEREID_TRY(total, arithmetic(in.heap(), "+", total, value));
    if (in.heap().is_spent()) return in.heap().status();
  }
  return total;
}

FilterResult filter_batch(Interpreter& in, const Value& self, const Args& args) {
  NEREID_TRY(std::vector<Value> items, all_items(in.heap(), self));
  NEREID_TRY(const int64_t size, args.integer(0, 1));
  std::vector<Value> out;
  std::vector<Value> row;
  for (const Value& item : items) {
    if (static_cast<int64_t>(row.size()) == size) out.push_back(in.heap().list(std::exchange(row, {})));
    row.push_back(item);
  }
  if (!row.empty()) {
    if (args.is_set(1) && size > static_cast<int64_t>(row.size())) {
      if (!in.heap().take(static_cast<size_t>(size) * sizeof(Value))) return in.heap().status();
      row.resize(static_cast<size_t>(size), args[1]);
    }
    out.push_back(in.heap().list(std::move(row)));
  }
  return in.heap().generator(std::move(out));
}

FilterResult filter_slice(Interpreter& in, const Value& self, const Args& args) {
  NEREID_TRY(std::vector<Value> items, all_items(in.heap(), self));
  NEREID_TRY(const int64_t count, args.integer(0, 1));
  if (count <= 0)
    return count == 0 ? FilterResult(invalid_argument("slice: the number of slices is zero."))
                      : in.heap().generator({});
  const auto slices = static_cast<size_t>(count);
  if (!in.heap().work(slices)) return in.heap().status();
  const size_t size = items.size() / slices;
  const size_t longer = items.size() % slices;
  std::vector<Value> out;
  size_t at = 0;
  for (size_t i = 0; i < slices && !in.heap().is_spent(); ++i) {
    const size_t n = size + (i < longer ? 1 : 0);
    std::vector<Value> row(items.begin() + static_cast<std::ptrdiff_t>(at),
                           items.begin() + static_cast<std::ptrdiff_t>(at + n));
    if (args.is_set(1) && i >= longer) row.push_back(args[1]);
    out.push_back(in.heap().list(std::move(row)));
    at += n;
  }
  return in.heap().generator(std::move(out));
}

FilterResult filter_groupby(Interpreter& in, const Value& self, const Args& args) {
  NEREID_TRY(std::vector<Value> values, all_items(in.heap(), self));
  const bool case_sensitive = args.flag(2, false);
  auto key_of = [&](const Value& value, bool exact) -> Result<Value> {
    NEREID_TRY(Value key, value_at_path(in, value, args[0]));
    if (key.is_undefined() && args.is_set(1)) key = args[1];
    return exact || !key.is_string() ? key : in.heap().text(to_lower(key.as_text()));
  };
  std::vector<Keyed> items;
  for (const Value& value : values) {
    NEREID_TRY(Value key, key_of(value, case_sensitive));
    items.push_back({key, value});
  }
  NEREID_RETURN_IF_ERROR(sort_keyed(in, &items, false));
  std::vector<Value> groups;
  for (size_t i = 0; i < items.size();) {
    std::vector<Value> members;
    const size_t first = i;
    while (i < items.size() && is_equal(in.heap(), items[i].key, items[first].key)) members.push_back(items[i++].value);
    if (members.empty()) members.push_back(items[i++].value);  // NaN equals nothing, itself included
    NEREID_TRY(Value shown, key_of(members[0], true));
    groups.push_back(in.heap().sequence(Kind::kTuple, {shown, in.heap().list(std::move(members))}, "group"));
  }
  return in.heap().list(std::move(groups));
}

}  // namespace nereid::chat
