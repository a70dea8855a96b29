// SPDX-License-Identifier: Apache-2.0
// What a template expression yields: a Python-like value, 24 bytes, trivially copyable.
//
// Strings are views and containers are pointers: both live in the rendering's Heap (heap.h), in the parsed template or
// in the caller's JSON, all of which outlive every Value. Nothing is freed before the rendering ends, so cycles (a list
// appended to itself) need no care.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace nereid::chat {

// Of values in each other: deep enough for any data, and well within the stack.
inline constexpr int kMaxDepth = 200;

class Interpreter;
struct Dict;
struct FunctionRow;
struct LoopState;
struct Macro;
struct Method;
struct Sequence;

enum class Kind : uint8_t {
  kMissing,    // no value at all: an argument that was not given, a name that is not set
  kUndefined,  // jinja2's Undefined: prints as nothing, most other uses are errors
  kNone,
  kBool,
  kInt,
  kFloat,
  kString,
  kList,
  kTuple,
  kRange,
  kView,       // what dict.keys(), .values() and .items() return
  kGenerator,  // what map, select, batch ... return: iterable once, always true, without length
  kDict,
  kNamespace,
  kLoop,
  kFunction,  // a row of the globals table
  kMethod,    // a row of a methods table and its receiver
  kMacro,
};

// Where an undefined value came from, for the sentence of the error it may lead to.
enum class Origin : uint8_t { kName, kAttribute, kParameter, kSentence };

class Value {
 public:
  Value() = default;  // kMissing
  static Value none() { return Value(Kind::kNone); }
  static Value boolean(bool v);
  static Value integer(int64_t v);
  static Value real(double v);
  // The bytes must outlive the rendering; Heap::text copies those that do not.
  static Value text(std::string_view v);
  static Value sequence(Kind kind, Sequence* v);  // kList, kTuple, kRange, kView, kGenerator
  static Value dict(Dict* v, Kind kind = Kind::kDict);
  static Value loop(LoopState* v);
  static Value function(const FunctionRow* v);
  static Value method(Method* v);
  static Value macro(const Macro* v);
  // `name` is the variable, attribute or parameter, or (kSentence) the whole message; `owner` is what lacked it.
  static Value undefined(Origin origin, std::string_view name, Kind owner = Kind::kMissing);

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }
  bool is_missing() const { return kind_ == Kind::kMissing; }
  bool is_undefined() const { return kind_ == Kind::kUndefined; }
  bool is_none() const { return kind_ == Kind::kNone; }
  bool is_string() const { return kind_ == Kind::kString; }
  bool is_dict() const { return kind_ == Kind::kDict; }
  // Python counts booleans as integers.
  bool is_integral() const { return kind_ == Kind::kInt || kind_ == Kind::kBool; }
  bool is_number() const { return is_integral() || kind_ == Kind::kFloat; }
  bool is_sequence() const { return kind_ >= Kind::kList && kind_ <= Kind::kGenerator; }
  bool is_indexable() const { return kind_ >= Kind::kList && kind_ <= Kind::kRange; }

  // Each is valid only for its kind.
  bool as_bool() const { return integer_ != 0; }
  int64_t as_int() const { return integer_; }                  // kInt, kBool
  double as_double() const;                                    // any number
  std::string_view as_text() const { return {text_, size_}; }  // kString, name of kUndefined
  Sequence& as_sequence() const { return *static_cast<Sequence*>(object_); }
  Dict& as_dict() const { return *static_cast<Dict*>(object_); }  // kDict, kNamespace
  LoopState& as_loop() const { return *static_cast<LoopState*>(object_); }
  const FunctionRow& as_function() const { return *static_cast<const FunctionRow*>(constant_); }
  const Method& as_method() const { return *static_cast<const Method*>(constant_); }
  const Macro& as_macro() const { return *static_cast<const Macro*>(constant_); }
  const void* identity() const { return constant_; }
  Origin origin() const { return origin_; }
  Kind owner() const { return owner_; }

  // Text that `|safe` or `|escape` marked: `+` escapes what is joined to it, as markupsafe does.
  bool is_markup() const { return markup_; }
  Value marked(bool markup = true) const;

 private:
  explicit Value(Kind kind) : kind_(kind) {}
  Kind kind_ = Kind::kMissing;
  Origin origin_ = Origin::kName;
  Kind owner_ = Kind::kMissing;
  bool markup_ = false;
  size_t size_ = 0;
  union {
    int64_t integer_ = 0;
    double real_;
    const char* text_;
    void* object_;
    const void* constant_;
  };
};

struct Sequence {
  std::vector<Value> items;
  size_t cursor = 0;  // kGenerator: what was consumed so far
  std::string_view
      label;  // kView, kGenerator: the Python type's name; kRange: what it prints as; group tuples: "group"
};

// A dict keeps the order of insertion; 1, 1.0 and True are one key.
struct Dict {
  struct Entry {
    Value key;
    Value value;
  };
  std::vector<Entry> entries;

  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const { return find(Value::text(key)); }
  void set(const Value& key, const Value& value);
  bool erase(const Value& key);

 private:
  size_t index_of(const Value& key) const;
  // Positions by hash, kept only once a dict has many entries.
  mutable std::unordered_multimap<size_t, size_t> positions_;
};

struct Method {
  const FunctionRow* row;
  Value receiver;
};

struct NamedValue {
  std::string_view name;
  Value value;
};

// None, booleans, numbers, text and flat tuples of them may be keys of a dict (nested tuples, which Python would take,
// could be made to take for ever to hash).
bool is_hashable(const Value& value);
size_t hash_of(const Value& value);

// Python's truth: empty, zero, none and undefined are false.
bool is_true(const Value& value);

// "str", "int", "NoneType", ... as Python's messages name types.
std::string_view type_name(const Value& value);
std::string_view type_name(Kind kind);

}  // namespace nereid::chat
