// SPDX-License-Identifier: Apache-2.0
// Logit bias, and the bans that are a bias of -inf: tokens that are not allowed, end tokens, bad tokens and words.
#include <limits>

#include "llm/sample/logits.h"
#include "llm/sample/steps.h"

namespace nereid::sample {
namespace {

// Bits 0..31 as 32 lanes of all ones or none: a select without branches.
void apply_word(uint32_t bits, float* logits) {
  for (int i = 0; i < 32; ++i) logits[i] = (bits >> i & 1) != 0 ? logits[i] : kNegativeInfinity;
}

std::span<const int32_t> answer_of(const LogitContext& c) {
  return c.history.last(std::min<size_t>(c.history.size(), c.step));
}

}  // namespace

void apply_mask(std::span<const uint32_t> mask, std::span<float> logits) {
  const size_t words = std::min(mask.size(), logits.size() / 32);
  for (size_t w = 0; w < words; ++w) {
    if (mask[w] == 0xFFFFFFFFU) continue;
    apply_word(mask[w], logits.data() + 32 * w);
  }
  for (size_t t = 32 * words; t < logits.size(); ++t) {
    const bool allowed = t / 32 < mask.size() && (mask[t / 32] >> (t % 32) & 1) != 0;
    if (!allowed) logits[t] = kNegativeInfinity;
  }
}

void apply_bias(LogitContext& c) {
  for (const auto& [token, bias] : c.params.logit_bias) {
    if (static_cast<size_t>(token) < c.logits.size()) c.logits[static_cast<size_t>(token)] += bias;
  }
}

void allow_only(LogitContext& c) {
  apply_mask(c.allowed, c.logits);
}

void ban_end_tokens(LogitContext& c) {
  if (c.params.ignore_eos == 0 && c.step >= static_cast<uint64_t>(c.params.min_tokens)) return;
  for (int32_t token : c.end_tokens) ban(c.logits, token);
}

void ban_bad_tokens(LogitContext& c) {
  const std::span<const int32_t> answer = answer_of(c);
  for (const std::vector<int32_t>& sequence : c.params.bad_token_ids) {
    const size_t before = sequence.size() - 1;
    if (before > answer.size()) continue;
    if (std::equal(sequence.begin(), sequence.end() - 1, answer.end() - static_cast<std::ptrdiff_t>(before)))
      ban(c.logits, sequence.back());
  }
}

void ban_bad_words(LogitContext& c) {
  const std::span<const int32_t> answer = answer_of(c);
  size_t first = answer.size();
  for (size_t bytes = 0; first > 0 && bytes < c.bad_words->tail_bytes();)
    bytes += c.vocabulary->piece(answer[--first]).size();
  std::string& tail = c.scratch->text;
  tail.clear();
  for (; first < answer.size(); ++first) tail += c.vocabulary->piece(answer[first]);
  c.bad_words->for_each(tail, [&](int32_t token) { ban(c.logits, token); });
}

}  // namespace nereid::sample
