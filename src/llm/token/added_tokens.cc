// SPDX-License-Identifier: Apache-2.0
#include "llm/token/added_tokens.h"

#include "llm/token/unicode.h"
#include "llm/token/utf8.h"

namespace nereid::token {
namespace {

size_t start_of_char_before(std::string_view text, size_t end) {
  size_t at = end - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

bool stands_alone(std::string_view text, size_t begin, size_t end) {
  const bool word_before = begin > 0 && is_word(decode_char(text, start_of_char_before(text, begin)).code);
  const bool word_after = end < text.size() && is_word(decode_char(text, end).code);
  return !word_before && !word_after;
}

}  // namespace

Result<AddedTokens> AddedTokens::make(const std::vector<AddedToken>& added, bool normalized,
                                      const Normalizer& normalizer) {
  AddedTokens tokens;
  for (const AddedToken& t : added) {
    if (t.normalized != normalized) continue;
    std::string text = t.text;
    if (normalized && !normalizer.empty()) {
      NEREID_TRY(text, normalizer.run(t.text, true));
    }
    if (text.empty()) continue;
    tokens.matcher_.add(text, static_cast<int32_t>(tokens.rules_.size()));
    tokens.rules_.push_back({t.id, t.special, t.left_strip, t.right_strip, t.single_word});
  }
  tokens.matcher_.build();
  return tokens;
}

void AddedTokens::split(std::string_view text, bool parse_special, std::vector<Segment>& segments) const {
  const auto accept = [&](const LiteralMatcher::Match& m) {
    const Rule& rule = rules_[static_cast<size_t>(m.value)];
    if (rule.special && !parse_special) return false;
    return !rule.single_word || stands_alone(text, m.begin, m.begin + m.size);
  };
  size_t done = 0;
  for (;;) {
    const LiteralMatcher::Match m = matcher_.find(text, done, accept);
    if (m.size == 0) break;
    const Rule& rule = rules_[static_cast<size_t>(m.value)];
    size_t begin = m.begin, end = m.begin + m.size;
    while (rule.left_strip && begin > done) {
      const size_t before = start_of_char_before(text, begin);
      if (!is_whitespace(decode_char(text, before).code)) break;
      begin = before;
    }
    while (rule.right_strip && end < text.size()) {
      const Char c = decode_char(text, end);
      if (!is_whitespace(c.code)) break;
      end += c.size;
    }
    if (begin > done) segments.push_back({kNoToken, text.substr(done, begin - done)});
    segments.push_back({rule.id, text.substr(begin, end - begin)});
    done = end;
  }
  if (done < text.size()) segments.push_back({kNoToken, text.substr(done)});
}

}  // namespace nereid::token
