// SPDX-License-Identifier: Apache-2.0
// What keeps a text from repeating itself: DRY ("don't repeat yourself", p-e-w 2024) and the ban of repeated n-grams.
#include <algorithm>
#include <limits>

#include "llm/sample/steps.h"

namespace nereid::sample {
namespace {

// How many of the last tokens come after the latest sequence breaker: no repeat may be longer. A breaker may lie in one
// token or across several.
size_t after_breaker(const LogitContext& c, std::span<const int32_t> tokens) {
  size_t longest = 0;
  for (const std::string& breaker : c.params.dry_sequence_breakers) longest = std::max(longest, breaker.size());
  if (longest == 0) return tokens.size();
  std::string& text = c.scratch->text;
  for (size_t i = tokens.size(); i-- > 0;) {
    // A breaker that ends in token i begins at most longest - 1 bytes before it.
    const size_t own = c.vocabulary->piece(tokens[i]).size();
    size_t first = i;
    for (size_t bytes = 0; first > 0 && bytes + 1 < longest;) bytes += c.vocabulary->piece(tokens[--first]).size();
    text.clear();
    for (size_t j = first; j <= i; ++j) text += c.vocabulary->piece(tokens[j]);
    for (const std::string& breaker : c.params.dry_sequence_breakers) {
      const size_t at = text.rfind(breaker);
      if (own > 0 && at != std::string::npos && at + breaker.size() > text.size() - own) return tokens.size() - 1 - i;
    }
  }
  return tokens.size();
}

// lengths[i]: how many tokens before and at i equal, one by one, those at the end; by the Z algorithm, backwards.
void common_ends(std::span<const int32_t> tokens, std::vector<int32_t>* lengths) {
  const size_t n = tokens.size();
  lengths->assign(n, 0);
  auto at = [&](size_t i) { return tokens[n - 1 - i]; };  // from the end
  size_t left = 0, right = 0;                             // [left, right): the match that reaches furthest
  for (size_t i = 1; i < n; ++i) {
    size_t k = 0;
    if (i < right) k = std::min(right - i, static_cast<size_t>((*lengths)[n - 1 - (i - left)]));
    while (i + k < n && at(k) == at(i + k)) ++k;
    (*lengths)[n - 1 - i] = static_cast<int32_t>(k);
    if (i + k > right) {
      left = i;
      right = i + k;
    }
  }
}

// base^n by multiplication, so that it is the same everywhere; stops at the largest float.
float power(float base, int32_t n) {
  double value = 1;
  for (int32_t i = 0; i < n && value < std::numeric_limits<float>::max(); ++i) value *= base;
  return static_cast<float>(std::min<double>(value, std::numeric_limits<float>::max()));
}

}  // namespace

// A token that would make a repeat of length L + 1 out of one of length L >= allowed loses multiplier * base^(L -
// allowed); of several repeats that it would go on with, the longest counts.
void apply_dry(LogitContext& c) {
  const SamplingParams& p = c.params;
  std::span<const int32_t> tokens = c.history;
  if (p.dry_penalty_last_n >= 0)
    tokens = tokens.last(std::min(tokens.size(), static_cast<size_t>(p.dry_penalty_last_n)));
  const auto allowed = static_cast<size_t>(p.dry_allowed_length);
  if (tokens.size() <= allowed) return;
  const size_t limit = after_breaker(c, tokens);
  if (limit < allowed) return;
  std::vector<int32_t>& lengths = c.scratch->lengths;
  common_ends(tokens, &lengths);
  // (token that follows, length), the longest of a token first.
  std::vector<int32_t>& repeats = c.scratch->tokens;
  repeats.clear();
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    const size_t length = std::min(static_cast<size_t>(lengths[i]), limit);
    if (length >= allowed) repeats.push_back(static_cast<int32_t>(i));
  }
  auto length_at = [&](int32_t i) { return std::min(static_cast<size_t>(lengths[static_cast<size_t>(i)]), limit); };
  auto next_of = [&](int32_t i) { return tokens[static_cast<size_t>(i) + 1]; };
  std::sort(repeats.begin(), repeats.end(), [&](int32_t a, int32_t b) {
    return next_of(a) != next_of(b) ? next_of(a) < next_of(b) : length_at(a) > length_at(b);
  });
  for (size_t i = 0; i < repeats.size(); ++i) {
    const int32_t token = next_of(repeats[i]);
    if (i > 0 && next_of(repeats[i - 1]) == token) continue;
    if (token < 0 || static_cast<size_t>(token) >= c.logits.size()) continue;
    const auto further = static_cast<int32_t>(length_at(repeats[i]) - allowed);
    c.logits[static_cast<size_t>(token)] -= std::min(p.dry_multiplier * power(p.dry_base, further), 1e30F);
  }
}

// Where the last n - 1 tokens stood before, what followed them is banned.
void ban_repeated_ngrams(LogitContext& c) {
  const auto n = static_cast<size_t>(c.params.no_repeat_ngram_size);
  const std::span<const int32_t> tokens = c.history;
  if (tokens.size() < n) return;
  const std::span<const int32_t> end = tokens.last(n - 1);
  for (size_t i = 0; i + n <= tokens.size(); ++i) {
    if (std::equal(end.begin(), end.end(), tokens.begin() + static_cast<std::ptrdiff_t>(i)))
      ban(c.logits, tokens[i + n - 1]);
  }
}

}  // namespace nereid::sample
