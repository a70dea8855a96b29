// SPDX-License-Identifier: Apache-2.0
// Scanners for three families of patterns: GPT-2's, Llama 3's and Qwen 2's, and digits in groups.
#include "llm/token/native_split.h"

#include <algorithm>
#include <array>

#include "llm/token/pre_table.h"
#include "llm/token/unicode.h"
#include "llm/token/utf8.h"

namespace nereid::token {
namespace {

constexpr std::array<CharClass, 128> make_ascii_classes() {
  std::array<CharClass, 128> t{};
  for (size_t c = 0; c < t.size(); ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool space = c == ' ' || (c >= '\t' && c <= '\r');
    const bool digit = c >= '0' && c <= '9';
    t[c] = letter ? CharClass::kLetter : space ? CharClass::kSpace : digit ? CharClass::kNumber : CharClass::kOther;
  }
  return t;
}
constexpr std::array<CharClass, 128> kAsciiClasses = make_ascii_classes();

// Walks over one text; positions are bytes at character boundaries.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  struct At {
    CharClass kind = CharClass::kUnassigned;
    size_t size = 0;  // 0 at the end
  };
  At at(size_t i) const {
    if (i >= text_.size()) return {};
    const auto lead = static_cast<unsigned char>(text_[i]);
    if (lead < 0x80) return {kAsciiClasses[lead], 1};
    const Char c = decode_char(text_, i);
    return {char_class(c.code), c.size};
  }
  bool is(size_t i, CharClass kind) const {
    const At a = at(i);
    return a.size > 0 && a.kind == kind;
  }
  // The end of the run of `kind` that starts at `i`, of at most `most` characters.
  size_t run(size_t i, CharClass kind, size_t most = SIZE_MAX) const {
    while (most-- > 0) {
      const At a = at(i);
      if (a.size == 0 || a.kind != kind) break;
      i += a.size;
    }
    return i;
  }
  bool is_line_break(size_t i) const { return i < text_.size() && (text_[i] == '\r' || text_[i] == '\n'); }

  // White space from `i` on, as `\s+(?!\S)|\s+` takes it: all of a run at the end of the text, all but the last
  // character of a longer run, or the single one.
  size_t spaces(size_t i) const {
    size_t end = i, last = i;
    for (At a = at(i); a.size > 0 && a.kind == CharClass::kSpace; a = at(end)) {
      last = end;
      end += a.size;
    }
    return end == text_.size() || last == i ? end : last;
  }
  // The same, but a run with line breaks goes up to the last of them (`\s*[\r\n]+` first).
  size_t spaces_or_lines(size_t i) const {
    const size_t end = run(i, CharClass::kSpace);
    for (size_t j = end; j > i; --j)
      if (is_line_break(j - 1)) return j;
    return spaces(i);
  }

  // 's 't 'm 'd 're 've 'll at `i`: their end, or `i`.
  size_t contraction(size_t i, bool any_case) const {
    if (text_[i] != '\'' || i + 1 >= text_.size()) return i;
    const auto lower = [&](size_t j) {
      const char c = j < text_.size() ? text_[j] : '\0';
      return any_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    };
    const char a = lower(i + 1), b = lower(i + 2);
    if (a == 's' || a == 't' || a == 'm' || a == 'd') return i + 2;
    if ((a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l')) return i + 3;
    // Without regard to case a long s is an s.
    if (any_case && text_.substr(i + 1).starts_with("\xC5\xBF")) return i + 3;
    return i;
  }

 private:
  std::string_view text_;
};

// Calls next(scanner, position) -> end of the word that starts there, until the text is used up.
template <typename Next>
bool scan(std::string_view text, std::vector<std::string_view>& words, const Next& next) {
  const Scanner scanner(text);
  const size_t before = words.size();
  for (size_t i = 0; i < text.size();) {
    const size_t end = next(scanner, i);
    if (end <= i) {
      words.resize(before);
      return false;
    }
    words.push_back(text.substr(i, end - i));
    i = end;
  }
  return true;
}

// A word must not end before a character that might belong to it.
size_t checked(const Scanner& s, size_t end, size_t failure) {
  const Scanner::At next = s.at(end);
  return next.size > 0 && next.kind == CharClass::kUnassigned ? failure : end;
}

// ` ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+` and white space
bool split_gpt2(std::string_view text, std::vector<std::string_view>& words) {
  return scan(text, words, [&](const Scanner& s, size_t i) {
    if (const size_t end = s.contraction(i, false); end > i) return end;
    const size_t start = text[i] == ' ' ? i + 1 : i;
    Scanner::At a = s.at(start);
    if (start > i && (a.size == 0 || a.kind == CharClass::kSpace)) a = s.at(i);
    if (a.kind == CharClass::kUnassigned) return i;
    if (a.kind == CharClass::kSpace) return checked(s, s.spaces(i), i);
    return checked(s, s.run(start, a.kind), i);
  });
}

// `[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,kDigits}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+` and white space
template <size_t kDigits>
bool split_llama3(std::string_view text, std::vector<std::string_view>& words) {
  return scan(text, words, [&](const Scanner& s, size_t i) {
    if (const size_t end = s.contraction(i, true); end > i) return end;
    const Scanner::At a = s.at(i);
    if (a.kind == CharClass::kUnassigned) return i;
    if (a.kind == CharClass::kLetter) return checked(s, s.run(i, CharClass::kLetter), i);
    if (a.kind == CharClass::kNumber) return s.run(i, CharClass::kNumber, kDigits);
    const size_t next = i + a.size;
    if (!s.is_line_break(i) && s.is(next, CharClass::kLetter)) return checked(s, s.run(next, CharClass::kLetter), i);
    const bool space_before = text[i] == ' ' && s.is(next, CharClass::kOther);
    if (a.kind == CharClass::kOther || space_before) {
      size_t end = checked(s, s.run(space_before ? next : i, CharClass::kOther), i);
      while (end > i && s.is_line_break(end)) ++end;
      return end;
    }
    return checked(s, s.spaces_or_lines(i), i);
  });
}

// Each number character alone.
bool split_digits(std::string_view text, std::vector<std::string_view>& words) {
  return scan(text, words, [&](const Scanner& s, size_t i) {
    const Scanner::At a = s.at(i);
    if (a.kind == CharClass::kNumber) return i + a.size;
    size_t end = i;
    for (Scanner::At b = a; b.size > 0 && b.kind != CharClass::kNumber; b = s.at(end)) {
      if (b.kind == CharClass::kUnassigned) return i;
      end += b.size;
    }
    return end;
  });
}

// Runs of decimal digits in groups of three counted from the right. As regular expressions these look ahead to the end
// of the run from each place, which takes quadratic time; here each digit is looked at twice.
//   kDigitsFromRightPattern: only runs that end at a word's end; the groups are matches.
//   kBeforeThreeDigitsPattern: any run; the text is cut before each group.
template <bool kEndsWord>
bool split_digit_groups(std::string_view text, std::vector<std::string_view>& words) {
  size_t word_start = 0;
  const auto cut = [&](size_t at) {
    if (at > word_start) words.push_back(text.substr(word_start, at - word_start));
    word_start = at;
  };
  std::vector<size_t> digits;  // where each digit of the run starts
  for (size_t i = 0; i < text.size();) {
    digits.clear();
    Char c = decode_char(text, i);
    for (; is_decimal(c.code); c = i < text.size() ? decode_char(text, i) : Char{}) {
      digits.push_back(i);
      i += c.size;
    }
    const bool counts = !digits.empty() && !(kEndsWord && i < text.size() && is_word(c.code));
    for (size_t left = digits.size(); counts && left > 0; --left) {
      const bool starts_group = left % 3 == 0 || (kEndsWord && left == digits.size());
      if (starts_group) cut(digits[digits.size() - left]);
    }
    if (counts && kEndsWord) cut(i);
    if (digits.empty()) i += c.size;
  }
  cut(text.size());
  return true;
}

struct Row {
  std::string_view regex;
  NativeSplit split;
};
constexpr Row kNativeSplits[] = {
    {kGpt2Pattern, split_gpt2},
    {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S))", split_gpt2},
    {R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", split_gpt2},
    {kLlama3Pattern, split_llama3<3>},
    {kQwen2Pattern, split_llama3<1>},
    {kDigitPattern, split_digits},
    {kDigitsFromRightPattern, split_digit_groups<true>},
    {kBeforeThreeDigitsPattern, split_digit_groups<false>},
};

}  // namespace

NativeSplit find_native_split(std::string_view regex) {
  const auto at =
      std::find_if(std::begin(kNativeSplits), std::end(kNativeSplits), [&](const Row& r) { return r.regex == regex; });
  return at == std::end(kNativeSplits) ? nullptr : at->split;
}

}  // namespace nereid::token
