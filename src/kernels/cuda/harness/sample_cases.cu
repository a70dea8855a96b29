// SPDX-License-Identifier: Apache-2.0
// argmax m= n=, top_k m= n= k=: against a sort on the host; ties are planted.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/cuda/harness/harness.h"
#include "kernels/cuda/sample.h"

namespace nereid::kernels::cuda::harness {
namespace {

struct SampleData {
  Array logits, ids, values, sums, workspace;
  int64_t rows, vocab, stride;
  int k;
};

std::shared_ptr<SampleData> make_data(const CaseLine& line, int k) {
  auto d = std::make_shared<SampleData>();
  d->rows = line.number("m", 1), d->vocab = line.number("n", 125696), d->k = k;
  d->stride = (d->vocab + 7) / 8 * 8;
  // f16 values: many ties.
  const Array rough = Array::random(Element::kF16, d->rows * d->stride, 3, 8.0f);
  const std::vector<double> values = rough.on_host();
  std::vector<float> floats(values.begin(), values.end());
  d->logits = Array(Element::kF32, d->rows * d->stride);
  ok(cudaMemcpy(d->logits.data(), floats.data(), floats.size() * 4, cudaMemcpyHostToDevice), "cudaMemcpy");
  d->ids = Array(Element::kF32, d->rows * k), d->values = Array(Element::kF32, d->rows * k),
  d->sums = Array(Element::kF32, d->rows);
  d->ids.fill(0xff), d->values.fill(0xff);
  d->workspace = Array(Element::kF8E4M3, 16 * d->rows);
  d->workspace.fill(0);
  return d;
}

double errors(const SampleData& d, bool with_sums) {
  const std::vector<double> logits = d.logits.on_host(), values = d.values.on_host(), sums = d.sums.on_host();
  const std::vector<char> ids = d.ids.bytes_on_host();
  double wrong = 0;
  for (int64_t r = 0; r < d.rows; ++r) {
    const double* row = logits.data() + r * d.stride;
    std::vector<int32_t> order(static_cast<size_t>(d.vocab));
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + d.k, order.end(),
                      [&](int32_t a, int32_t b) { return row[a] != row[b] ? row[a] > row[b] : a < b; });
    double sum = 0;
    for (int64_t i = 0; i < d.vocab; ++i) sum += std::exp(row[i] - row[order[0]]);
    for (int i = 0; i < d.k; ++i) {
      const size_t at = static_cast<size_t>(r * d.k + i);
      wrong += reinterpret_cast<const int32_t*>(ids.data())[at] != order[static_cast<size_t>(i)] ? 1 : 0;
      wrong += values[at] != row[order[static_cast<size_t>(i)]] ? 1 : 0;
    }
    if (with_sums) wrong += std::fabs(sums[static_cast<size_t>(r)] - (row[order[0]] + std::log(sum))) < 1e-4 ? 0 : 1;
  }
  return wrong;
}

}  // namespace

Case argmax_case(const CaseLine& line) {
  auto d = make_data(line, 1);
  const ArgmaxParams p = {.logits = d->logits.as<float>(),
                          .stride = d->stride,
                          .rows = d->rows,
                          .vocab = d->vocab,
                          .ids = d->ids.as<int32_t>(),
                          .values = d->values.as<float>(),
                          .workspace = d->workspace.data()};
  Case c;
  c.bytes = static_cast<double>(d->logits.bytes());
  c.run = [d, p](int, const Queue& queue) { argmax(p, queue); };
  c.error = [d] { return errors(*d, false); };
  return c;
}

Case top_k_case(const CaseLine& line) {
  auto d = make_data(line, static_cast<int>(line.number("k", 40)));
  const TopKParams p = {.logits = d->logits.as<float>(),
                        .stride = d->stride,
                        .rows = d->rows,
                        .vocab = d->vocab,
                        .k = d->k,
                        .ids = d->ids.as<int32_t>(),
                        .values = d->values.as<float>(),
                        .log_sum_exp = d->sums.as<float>()};
  Case c;
  c.bytes = static_cast<double>(d->logits.bytes());
  c.run = [d, p](int, const Queue& queue) { top_k(p, queue); };
  c.error = [d] { return errors(*d, true); };
  return c;
}

}  // namespace nereid::kernels::cuda::harness
