// SPDX-License-Identifier: Apache-2.0
#include "llm/run/row_draws.h"

#include <algorithm>

#include "llm/sample/grammar.h"

namespace nereid::llm {
namespace {

namespace gpu = kernels::cuda;

// More edits in a step than are worth sending (a penalty over a long history): the rows behind go by their logits.
constexpr size_t kMostEdits = size_t{1} << 17;

}  // namespace

void RowDraws::clear() {
  rules_.clear();
  edits_.clear();
  masks_.clear();
  mask_count_ = 0;
  wants_tops_ = false;
}

int32_t RowDraws::add_mask(std::span<const uint32_t> grammar, std::span<const uint32_t> allowed, size_t vocabulary) {
  if (grammar.empty() && allowed.empty()) return -1;
  const size_t words = sample::mask_words(vocabulary), begin = masks_.size();
  masks_.resize(begin + words);
  // A mask that ends before the vocabulary allows nothing behind.
  const auto word = [](std::span<const uint32_t> mask, size_t w) {
    return mask.empty() ? ~uint32_t{0} : w < mask.size() ? mask[w] : 0;
  };
  for (size_t w = 0; w < words; ++w) masks_[begin + w] = word(grammar, w) & word(allowed, w);
  return mask_count_++;
}

int32_t RowDraws::add(Answer& answer, int32_t row, size_t vocabulary) {
  if (!answer.describe(vocabulary, kLimits, &draw_)) return -1;
  return add(draw_, answer.mask(), row, vocabulary);
}

int32_t RowDraws::add(const sample::RemoteDraw& draw, std::span<const uint32_t> grammar, int32_t row,
                      size_t vocabulary) {
  if (static_cast<int64_t>(vocabulary) > gpu::kDrawVocabulary || edits_.size() + draw.edits.size() > kMostEdits)
    return -1;
  gpu::DrawRule rule{.uniform = draw.uniform,
                     .kind = draw.is_greedy     ? gpu::DrawKind::kGreedy
                             : draw.has_filters ? gpu::DrawKind::kFiltered
                                                : gpu::DrawKind::kAny,
                     .row = row,
                     .top_k = draw.top_k,
                     .top_p = draw.top_p,
                     .log_min_p = draw.log_min_p,
                     .temperature = draw.temperature,
                     .logprobs = draw.logprobs,
                     .mask = add_mask(grammar, draw.allowed, vocabulary),
                     .first_edit = static_cast<int32_t>(edits_.size())};
  for (const sample::LogitEdit& e : draw.edits)
    if (static_cast<size_t>(e.token) < vocabulary)
      edits_.push_back({.token = e.token, .add = e.add, .factor = e.factor, .less = e.less});
  rule.edits = static_cast<int32_t>(edits_.size()) - rule.first_edit;
  wants_tops_ |= rule.logprobs > 0;
  rules_.push_back(rule);
  return static_cast<int32_t>(rules_.size()) - 1;
}

sample::SampleResult RowDraws::result(const runtime::DrawnRows& drawn, int32_t draw) const {
  const auto at = static_cast<size_t>(draw);
  sample::SampleResult out;
  out.token = drawn.tokens[at];
  out.logprob = drawn.logprobs[at];
  const gpu::DrawRule& rule = rules_[at];
  for (size_t i = 0; static_cast<int32_t>(i) < rule.logprobs; ++i) {
    const size_t place = at * gpu::kDrawTops + i;
    if (drawn.top_tokens[place] < 0) break;
    out.top.push_back({drawn.top_tokens[place], drawn.top_logprobs[place]});
  }
  return out;
}

}  // namespace nereid::llm
