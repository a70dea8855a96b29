// SPDX-License-Identifier: Apache-2.0
// Lanes of independent accumulators: what a vector unit wants, spelled out.
#include "llm/sample/logits.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace nereid::sample {
namespace {

constexpr size_t kLanes = 16;       // floats a round of max_of
constexpr size_t kBlock = 1024;     // argmax looks for the place only in the first block that has the maximum
constexpr size_t kSmallBlock = 64;  // selection: one maximum each
constexpr size_t kSumLanes = 8;

// Four floats that GCC and Clang keep in one register; left to itself GCC takes the maximum one float at a time.
using Float4 = float __attribute__((vector_size(16)));

inline Float4 load(const float* from) {
  Float4 v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}

// b where a is NaN.
inline Float4 greater(Float4 a, Float4 b) {
  return a > b ? a : b;
}

// 2^n times a polynomial on [-ln2/2, ln2/2] (the Taylor series; its degree leaves less than a rounding error).
inline float exp_inline(float x) {
  constexpr float kLog2E = 1.44269504F;
  constexpr float kLn2High = 0.693359375F;  // few bits, so that n * kLn2High is exact
  constexpr float kLn2Low = -2.12194440e-4F;
  constexpr float kRound = 12582912.0F;  // 1.5 * 2^23: adding it rounds to a whole number
  const float clamped = x > -87.0F ? x : -87.0F;
  const float shifted = clamped * kLog2E + kRound;
  const float n = shifted - kRound;
  const float r = (clamped - n * kLn2High) - n * kLn2Low;
  float p = 1.98412698e-4F;
  p = p * r + 1.38888889e-3F;
  p = p * r + 8.33333333e-3F;
  p = p * r + 4.16666667e-2F;
  p = p * r + 1.66666667e-1F;
  p = p * r + 0.5F;
  p = p * r + 1.0F;
  p = p * r + 1.0F;
  const uint32_t exponent = (std::bit_cast<uint32_t>(shifted) << 23);
  const float value = std::bit_cast<float>(std::bit_cast<uint32_t>(p) + exponent);
  return x > -87.0F ? value : 0.0F;
}

}  // namespace

float max_of(std::span<const float> logits) {
  Float4 a, b, c, d;
  a = b = c = d = Float4{} + kNegativeInfinity;
  const size_t whole = logits.size() / kLanes * kLanes;
  const float* x = logits.data();
  for (size_t i = 0; i < whole; i += kLanes) {
    a = greater(load(x + i), a);
    b = greater(load(x + i + 4), b);
    c = greater(load(x + i + 8), c);
    d = greater(load(x + i + 12), d);
  }
  a = greater(greater(a, b), greater(c, d));
  float best = std::max(std::max(a[0], a[1]), std::max(a[2], a[3]));
  for (size_t i = whole; i < logits.size(); ++i) best = x[i] > best ? x[i] : best;
  return best;
}

int32_t argmax(std::span<const float> logits) {
  float best = kNegativeInfinity;
  size_t best_block = logits.size();
  for (size_t at = 0; at < logits.size(); at += kBlock) {
    const float m = max_of(logits.subspan(at, std::min(kBlock, logits.size() - at)));
    if (m > best) {
      best = m;
      best_block = at;
    }
  }
  for (size_t i = best_block; i < logits.size(); ++i) {
    if (logits[i] == best) return static_cast<int32_t>(i);
  }
  return -1;
}

float exp_of(float x) {
  return exp_inline(x);
}

void exp_all(std::span<float> values, float shift, float scale) {
  float* x = values.data();
  for (size_t i = 0; i < values.size(); ++i) x[i] = exp_inline((x[i] - shift) * scale);
}

double sum_of(std::span<const float> values) {
  std::array<double, kSumLanes> lane{};
  const size_t whole = values.size() / kSumLanes * kSumLanes;
  const float* x = values.data();
  for (size_t i = 0; i < whole; i += kSumLanes) {
    for (size_t j = 0; j < kSumLanes; ++j) lane[j] += x[i + j];
  }
  double sum = 0;
  for (size_t i = whole; i < values.size(); ++i) sum += x[i];
  for (double v : lane) sum += v;
  return sum;
}

double log_sum_exp(std::span<const float> logits) {
  const float m = max_of(logits);
  if (std::isinf(m)) return m;
  double sum = 0;
  std::array<float, kBlock> block;
  for (size_t at = 0; at < logits.size(); at += kBlock) {
    const size_t n = std::min(kBlock, logits.size() - at);
    std::copy_n(logits.begin() + static_cast<std::ptrdiff_t>(at), n, block.begin());
    exp_all(std::span(block).first(n), m, 1.0F);
    sum += sum_of(std::span(block).first(n));
  }
  return m + std::log(sum);
}

void select_top(std::span<const float> logits, size_t k, std::vector<float>* scratch, std::vector<Candidate>* out) {
  out->clear();
  if (k == 0) return;
  const size_t blocks = (logits.size() + kSmallBlock - 1) / kSmallBlock;
  float bound = kNegativeInfinity;
  if (k <= blocks) {
    scratch->resize(2 * blocks);
    for (size_t b = 0; b < blocks; ++b) {
      const size_t at = b * kSmallBlock;
      (*scratch)[b] = max_of(logits.subspan(at, std::min(kSmallBlock, logits.size() - at)));
    }
    const auto maxima = scratch->begin();
    const auto order = maxima + static_cast<std::ptrdiff_t>(blocks);
    std::copy(maxima, order, order);
    std::nth_element(order, order + static_cast<std::ptrdiff_t>(k - 1), scratch->end(), std::greater<>());
    bound = order[static_cast<std::ptrdiff_t>(k - 1)];
  }
  for (size_t b = 0; b < blocks; ++b) {
    if (k <= blocks && (*scratch)[b] < bound) continue;
    const size_t end = std::min((b + 1) * kSmallBlock, logits.size());
    for (size_t i = b * kSmallBlock; i < end; ++i) {
      if (logits[i] >= bound && logits[i] > kNegativeInfinity) out->push_back({static_cast<int32_t>(i), logits[i]});
    }
  }
  if (out->size() > k) {
    std::nth_element(out->begin(), out->begin() + static_cast<std::ptrdiff_t>(k - 1), out->end(), is_better);
    out->resize(k);
  }
  std::sort(out->begin(), out->end(), is_better);
}

void gather_above(std::span<const float> logits, float bound, std::vector<Candidate>* out) {
  const float least = std::max(bound, std::numeric_limits<float>::lowest());  // -inf never counts
  size_t n = 0;
  for (size_t at = 0; at < logits.size(); at += kSmallBlock) {
    const auto block = logits.subspan(at, std::min(kSmallBlock, logits.size() - at));
    if (max_of(block) < least) continue;
    if (out->size() < n + kSmallBlock) out->resize(std::max(2 * out->size(), n + 16 * kSmallBlock));
    Candidate* to = out->data();
    for (size_t i = 0; i < block.size(); ++i) {  // without a branch: an item that does not count is written over
      to[n] = {static_cast<int32_t>(at + i), block[i]};
      n += block[i] >= least ? 1 : 0;
    }
  }
  out->resize(n);
}

Moments moments_of(std::span<const float> logits) {
  std::array<double, kSumLanes> sum{};
  std::array<double, kSumLanes> squares{};
  std::array<double, kSumLanes> count{};
  auto pass = [&](auto add) {
    const size_t whole = logits.size() / kSumLanes * kSumLanes;
    const float* x = logits.data();
    for (size_t i = 0; i < whole; i += kSumLanes)
      for (size_t j = 0; j < kSumLanes; ++j) add(j, x[i + j]);
    for (size_t i = whole; i < logits.size(); ++i) add(i - whole, x[i]);
  };
  auto total = [](const std::array<double, kSumLanes>& lanes) {
    double t = 0;
    for (double v : lanes) t += v;
    return t;
  };
  pass([&](size_t j, float x) {
    const float counted = x > kNegativeInfinity ? x : 0.0F;
    sum[j] += counted;
    count[j] += x > kNegativeInfinity ? 1.0F : 0.0F;
  });
  Moments m;
  m.count = static_cast<size_t>(total(count));
  if (m.count == 0) return m;
  m.mean = total(sum) / static_cast<double>(m.count);
  const double mean = m.mean;
  pass([&](size_t j, float x) {
    const double d = x > kNegativeInfinity ? x - mean : 0.0;
    squares[j] += d * d;
  });
  m.deviation = std::sqrt(total(squares) / static_cast<double>(m.count));
  return m;
}

}  // namespace nereid::sample
