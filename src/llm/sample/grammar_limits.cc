// SPDX-License-Identifier: Apache-2.0
// Reads patterns and schemas only as far as their size can be told.
#include "llm/sample/grammar_limits.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "base/json.h"

namespace nereid::sample {
namespace {

// The members of a schema whose values repeat something.
constexpr std::array<std::string_view, 6> kCounts = {"minItems",  "maxItems",      "minLength",
                                                     "maxLength", "minProperties", "maxProperties"};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Walks over a pattern and adds up what it would be with every repetition written out, and in how many places it may go
// either way: what makes matching slow is not length but having many ways to go on. It need not know the syntax
// exactly: what it takes for more than it is, is refused too early; what is not a repetition is not multiplied.
class PatternSize {
 public:
  PatternSize(std::string_view what, std::string_view text, bool has_rules)
      : what_(what), text_(text), has_rules_(has_rules) {}

  Status check() {
    groups_.push_back({});
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\\') {
        at_ += 2;
        element({.elements = 1});
      } else if (c == '[') {
        skip_class();
        element({.elements = 1});
      } else if (has_rules_ && c == '"') {
        element({.elements = skip_text()});
      } else if (has_rules_ && text_.substr(at_).starts_with("::=")) {
        at_ += 3;
        begin_rule();
      } else if (c == '(') {
        if (groups_.size() > static_cast<size_t>(kMaxGrammarDepth))
          return invalid_argument("{} nests groups more than {} deep, at byte {}; write it with fewer.", what_,
                                  kMaxGrammarDepth, at_);
        groups_.push_back({});
        ++at_;
        if (text_.substr(at_).starts_with("?")) ++at_;  // (?: and its like
      } else if (c == ')') {
        ++at_;
        Cost cost = groups_.back().total;
        cost.elements = std::max<int64_t>(cost.elements, 1);
        if (groups_.size() > 1) groups_.pop_back();
        element(cost);
      } else if (c == '*' || c == '+' || c == '?') {
        ++at_;
        repeat(c == '+' ? 1 : 0, c == '?' ? 1 : kUnbounded);
      } else if (c == '{' && at_ + 1 < text_.size() &&
                 (is_digit(text_[at_ + 1]) || text_[at_ + 1] == ' ' || text_[at_ + 1] == ',')) {
        NEREID_RETURN_IF_ERROR(count());
      } else {
        ++at_;
        element({.elements = 1});
      }
      NEREID_RETURN_IF_ERROR(check_total());
    }
    return Status::ok();
  }

 private:
  static constexpr int64_t kUnbounded = -1;
  static constexpr int64_t kUnrolled = 128;  // longer repetitions of one thing are counted, not written out

  struct Cost {
    int64_t elements = 0;
    int64_t options = 0;  // places to go on or not
    int64_t loops = 0;    // of these, those without a bound
  };
  struct Group {
    Cost total;
    Cost last;  // of the latest element, which a repetition repeats
    bool repeated = false;
  };

  Status check_total() const {
    const Cost& total = groups_.back().total;
    if (total.elements > kMaxPatternSize)
      return invalid_argument(
          "{} has more than {} elements once its repetitions are written out (at byte {}); repeat less.", what_,
          kMaxPatternSize, at_);
    if (total.options > kMaxPatternOptions || total.loops > kMaxPatternLoops)
      return invalid_argument(
          "{} may go on in too many ways: {} optional parts and {} repetitions without a bound until byte {}, where {} "
          "and "
          "{} are allowed; write it with fewer.",
          what_, total.options, total.loops, at_, kMaxPatternOptions, kMaxPatternLoops);
    return Status::ok();
  }

  void element(const Cost& cost) {
    Group& group = groups_.back();
    group.total.elements += cost.elements;
    group.total.options += cost.options;
    group.total.loops += cost.loops;
    group.last = cost;
    group.repeated = false;
  }

  // Each rule is judged by itself, its name was counted as an element of the last one.
  void begin_rule() {
    const int64_t elements = groups_.back().total.elements;
    groups_.assign(1, {});
    groups_.back().total.elements = elements;
  }

  void skip_class() {
    const size_t end = std::min(text_.size(), at_ + 2);
    for (at_ = end; at_ < text_.size() && text_[at_] != ']'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    ++at_;
  }

  int64_t skip_text() {
    const size_t begin = at_;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    ++at_;
    return static_cast<int64_t>(std::min(at_, text_.size()) - begin);
  }

  // {n}, {n,}, {n,m}
  Status count() {
    std::array<int64_t, 2> numbers = {0, kUnbounded};
    size_t which = 0;
    const size_t begin = at_;
    for (++at_; at_ < text_.size() && text_[at_] != '}'; ++at_) {
      const char c = text_[at_];
      if (is_digit(c)) {
        int64_t& n = numbers[which];
        n = std::min<int64_t>(std::max<int64_t>(n, 0) * 10 + (c - '0'), int64_t{1} << 40);
      } else if (c == ',' && which == 0) {
        which = 1;
      } else if (c != ' ') {
        at_ = begin + 1;  // no repetition
        element({.elements = 1});
        return Status::ok();
      }
    }
    ++at_;
    if (which == 0) numbers[1] = numbers[0];
    const int64_t most = std::max(numbers[0], numbers[1]);
    if (most > kMaxRepetition)
      return invalid_argument("{} repeats something up to {} times, before byte {}; at most {} are allowed.", what_,
                              most, std::min(at_, text_.size()), kMaxRepetition);
    repeat(numbers[0], numbers[1]);
    return Status::ok();
  }

  void repeat(int64_t least, int64_t most) {
    Group& group = groups_.back();
    if (group.repeated && least == 0 && most == 1) return;  // a?? and its like: as few as may be
    Cost& last = group.last;
    Cost cost = last;
    const int64_t times = std::max<int64_t>(most == kUnbounded ? least : most, 1);
    const bool is_simple = last.options + last.loops == 0;
    cost.elements = last.elements * times;
    cost.options = last.options * times;
    cost.loops = last.loops * times;
    if (most == kUnbounded) {
      cost.loops += 1;
    } else if (most > least) {
      cost.options += is_simple && most > kUnrolled ? 1 : most - least;
    }
    group.total.elements += cost.elements - last.elements;
    group.total.options += cost.options - last.options;
    group.total.loops += cost.loops - last.loops;
    group.last = cost;
    group.repeated = true;
  }

  std::string_view what_;
  std::string_view text_;
  bool has_rules_;
  size_t at_ = 0;
  std::vector<Group> groups_;
};

Status check_text(std::string_view what, std::string_view pattern) {
  if (!is_utf8(pattern)) return invalid_argument("{} is not UTF-8.", what);
  if (pattern.find('\0') != std::string_view::npos) return invalid_argument("{} holds a zero byte.", what);
  return Status::ok();
}

// What a value of a schema is, by the member it stands in: its names mean something only where it is a schema.
enum class Role : uint8_t { kSchema, kNamed, kData, kTag };

constexpr std::array<std::string_view, 9> kIgnored = {
    "not", "if", "then", "else", "contains", "minContains", "maxContains", "uniqueItems", "dependentRequired"};

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Role role_of(Role around, std::string_view name) {
  constexpr std::array<std::string_view, 5> kNamed = {"properties", "patternProperties", "$defs", "definitions",
                                                      "dependentSchemas"};
  constexpr std::array<std::string_view, 5> kData = {"enum", "const", "default", "examples", "required"};
  if (around == Role::kData) return Role::kData;
  if (around == Role::kNamed) return Role::kSchema;
  if (around == Role::kTag) return name == "json_schema" || name == "schema" ? Role::kSchema : Role::kTag;
  if (is_one_of(name, kNamed)) return Role::kNamed;
  return is_one_of(name, kData) ? Role::kData : Role::kSchema;
}

Status check_ebnf(std::string_view text) {
  NEREID_RETURN_IF_ERROR(check_text("the grammar", text));
  return PatternSize("the grammar", text, true).check();
}

Status check_member(Role around, std::string_view name, const Json& value) {
  if (around == Role::kNamed || around == Role::kData) return Status::ok();
  if (name == "pattern" && value.is_string())
    return check_pattern("a \"pattern\"", value.get_ref<const std::string&>());
  if (around == Role::kTag && name == "grammar" && value.is_string())
    return check_ebnf(value.get_ref<const std::string&>());
  if (around == Role::kSchema && is_one_of(name, kIgnored) && value != Json(false))
    return unsupported("the schema uses \"{}\", which answers cannot be held to token by token; leave it out.", name);
  if (!is_one_of(name, kCounts) || !value.is_number()) return Status::ok();
  if (value.get<double>() <= static_cast<double>(kMaxRepetition)) return Status::ok();
  return invalid_argument("the schema has a {} of {}; at most {} are allowed.", name, value.get<double>(),
                          kMaxRepetition);
}

// Without recursion: how deep it goes the reader has bounded.
Status check_schema(const Json& schema, Role role) {
  std::vector<std::pair<const Json*, Role>> todo = {{&schema, role}};
  size_t nodes = 0;
  while (!todo.empty()) {
    const auto [value, around] = todo.back();
    todo.pop_back();
    if (++nodes > kMaxSchemaNodes)
      return invalid_argument("the schema has more than {} values; make it smaller.", kMaxSchemaNodes);
    if (value->is_array()) {
      for (const Json& member : *value) todo.emplace_back(&member, around);
    }
    if (!value->is_object()) continue;
    for (const auto& [name, member] : value->items()) {
      NEREID_RETURN_IF_ERROR(check_member(around, name, member));
      if (around == Role::kSchema && name == "patternProperties" && member.is_object()) {
        for (const auto& [pattern, unused] : member.items())
          NEREID_RETURN_IF_ERROR(check_pattern("a name in \"patternProperties\"", pattern));
      }
      todo.emplace_back(&member, role_of(around, name));
    }
  }
  return Status::ok();
}

Status check_choices(const Json& choices) {
  if (!choices.is_array() || choices.empty() ||
      !std::all_of(choices.begin(), choices.end(), [](const Json& c) { return c.is_string(); }))
    return invalid_argument("a choice must be a JSON array of at least one text, such as [\"yes\", \"no\"].");
  if (choices.size() > kMaxChoices)
    return invalid_argument("a choice has {} texts; at most {} are allowed.", choices.size(), kMaxChoices);
  return Status::ok();
}

}  // namespace

bool is_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<uint8_t>(text[i]);
    const size_t length = lead < 0x80 ? 1 : lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 0;
    if (length == 0 || i + length > text.size()) return false;
    uint32_t code = length == 1 ? lead : lead & (0x7FU >> length);
    for (size_t j = 1; j < length; ++j) {
      const auto byte = static_cast<uint8_t>(text[i + j]);
      if (byte >> 6 != 2) return false;
      code = code << 6 | (byte & 0x3FU);
    }
    constexpr std::array<uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
    if (code < kLeast[length] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return false;
    i += length;
  }
  return true;
}

Status check_pattern(std::string_view what, std::string_view pattern) {
  NEREID_RETURN_IF_ERROR(check_text(what, pattern));
  if (pattern.size() > kMaxPatternBytes)
    return invalid_argument("{} has {} bytes; at most {} are allowed.", what, pattern.size(), kMaxPatternBytes);
  return PatternSize(what, pattern, false).check();
}

Status check_grammar(const GrammarSpec& spec) {
  if (spec.text.size() > kMaxGrammarBytes)
    return invalid_argument("the {} has {} bytes; at most {} are allowed.", grammar_kind_name(spec.kind),
                            spec.text.size(), kMaxGrammarBytes);
  switch (spec.kind) {
    case GrammarKind::kNone:
      return invalid_argument("a grammar of the kind none is nothing to compile.");
    case GrammarKind::kJson:
      return Status::ok();
    case GrammarKind::kRegex:
      if (spec.text.empty()) return invalid_argument("the regular expression is empty: the answer would be, too.");
      return check_pattern("the regular expression", spec.text);
    case GrammarKind::kEbnf:
      return check_ebnf(spec.text);
    case GrammarKind::kJsonSchema:
    case GrammarKind::kStructuralTag:
    case GrammarKind::kChoice: {
      auto json = parse_json(spec.text, {.max_depth = kMaxGrammarDepth, .max_bytes = kMaxGrammarBytes})
                      .with(grammar_kind_name(spec.kind));
      if (!json.is_ok()) return json.status();
      if (spec.kind == GrammarKind::kChoice) return check_choices(*json);
      return check_schema(*json, spec.kind == GrammarKind::kJsonSchema ? Role::kSchema : Role::kTag);
    }
  }
  return invalid_argument("there is no such kind of grammar.");
}

}  // namespace nereid::sample
