// SPDX-License-Identifier: Apache-2.0
// Softmax, layer norm and reductions of rows; a row belongs to one worker.
#include "kernels/cpu/row_norm.h"

#include "kernels/cpu/isa/program_math.h"
#include "kernels/cpu/isa_kernels.h"

namespace nereid::kernels::NEREID_ISA {
namespace {

using simd::F32;

template <typename F>
[[gnu::always_inline]] inline void over_columns(int64_t cols, F f) {
  int64_t i = 0;
  for (; i + 16 <= cols; i += 16) f(i, 16);
  if (i < cols) f(i, static_cast<int>(cols - i));
}
[[gnu::always_inline]] inline F32 get(const float* p, int n) {
  return n == 16 ? simd::load(p) : simd::load_partial(p, n);
}
[[gnu::always_inline]] inline void put(float* p, F32 v, int n) {
  n == 16 ? simd::store(p, v) : simd::store_partial(p, v, n);
}
// The first n lanes of v, `other` beyond.
F32 keep(F32 v, int n, float other) {
  if (n == 16) return v;
  alignas(64) float t[16];
  simd::store(t, simd::set1(other));
  simd::store_partial(t, v, n);
  return simd::load(t);
}

constexpr float kInfinity = __builtin_huge_valf();

// exp_whole where x is not above 0: the same bits for half of the work.
F32 exp_below(F32 x) {
  using namespace simd;
  const F32 bottom = set1(-87.3365448f), y = simd::max(bottom, x);
  const F32 n = simd::round(mul(y, set1(1.44269504088896341f)));
  F32 r = fnma(n, set1(0.693359375f), y);
  r = fnma(n, set1(-2.12194440e-4f), r);
  F32 p = set1(1.9875691500e-4f);
  p = simd::fma(p, r, set1(1.3981999507e-3f));
  p = simd::fma(p, r, set1(8.3334519073e-3f));
  p = simd::fma(p, r, set1(4.1665795894e-2f));
  p = simd::fma(p, r, set1(1.6666665459e-1f));
  p = simd::fma(p, r, set1(5.0000001201e-1f));
  p = simd::fma(mul(p, r), r, add(r, set1(1.0f)));
  return select(less(x, bottom), zero(), scale_by_pow2(p, n));
}

}  // namespace

void softmax(const SoftmaxParams& p, Worker& worker) {
  using namespace simd;
  const auto [begin, end] = worker.slice(p.rows);
  for (int64_t r = begin; r < end; ++r) {
    const float* x = p.x + r * p.x_stride;
    float* y = p.y + r * p.y_stride;
    const float* mask = p.mask ? p.mask + r / p.mask_repeat % p.mask_rows * p.mask_stride : nullptr;
    const F32 scale = set1(p.scale);
    F32 top = set1(-kInfinity);
    over_columns(p.cols, [&](int64_t i, int n) {
      F32 v = mul(get(x + i, n), scale);
      if (mask) v = simd::add(v, get(mask + i, n));
      put(y + i, v, n);
      top = simd::max(top, keep(v, n, -kInfinity));
    });
    float most = reduce_max(top);
    // Rows of nothing but -infinity are even, as if all were equal.
    if (most == -kInfinity) most = -3.4028235e38f;
    const F32 shift = set1(most);
    F32 total = zero();
    over_columns(p.cols, [&](int64_t i, int n) {
      const F32 d = sub(simd::max(set1(-3.4028235e38f), get(y + i, n)), shift);
      const F32 e = exp_below(d);
      total = simd::add(total, keep(e, n, 0));
      put(y + i, p.is_log ? d : e, n);
    });
    const float sum = reduce_add(total);
    if (p.is_log) {
      alignas(64) float log_sum[16];
      store(log_sum, log_whole(set1(sum)));
      const F32 by = set1(log_sum[0]);
      over_columns(p.cols, [&](int64_t i, int n) { put(y + i, sub(get(y + i, n), by), n); });
    } else {
      const F32 by = set1(1.0f / sum);
      over_columns(p.cols, [&](int64_t i, int n) { put(y + i, mul(get(y + i, n), by), n); });
    }
  }
}

void layer_norm(const LayerNormParams& p, Worker& worker) {
  using namespace simd;
  const auto [begin, end] = worker.slice(p.rows);
  for (int64_t r = begin; r < end; ++r) {
    const float* x = p.x + r * p.x_stride;
    float* y = p.y + r * p.y_stride;
    const float* residual = p.residual ? p.residual + r * p.residual_stride : nullptr;
    const float* v = x;  // what is normalised
    F32 total = zero();
    if (residual || p.sum) {
      float* to = p.sum ? p.sum + r * p.sum_stride : y;
      over_columns(p.cols, [&](int64_t i, int n) {
        F32 s = get(x + i, n);
        if (residual) s = simd::add(s, get(residual + i, n));
        put(to + i, s, n);
        total = simd::add(total, s);
      });
      v = to;
    } else if (!p.is_rms) {
      over_columns(p.cols, [&](int64_t i, int n) { total = simd::add(total, get(x + i, n)); });
    }
    const float mean = p.is_rms ? 0.0f : reduce_add(total) / static_cast<float>(p.cols);
    const F32 centre = set1(mean);
    F32 squares = zero();
    over_columns(p.cols, [&](int64_t i, int n) {
      const F32 d = keep(sub(get(v + i, n), centre), n, 0);
      squares = simd::fma(d, d, squares);
    });
    const float variance = reduce_add(squares) / static_cast<float>(p.cols);
    const F32 inverse = set1(1.0f / __builtin_sqrtf(variance + p.eps));
    over_columns(p.cols, [&](int64_t i, int n) {
      F32 t = mul(sub(get(v + i, n), centre), inverse);
      if (p.weight && p.bias)
        t = simd::fma(t, get(p.weight + i, n), get(p.bias + i, n));
      else if (p.weight)
        t = mul(t, get(p.weight + i, n));
      else if (p.bias)
        t = simd::add(t, get(p.bias + i, n));
      put(y + i, t, n);
    });
  }
}

void row_reduce(const RowReduceParams& p, Worker& worker) {
  using namespace simd;
  using Kind = RowReduceParams::Kind;
  const auto [begin, end] = worker.slice(p.rows);
  for (int64_t r = begin; r < end; ++r) {
    const float* x = p.x + r * p.x_stride;
    float& y = p.y[r * p.y_stride];
    if (p.kind == Kind::kMax || p.kind == Kind::kMin) {
      const bool is_max = p.kind == Kind::kMax;
      const float start = is_max ? -kInfinity : kInfinity;
      F32 best = set1(start);
      over_columns(p.cols, [&](int64_t i, int n) {
        const F32 v = keep(get(x + i, n), n, start);
        const F32 next = is_max ? simd::max(best, v) : simd::min(best, v);
        best = select(equal(best, best), next, best);
      });
      alignas(64) float lanes[16];
      store(lanes, best);
      y = lanes[0];
      for (float v : lanes) y = y != y || v != v ? y + v : (is_max ? v > y : v < y) ? v : y;
      continue;
    }
    const bool squared = p.kind == Kind::kSumSquares || p.kind == Kind::kL2;
    F32 total = zero();
    over_columns(p.cols, [&](int64_t i, int n) {
      const F32 v = get(x + i, n);
      total = squared ? simd::fma(v, v, total) : simd::add(total, v);
    });
    const float sum = reduce_add(total);
    y = p.kind == Kind::kMean ? sum / static_cast<float>(p.cols) : p.kind == Kind::kL2 ? __builtin_sqrtf(sum) : sum;
  }
}

}  // namespace nereid::kernels::NEREID_ISA
