// SPDX-License-Identifier: Apache-2.0
// The only file that knows PCRE2.
#define PCRE2_CODE_UNIT_WIDTH 8
#include "llm/token/pattern.h"

#include <pcre2.h>

#include <algorithm>
#include <array>

namespace nereid::token {
namespace {

// Steps of one match attempt. The patterns of real tokenizers stay below 10 steps a character on any text.
constexpr uint32_t kMatchLimit = 50'000'000;
constexpr uint32_t kHeapLimitKib = 64 * 1024;
constexpr size_t kJitStackStart = 32 * 1024;
constexpr size_t kJitStackMax = 8 * 1024 * 1024;
constexpr size_t kMaxPatternBytes = 64 * 1024;

// White_Space, as the inside of a character class. PCRE2's own \s has U+180E besides.
constexpr std::string_view kSpaceClass =
    R"(\t-\r\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})";

// A word character is what Unicode says (UTS 18, annex C), but for the joiners, which Oniguruma leaves out. PCRE2's own
// \w lacks marks.
constexpr std::string_view kWordClass = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";

// What an escape stands for as the inside of a class; empty if it needs no translation.
std::string_view class_of(char escape) {
  if (escape == 's' || escape == 'S') return kSpaceClass;
  return escape == 'w' || escape == 'W' ? kWordClass : std::string_view();
}

}  // namespace

struct Pattern::Code {
  pcre2_code* code = nullptr;
  bool jit = false;
  Code() = default;
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  ~Code() { pcre2_code_free(code); }
};

std::string to_pcre2(std::string_view regex) {
  std::string out;
  size_t class_depth = 0;
  for (size_t i = 0; i < regex.size(); ++i) {
    const char c = regex[i];
    if (c == '\\' && i + 1 < regex.size()) {
      const char next = regex[++i];
      const std::string_view inside = class_of(next);
      const bool negated = next == 'S' || next == 'W';
      if (!inside.empty() && class_depth == 0) {
        out.append(negated ? "[^" : "[").append(inside).append("]");
      } else if (!inside.empty() && !negated) {
        out.append(inside);
      } else {
        out.push_back(c);
        out.push_back(next);
      }
      continue;
    }
    if (c == '[') {
      // Inside a class '[' is a plain character unless it starts [:name:], which holds no brackets of its own.
      if (class_depth == 0) {
        class_depth = 1;
        out.push_back(c);
        if (i + 1 < regex.size() && regex[i + 1] == '^') out.push_back(regex[++i]);
        if (i + 1 < regex.size() && regex[i + 1] == ']') out.append("\\]"), ++i;
        continue;
      }
      if (i + 1 < regex.size() && regex[i + 1] == ':') {
        const size_t close = regex.find(":]", i + 2);
        if (close != std::string_view::npos) {
          out.append(regex.substr(i, close + 2 - i));
          i = close + 1;
          continue;
        }
      }
    } else if (c == ']' && class_depth) {
      class_depth = 0;
    }
    out.push_back(c);
  }
  return out;
}

Result<Pattern> Pattern::compile(std::string_view regex) {
  if (regex.size() > kMaxPatternBytes) {
    return invalid_argument("the pattern has {} bytes; at most {} are allowed", regex.size(), kMaxPatternBytes);
  }
  const std::string translated = to_pcre2(regex);
  int error_code = 0;
  PCRE2_SIZE error_offset = 0;
  auto code = std::make_shared<Code>();
  code->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                             PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error_code, &error_offset, nullptr);
  if (code->code == nullptr) {
    std::array<PCRE2_UCHAR, 256> why{};
    pcre2_get_error_message(error_code, why.data(), why.size());
    return invalid_argument("the pattern '{}' is no valid regular expression: {} at byte {}", translated,
                            reinterpret_cast<const char*>(why.data()), error_offset);
  }
  code->jit = pcre2_jit_compile(code->code, PCRE2_JIT_COMPLETE) == 0;
  Pattern pattern;
  pattern.code_ = std::move(code);
  return pattern;
}

struct Pattern::Matcher::State {
  std::shared_ptr<const Code> code;
  pcre2_match_data* data = nullptr;
  pcre2_match_context* context = nullptr;
  pcre2_jit_stack* stack = nullptr;

  ~State() {
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
    pcre2_jit_stack_free(stack);
  }
};

Pattern::Matcher::Matcher(const Pattern& pattern) : state_(std::make_unique<State>()) {
  state_->code = pattern.code_;
  state_->data = pcre2_match_data_create_from_pattern(pattern.code_->code, nullptr);
  state_->context = pcre2_match_context_create(nullptr);
  if (state_->context == nullptr) return;
  pcre2_set_match_limit(state_->context, kMatchLimit);
  pcre2_set_heap_limit(state_->context, kHeapLimitKib);
  if (pattern.code_->jit) {
    state_->stack = pcre2_jit_stack_create(kJitStackStart, kJitStackMax, nullptr);
    if (state_->stack != nullptr) pcre2_jit_stack_assign(state_->context, nullptr, state_->stack);
  }
}

Pattern::Matcher::~Matcher() = default;
Pattern::Matcher::Matcher(Matcher&&) noexcept = default;

Result<Span> Pattern::Matcher::find(std::string_view text, size_t from) {
  State& s = *state_;
  if (s.data == nullptr || s.context == nullptr) return exhausted("there is no memory to match a pattern");
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data() ? text.data() : "");
  // The text is known to be valid UTF-8, so the library need not look again at each call.
  const int rc = pcre2_match(s.code->code, subject, text.size(), from, PCRE2_NO_UTF_CHECK, s.data, s.context);
  if (rc == PCRE2_ERROR_NOMATCH) return Span{std::string_view::npos, std::string_view::npos};
  if (rc < 0) {
    std::array<PCRE2_UCHAR, 256> why{};
    pcre2_get_error_message(rc, why.data(), why.size());
    return exhausted("matching the pre-tokenizer's pattern at byte {} of {} failed: {}", from, text.size(),
                     reinterpret_cast<const char*>(why.data()));
  }
  const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(s.data);
  // \K may put the ends anywhere; callers rely on going forward.
  const size_t begin = std::max(from, ends[0]);
  return Span{begin, std::max(begin, ends[1])};
}

}  // namespace nereid::token
