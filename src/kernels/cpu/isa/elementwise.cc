// SPDX-License-Identifier: Apache-2.0
// Embedding rows, norms and elementwise steps.
#include "kernels/cpu/isa/linear_rows.h"
#include "kernels/cpu/isa/vector_math.h"
#include "kernels/cpu/isa_kernels.h"

namespace nereid::kernels::NEREID_ISA {
namespace {

using simd::F32;

// Calls f(offset, n) for runs of 16 columns and the rest; f loads and stores with n lanes.
template <typename F>
void over_columns(int64_t cols, F f) {
  int64_t i = 0;
  for (; i + 16 <= cols; i += 16) f(i, 16);
  if (i < cols) f(i, static_cast<int>(cols - i));
}

F32 get(const float* p, int n) {
  return n == 16 ? simd::load(p) : simd::load_partial(p, n);
}
void put(float* p, F32 v, int n) {
  n == 16 ? simd::store(p, v) : simd::store_partial(p, v, n);
}

// Work by 16-column runs when there are fewer tokens than workers would like.
template <typename F>
void over_rows(int64_t tokens, Worker& worker, F f) {
  const auto [begin, end] = worker.slice(tokens);
  for (int64_t t = begin; t < end; ++t) f(t);
}

}  // namespace

void embedding(const EmbeddingParams& p, Worker& worker) {
  over_rows(p.tokens, worker, [&](int64_t t) {
    float* y = p.y + t * p.y_stride;
    if (p.ids[t] >= 0 && p.ids[t] < p.weight.layout.rows)
      unpack_row(p.weight, p.ids[t], y);
    else
      for (int64_t i = 0; i < p.weight.layout.cols; ++i) y[i] = 0;
  });
}

void rms_norm(const RmsNormParams& p, Worker& worker) {
  over_rows(p.tokens, worker, [&](int64_t t) {
    const float* x = p.x + t * p.x_stride;
    float* y = p.y + t * p.y_stride;
    const float* r = p.residual ? p.residual + t * p.residual_stride : nullptr;
    for (int64_t g = 0; g < p.cols; g += p.group) {
      F32 sum = simd::zero();
      over_columns(p.group, [&](int64_t i, int n) {
        const F32 v = get(x + g + i, n);
        sum = simd::fma(v, v, sum);
      });
      const float mean = simd::reduce_add(sum) / static_cast<float>(p.group);
      const F32 inverse = simd::div(simd::set1(1.0f), simd::sqrt(simd::set1(mean + p.eps)));
      over_columns(p.group, [&](int64_t i, int n) {
        F32 v = simd::mul(get(x + g + i, n), inverse);
        if (p.weight) v = simd::mul(v, get(p.weight + i, n));
        if (r) v = simd::add(v, get(r + g + i, n));
        put(y + g + i, v, n);
      });
    }
  });
}

void gated(const GatedParams& p, Worker& worker) {
  over_rows(p.tokens, worker, [&](int64_t t) {
    over_columns(p.cols, [&](int64_t i, int n) {
      const F32 gate = activate(p.activation, get(p.gate + t * p.gate_stride + i, n));
      put(p.y + t * p.y_stride + i, simd::mul(gate, get(p.up + t * p.up_stride + i, n)), n);
    });
  });
}

void add(const AddParams& p, Worker& worker) {
  over_rows(p.tokens, worker, [&](int64_t t) {
    over_columns(p.cols, [&](int64_t i, int n) {
      put(p.y + t * p.y_stride + i, simd::add(get(p.a + t * p.a_stride + i, n), get(p.b + t * p.b_stride + i, n)), n);
    });
  });
}

void scale(const ScaleParams& p, Worker& worker) {
  over_rows(p.tokens, worker, [&](int64_t t) {
    over_columns(p.cols, [&](int64_t i, int n) {
      F32 v = get(p.x + t * p.x_stride + i, n);
      if (p.cap != 0)
        v = simd::mul(simd::set1(p.cap), tanh(simd::div(v, simd::set1(p.cap))));
      else
        v = simd::mul(v, simd::set1(p.factor));
      put(p.y + t * p.y_stride + i, v, n);
    });
  });
}

void select_rows(const SelectRowsParams& p, Worker& worker) {
  over_rows(p.count, worker, [&](int64_t i) {
    const float* x = p.x + p.rows[i] * p.x_stride;
    over_columns(p.cols, [&](int64_t c, int n) { put(p.y + i * p.y_stride + c, get(x + c, n), n); });
  });
}

}  // namespace nereid::kernels::NEREID_ISA
