// SPDX-License-Identifier: Apache-2.0
#include "llm/run/pool_rows.h"

#include <algorithm>
#include <cmath>

namespace nereid::llm {
namespace {

using compile::Pooling;

void append_mean(Pooling pooling, const float* rows, int64_t stride, int64_t size, int64_t width,
                 std::vector<float>* out) {
  std::vector<double> sums(static_cast<size_t>(width), 0.0);
  double weights = 0;
  for (int64_t t = 0; t < size; ++t) {
    const double weight = pooling == Pooling::kWeightedMean ? static_cast<double>(t + 1) : 1.0;
    const float* row = rows + t * stride;
    weights += weight;
    for (int64_t i = 0; i < width; ++i) sums[static_cast<size_t>(i)] += weight * static_cast<double>(row[i]);
  }
  const double divisor = pooling == Pooling::kMeanSqrt ? std::sqrt(weights) : weights;
  for (const double sum : sums) out->push_back(static_cast<float>(sum / divisor));
}

}  // namespace

void pool_rows(Pooling pooling, const float* rows, int64_t stride, int64_t size, int64_t width,
               std::vector<float>* out) {
  switch (pooling) {
    case Pooling::kMean:
    case Pooling::kMeanSqrt:
    case Pooling::kWeightedMean:
      return append_mean(pooling, rows, stride, size, width, out);
    case Pooling::kCls:
      out->insert(out->end(), rows, rows + width);
      return;
    case Pooling::kLast:
      out->insert(out->end(), rows + (size - 1) * stride, rows + (size - 1) * stride + width);
      return;
    case Pooling::kMax:
      break;
  }
  const size_t first = out->size();
  out->insert(out->end(), rows, rows + width);
  for (int64_t t = 1; t < size; ++t)
    for (int64_t i = 0; i < width; ++i) {
      float& most = (*out)[first + static_cast<size_t>(i)];
      most = std::max(most, rows[t * stride + i]);
    }
}

void normalize_length(std::vector<float>* values) {
  double squares = 0;
  for (const float v : *values) squares += static_cast<double>(v) * static_cast<double>(v);
  if (squares == 0) return;
  const double scale = 1 / std::sqrt(squares);
  for (float& v : *values) v = static_cast<float>(static_cast<double>(v) * scale);
}

}  // namespace nereid::llm
