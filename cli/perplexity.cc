// SPDX-License-Identifier: Apache-2.0
#include "cli/perplexity.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/interrupt.h"

namespace nereid::cli {

double log_probability(std::span<const float> logits, int32_t token) {
  const double best = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - best);
  return logits[static_cast<size_t>(token)] - best - std::log(sum);
}

Result<Perplexity> perplexity(llm::LanguageModel& model, ThreadPool& pool, std::span<const int32_t> tokens,
                              const std::function<void(int64_t done, int64_t total)>& progress) {
  const int64_t windows = static_cast<int64_t>(tokens.size()) / kPerplexityWindow;
  if (windows == 0)
    return invalid_argument("the text has {} tokens; a perplexity needs at least one window of {}", tokens.size(),
                            kPerplexityWindow);
  if (model.context_tokens() < kPerplexityWindow)
    return invalid_argument("the context of {} tokens is shorter than the window of {} that a perplexity needs",
                            model.context_tokens(), kPerplexityWindow);
  const std::vector<int32_t>& prefix = model.tokenizer().spec().prefix_ids;
  const int32_t bos = model.tokenizer().bos_id();
  const bool begins_with_bos = bos >= 0 && std::find(prefix.begin(), prefix.end(), bos) != prefix.end();

  std::vector<int32_t> positions(kPerplexityWindow), rows(kPerplexityOutputs - 1);
  const std::vector<int32_t> sequences(kPerplexityWindow, 0);
  std::iota(positions.begin(), positions.end(), 0);
  std::iota(rows.begin(), rows.end(), static_cast<int32_t>(kPerplexityWindow - kPerplexityOutputs));
  std::vector<double> scores(rows.size());
  Perplexity result;
  double total = 0;
  for (int64_t i = 0; i < windows; ++i) {
    NEREID_RETURN_IF_ERROR(check_interrupted());
    const auto part = tokens.subspan(static_cast<size_t>(i * kPerplexityWindow), kPerplexityWindow);
    std::vector<int32_t> window(part.begin(), part.end());
    if (begins_with_bos) window[0] = bos;
    NEREID_RETURN_IF_ERROR(model.step({window, positions, sequences, rows}));
    pool.run([&](Worker& w) {
      const auto [begin, end] = w.slice(static_cast<int64_t>(rows.size()));
      for (int64_t r = begin; r < end; ++r) {
        const auto at = static_cast<size_t>(r);
        scores[at] = log_probability(model.logits(r), window[static_cast<size_t>(rows[at]) + 1]);
      }
    });
    total = std::accumulate(scores.begin(), scores.end(), total);
    result.tokens += static_cast<int64_t>(scores.size());
    if (progress) progress(i + 1, windows);
  }
  result.value = std::exp(-total / static_cast<double>(result.tokens));
  return result;
}

}  // namespace nereid::cli
