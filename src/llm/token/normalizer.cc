// SPDX-License-Identifier: Apache-2.0
// One function a kind of step.
#include "llm/token/normalizer.h"

#include <utf8proc.h>

#include <algorithm>

#include "llm/token/byte_stand_ins.h"
#include "llm/token/unicode.h"
#include "llm/token/utf8.h"

namespace nereid::token {
namespace {

// Calls f(code, bytes of the character) for each character.
template <typename F>
void for_each_char(std::string_view text, const F& f) {
  for (size_t i = 0; i < text.size();) {
    const Char c = decode_char(text, i);
    f(c.code, text.substr(i, c.size));
    i += c.size;
  }
}

template <typename Keep>
std::string filter(std::string_view text, const Keep& keep) {
  std::string out;
  out.reserve(text.size());
  for_each_char(text, [&](char32_t c, std::string_view bytes) {
    if (keep(c)) out.append(bytes);
  });
  return out;
}

std::string clean_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for_each_char(text, [&](char32_t c, std::string_view bytes) {
    if (c == '\t' || c == '\n' || c == '\r' || is_whitespace(c)) {
      // Vertical tab, form feed and U+0085 are control characters first, as the original tests in that order.
      if (c == '\t' || c == '\n' || c == '\r' || !is_control(c)) out.push_back(' ');
    } else if (c != 0 && c != kReplacement && !is_control(c)) {
      out.append(bytes);
    }
  });
  return out;
}

std::string pad_cjk(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for_each_char(text, [&](char32_t c, std::string_view bytes) {
    if (is_cjk_ideograph(c)) {
      out.append(" ").append(bytes).append(" ");
    } else {
      out.append(bytes);
    }
  });
  return out;
}

// Nothing to compose, pad or strip: one pass.
std::string bert_ascii(const NormalizerStep& step, std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const bool space = c == '\t' || c == '\n' || c == '\r';
    const bool control = c == 0x7F || (c >= 0 && c < 0x20);
    if (step.clean_text && (space || control)) {
      if (space) out.push_back(' ');
    } else {
      out.push_back(step.lowercase && c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c);
    }
  }
  return out;
}

std::string bert(const NormalizerStep& step, std::string_view text) {
  if (is_ascii(text)) return bert_ascii(step, text);
  std::string out(text);
  if (step.clean_text) out = clean_text(out);
  if (step.pad_cjk) out = pad_cjk(out);
  if (step.strip_accents) {
    out = filter(normal_form(out, NormalForm::kNfd), [](char32_t c) { return !is_nonspacing_mark(c); });
  }
  if (step.lowercase) out = to_lower(out);
  return out;
}

std::string nmt(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for_each_char(text, [&](char32_t c, std::string_view bytes) {
    const bool dropped =
        (c >= 0x1 && c <= 0x8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F;
    const bool space = c == 0x9 || c == 0xA || c == 0xC || c == 0xD || c == 0x1680 || (c >= 0x200B && c <= 0x200F) ||
                       c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
    if (space) {
      out.push_back(' ');
    } else if (!dropped) {
      out.append(bytes);
    }
  });
  return out;
}

std::string strip(std::string_view text, bool left, bool right) {
  size_t begin = 0, end = text.size();
  while (left && begin < text.size()) {
    const Char c = decode_char(text, begin);
    if (!is_whitespace(c.code)) break;
    begin += c.size;
  }
  while (right && end > begin) {
    size_t at = end - 1;
    while (at > begin && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
    if (!is_whitespace(decode_char(text, at).code)) break;
    end = at;
  }
  return std::string(text.substr(begin, end - begin));
}

// Character by character, longest rule first; then the spaces.
std::string sentencepiece(const NormalizerStep& step, const Charsmap& charsmap, std::string_view text, bool prepend) {
  std::string mapped;
  mapped.reserve(text.size() + text.size() / 4 + 8);
  for (size_t i = 0; i < text.size();) {
    if (const auto match = charsmap.longest_prefix(text.substr(i))) {
      mapped.append(match->replacement);
      i += match->size;
    } else {
      const Char c = decode_char(text, i);
      mapped.append(text.substr(i, c.size));
      i += c.size;
    }
  }
  const std::string_view space = step.escape_spaces ? kMetaspaceUtf8 : " ";
  std::string out;
  out.reserve(mapped.size() * 2 + space.size());
  if (step.prepend_space && prepend && !mapped.empty()) out.append(space);
  bool after_space = step.collapse_spaces;  // leading spaces go as well
  for (const char c : mapped) {
    if (c != ' ') {
      out.push_back(c);
    } else if (!after_space) {
      out.append(space);
    }
    after_space = step.collapse_spaces && c == ' ';
  }
  // The original strips the end after escaping: a U+2581 that stood in the text goes too.
  while (step.collapse_spaces && out.ends_with(space)) out.erase(out.size() - space.size());
  return out;
}

// Grapheme clusters of fewer than 6 bytes are looked up whole, else character by character; in both cases the shortest
// rule that starts them counts. This is what the Hugging Face library does with the same rules.
std::string precompiled(const Charsmap& charsmap, std::string_view text) {
  std::string out;
  out.reserve(text.size());
  const auto transform_chars = [&](std::string_view cluster) {
    for_each_char(cluster, [&](char32_t, std::string_view bytes) {
      const auto match = charsmap.shortest_prefix(bytes);
      out.append(match ? match->replacement : bytes);
    });
  };
  const auto transform = [&](std::string_view cluster) {
    if (cluster.size() < 6) {
      if (const auto match = charsmap.shortest_prefix(cluster)) {
        out.append(match->replacement);
        return;
      }
    }
    transform_chars(cluster);
  };
  size_t cluster_begin = 0;
  utf8proc_int32_t state = 0;
  char32_t previous = 0;
  for (size_t i = 0; i < text.size();) {
    const Char c = decode_char(text, i);
    if (i > 0 && utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(previous),
                                                  static_cast<utf8proc_int32_t>(c.code), &state)) {
      transform(text.substr(cluster_begin, i - cluster_begin));
      cluster_begin = i;
    }
    previous = c.code;
    i += c.size;
  }
  transform(text.substr(cluster_begin));
  return out;
}

Result<std::string> replace_pattern(const Pattern& pattern, std::string_view text, std::string_view content) {
  Pattern::Matcher matcher(pattern);
  std::string out;
  size_t copied = 0;
  for (size_t from = 0; from <= text.size();) {
    NEREID_TRY(const Span match, matcher.find(text, from));
    if (match.begin == std::string_view::npos) break;
    out.append(text.substr(copied, match.begin - copied)).append(content);
    copied = match.end;
    from = match.end;
    if (match.begin == match.end) from += from < text.size() ? decode_char(text, from).size : 1;
  }
  return out.append(text.substr(copied));
}

}  // namespace

std::string replace_all(std::string_view text, std::string_view pattern, std::string_view content) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0;;) {
    const size_t at = text.find(pattern, i);
    out.append(text.substr(i, at - i));
    if (at == std::string_view::npos) return out;
    out.append(content);
    i = at + pattern.size();
  }
}

Result<Normalizer> Normalizer::make(const std::vector<NormalizerStep>& steps) {
  Normalizer n;
  for (const NormalizerStep& spec : steps) {
    Step step;
    step.spec = spec;
    step.spec.charsmap.clear();
    NEREID_TRY(step.charsmap, Charsmap::parse(spec.charsmap));
    if (spec.kind == NormalizerKind::kReplace && spec.regex) {
      NEREID_TRY(Pattern pattern, Pattern::compile(spec.pattern));
      step.pattern = std::make_shared<const Pattern>(std::move(pattern));
    }
    n.steps_.push_back(std::move(step));
  }
  return n;
}

Result<std::string> Normalizer::apply(const Step& step, std::string_view text, bool prepend) {
  const NormalizerStep& s = step.spec;
  switch (s.kind) {
    case NormalizerKind::kNfc:
      return normal_form(text, NormalForm::kNfc);
    case NormalizerKind::kNfd:
      return normal_form(text, NormalForm::kNfd);
    case NormalizerKind::kNfkc:
      return normal_form(text, NormalForm::kNfkc);
    case NormalizerKind::kNfkd:
      return normal_form(text, NormalForm::kNfkd);
    case NormalizerKind::kLowercase:
      return to_lower(text);
    case NormalizerKind::kStripAccents:
      return filter(text, [](char32_t c) { return !is_mark(c); });
    case NormalizerKind::kNmt:
      return nmt(text);
    case NormalizerKind::kBert:
      return bert(s, text);
    case NormalizerKind::kPrepend:
      return text.empty() ? std::string() : std::string(s.content).append(text);
    case NormalizerKind::kReplace:
      if (step.pattern) return replace_pattern(*step.pattern, text, s.content);
      return s.pattern.empty() ? std::string(text) : replace_all(text, s.pattern, s.content);
    case NormalizerKind::kStrip:
      return strip(text, s.left, s.right);
    case NormalizerKind::kPrecompiled:
      return precompiled(step.charsmap, text);
    case NormalizerKind::kSentencePiece:
      return sentencepiece(s, step.charsmap, text, prepend);
    case NormalizerKind::kByteLevel:
      return map_bytes(text);
  }
  return std::string(text);
}

Result<std::string> Normalizer::run(std::string_view text, bool prepend) const {
  std::string out(text);
  for (const Step& step : steps_) {
    NEREID_TRY(out, apply(step, out, prepend));
  }
  return out;
}

}  // namespace nereid::token
