// SPDX-License-Identifier: Apache-2.0
// draw m= n= kind=greedy|any|filtered [k=] [p=] [min_p=] [t=] [logprobs=] [edits=1] [mask=1]: m rows of n logits, each
// drawn from once, against sorting and summing in doubles on the host. The error is the number of wrong tokens,
// log-probabilities and edits that were left in the logits.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/cuda/draw_rows.h"
#include "kernels/cuda/harness/harness.h"

namespace nereid::kernels::cuda::harness {
namespace {

struct One {
  int32_t token;
  float logit;
};
bool is_better(const One& a, const One& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
}

struct DrawData {
  Array logits, rules_up, edits_up, masks_up, tokens, logprobs, top_tokens, top_logprobs;
  std::vector<DrawRule> rules;
  std::vector<DrawEdit> edits;
  std::vector<uint32_t> masks;
  int64_t rows, vocab, stride;
};

double logprob_error(const float* raw, int64_t vocab, int32_t token, float got) {
  double sum = 0;
  for (int64_t i = 0; i < vocab; ++i) sum += std::exp(static_cast<double>(raw[i]));
  return std::fabs(got - (raw[token] - std::log(sum))) < 1e-4 ? 0 : 1;
}

int32_t drawn_on_host(const DrawData& d, const DrawRule& rule, const float* raw) {
  std::vector<One> left;
  for (int32_t i = 0; i < d.vocab; ++i) {
    float x = raw[i];
    for (int e = 0; e < rule.edits; ++e) {
      const DrawEdit& edit = d.edits[static_cast<size_t>(rule.first_edit + e)];
      if (edit.token != i) continue;
      x += edit.add;
      x = (x > 0 ? x / edit.factor : x * edit.factor) - edit.less;
    }
    const bool is_allowed = rule.mask < 0 || (d.masks[static_cast<size_t>(i / 32)] >> (i % 32) & 1) != 0;
    if (is_allowed && x > -INFINITY) left.push_back({i, x});
  }
  const One best = *std::min_element(left.begin(), left.end(), is_better);
  if (rule.kind == DrawKind::kGreedy) return best.token;
  const auto weight = [&](const One& one) { return std::exp(static_cast<double>(one.logit) - best.logit); };
  if (rule.top_k > 0) {
    std::sort(left.begin(), left.end(), is_better);
    left.resize(std::min(left.size(), static_cast<size_t>(rule.top_k)));
  }
  if (rule.top_p < 1) {
    std::vector<One> sorted = left;
    std::sort(sorted.begin(), sorted.end(), is_better);
    double sum = 0, so_far = 0;
    for (const One& one : sorted) sum += weight(one);
    size_t kept = 0;
    while (kept < sorted.size() && (kept == 0 || so_far < sum * rule.top_p)) so_far += weight(sorted[kept++]);
    sorted.resize(kept);
    // In what order they are drawn from: whole bins of 1/16 by token, then the last one's best first (llm/sample).
    const auto bin = [&](const One& one) { return static_cast<int>((best.logit - one.logit) * 16.0f); };
    if (rule.top_k == 0) {
      const int border = bin(sorted.back());
      std::stable_sort(sorted.begin(), sorted.end(), [&](const One& a, const One& b) {
        const bool ina = bin(a) < border, inb = bin(b) < border;
        return ina != inb ? ina : ina && a.token < b.token;
      });
    }
    left = sorted;
  }
  std::erase_if(left, [&](const One& one) { return one.logit < best.logit + rule.log_min_p; });
  double sum = 0;
  for (const One& one : left) sum += std::pow(weight(one), 1.0 / rule.temperature);
  double target = rule.uniform * sum;
  size_t at = 0;
  while (at + 1 < left.size() && (target -= std::pow(weight(left[at]), 1.0 / rule.temperature)) >= 0) ++at;
  return left[at].token;
}

}  // namespace

Case draw_case(const CaseLine& line) {
  auto d = std::make_shared<DrawData>();
  d->rows = line.number("m", 1), d->vocab = line.number("n", 128256), d->stride = (d->vocab + 7) / 8 * 8;
  d->logits = Array::random(Element::kF32, d->rows * d->stride, 5, 1.0f);
  // Cubed, so that some stand out as those of a model do.
  const std::vector<double> values = d->logits.on_host();
  std::vector<float> floats(values.size());
  for (size_t i = 0; i < values.size(); ++i)
    floats[i] = static_cast<float>(12 * values[i] * values[i] * values[i] * values[i] * values[i]);
  ok(cudaMemcpy(d->logits.data(), floats.data(), floats.size() * 4, cudaMemcpyHostToDevice), "cudaMemcpy");
  const std::string kind = line.word("kind", "greedy");
  const double min_p = std::atof(line.word("min_p", "0").c_str());
  for (int64_t r = 0; r < d->rows; ++r) {
    DrawRule rule{.uniform = std::fmod(0.37 + 0.61803398875 * static_cast<double>(r), 1.0),
                  .kind = kind == "any"        ? DrawKind::kAny
                          : kind == "filtered" ? DrawKind::kFiltered
                                               : DrawKind::kGreedy,
                  .row = static_cast<int32_t>(r),
                  .top_k = static_cast<int32_t>(line.number("k", 0)),
                  .top_p = static_cast<float>(std::atof(line.word("p", "1").c_str())),
                  .temperature = static_cast<float>(std::atof(line.word("t", "0.8").c_str())),
                  .logprobs = static_cast<int32_t>(line.number("logprobs", -1)),
                  .mask = line.number("mask", 0) != 0 ? 0 : -1,
                  .first_edit = static_cast<int32_t>(d->edits.size())};
    if (min_p > 0) rule.log_min_p = static_cast<float>(std::log(min_p));
    for (int i = 0; i < 64 && line.number("edits", 0) != 0; ++i)
      d->edits.push_back({.token = static_cast<int32_t>((i * 7919 + r) % d->vocab),
                          .add = i % 3 == 0 ? 4.0f : 0.0f,
                          .factor = 1.25f,
                          .less = 0.5f});
    rule.edits = static_cast<int32_t>(d->edits.size()) - rule.first_edit;
    d->rules.push_back(rule);
  }
  d->masks.assign(static_cast<size_t>((d->vocab + 31) / 32), 0x5a5a1234u);
  d->rules_up = Array::of(d->rules);
  d->edits_up = Array::of(d->edits.empty() ? std::vector<DrawEdit>(1) : d->edits);
  d->masks_up = Array::of(d->masks);
  d->tokens = Array(Element::kF32, d->rows), d->logprobs = Array(Element::kF32, d->rows);
  d->top_tokens = Array(Element::kF32, d->rows * kDrawTops),
  d->top_logprobs = Array(Element::kF32, d->rows * kDrawTops);
  const DrawRowsParams p{.logits = d->logits.as<float>(),
                         .stride = d->stride,
                         .vocab = d->vocab,
                         .draws = d->rows,
                         .rules = d->rules_up.as<DrawRule>(),
                         .edits = d->edits_up.as<DrawEdit>(),
                         .masks = d->masks_up.as<uint32_t>(),
                         .tokens = d->tokens.as<int32_t>(),
                         .logprobs = d->logprobs.as<float>(),
                         .top_tokens = d->top_tokens.as<int32_t>(),
                         .top_logprobs = d->top_logprobs.as<float>()};
  Case c;
  c.bytes = static_cast<double>(d->rows * d->vocab * 4);
  c.run = [d, p](int, const Queue& queue) { draw_rows(p, queue); };
  c.error = [d, floats] {
    const std::vector<char> tokens = d->tokens.bytes_on_host(), after = d->logits.bytes_on_host(),
                            tops = d->top_tokens.bytes_on_host();
    const std::vector<double> logprobs = d->logprobs.on_host();
    double wrong = std::memcmp(after.data(), floats.data(), after.size()) != 0 ? 1 : 0;
    for (int64_t r = 0; r < d->rows; ++r) {
      const DrawRule& rule = d->rules[static_cast<size_t>(r)];
      const float* raw = floats.data() + r * d->stride;
      const int32_t got = reinterpret_cast<const int32_t*>(tokens.data())[r], want = drawn_on_host(*d, rule, raw);
      if (got != want) std::printf("\n  row %lld: token %d, wanted %d", static_cast<long long>(r), got, want);
      wrong += got != want ? 1 : 0;
      if (rule.logprobs < 0 || got < 0) continue;
      wrong += logprob_error(raw, d->vocab, got, static_cast<float>(logprobs[static_cast<size_t>(r)]));
      std::vector<One> all;
      for (int32_t i = 0; i < d->vocab; ++i) all.push_back({i, raw[i]});
      std::partial_sort(all.begin(), all.begin() + kDrawTops, all.end(), is_better);
      for (int i = 0; i < rule.logprobs; ++i)
        wrong += reinterpret_cast<const int32_t*>(tops.data())[r * kDrawTops + i] != all[static_cast<size_t>(i)].token;
    }
    return wrong;
  };
  return c;
}

}  // namespace nereid::kernels::cuda::harness
