// SPDX-License-Identifier: Apache-2.0
// Winograd's minimal filtering F(M x M, 3 x 3), M = 2 or 4: 3x3 windows of stride 1 with 16/36 or 36/144 of the
// products.
//
// An image is cut into tiles of M x M outputs, each from (M + 2) x (M + 2) inputs. B^T d B of all tiles makes (M + 2)^2
// matrices [tiles, in_c]; each is multiplied by its own U [in_c, out_c] (packed weights); A^T m A makes outputs of the
// products. Where there are tiles enough, every worker does all three for tiles of its own, in blocks that stay in L2;
// otherwise the team does one step after the other together, so that each matrix U is read once.
// Matrices of S. Winograd's F(4, 3) with the points 0, 1, -1, 2, -2, infinity, and F(2, 3) with 0, 1, -1, infinity.
#include "kernels/cpu/isa/activation.h"
#include "kernels/cpu/isa/conv_parts.h"
#include "kernels/cpu/isa/gemm_driver.h"
#include "kernels/cpu/isa_kernels.h"

namespace nereid::kernels::NEREID_ISA {
namespace {

using simd::F32;

// B^T d for one column of M + 2 numbers.
template <int M>
[[gnu::always_inline]] inline void transform_input(const F32 (&d)[M + 2], F32 (&v)[M + 2]) {
  using namespace simd;
  if constexpr (M == 2) {
    v[0] = sub(d[0], d[2]);
    v[1] = simd::add(d[1], d[2]);
    v[2] = sub(d[2], d[1]);
    v[3] = sub(d[1], d[3]);
  } else {
    const F32 two = set1(2.0f), four = set1(4.0f), five = set1(5.0f);
    v[0] = simd::fma(four, d[0], fnma(five, d[2], d[4]));
    const F32 a = fnma(four, d[2], d[4]), b = fnma(four, d[1], d[3]);
    v[1] = simd::add(a, b);
    v[2] = sub(a, b);
    const F32 c = sub(d[4], d[2]), e = sub(d[3], d[1]);
    v[3] = simd::fma(two, e, c);
    v[4] = fnma(two, e, c);
    v[5] = simd::fma(four, d[1], fnma(five, d[3], d[5]));
  }
}

// A^T m for one column.
template <int M>
[[gnu::always_inline]] inline void transform_output(const F32 (&m)[M + 2], F32 (&y)[M]) {
  using namespace simd;
  if constexpr (M == 2) {
    y[0] = simd::add(simd::add(m[0], m[1]), m[2]);
    y[1] = sub(sub(m[1], m[2]), m[3]);
  } else {
    const F32 s1 = simd::add(m[1], m[2]), d1 = sub(m[1], m[2]), s2 = simd::add(m[3], m[4]), d2 = sub(m[3], m[4]);
    y[0] = simd::add(simd::add(m[0], s1), s2);
    y[1] = simd::fma(set1(2.0f), d2, d1);
    y[2] = simd::fma(set1(4.0f), s2, s1);
    y[3] = simd::add(simd::fma(set1(8.0f), d2, d1), m[5]);
  }
}

[[gnu::noinline]] F32 finish(const Epilogue& e, F32 v) {
  return activate(e, v);
}

template <int M>
struct Winograd {
  static constexpr int T = M + 2;
  static constexpr int kMatrices = T * T;
  const ConvParams& p;
  const ConvShape& s;
  int64_t in_width, out_width;  // channels rounded up
  int64_t tiles_down, tiles_across, block;
  float *v, *m, *zeros;
  int64_t v_matrix, m_matrix;  // elements between matrices

  Winograd(const ConvParams& params, int64_t tiles_in_block, std::byte* scratch)
      : p(params),
        s(params.shape),
        in_width((s.in_c + 15) / 16 * 16),
        out_width((s.out_c + 15) / 16 * 16),
        tiles_down((s.out_h + M - 1) / M),
        tiles_across((s.out_w + M - 1) / M),
        block(tiles_in_block) {
    v_matrix = block * in_width + 16;
    m_matrix = block * out_width + 16;
    zeros = reinterpret_cast<float*>(scratch);
    v = zeros + in_width;
    m = v + kMatrices * v_matrix;
  }

  void clear() const {
    for (int64_t c = 0; c < in_width; c += 16) simd::store(zeros + c, simd::zero());
  }

  // Tile `tile` of all to row `row` of the v matrices.
  [[gnu::noinline]] void read_tile(int64_t tile, int64_t row) const {
    using namespace simd;
    const int64_t image = tile / (tiles_down * tiles_across);
    const int64_t top = tile / tiles_across % tiles_down * M - s.pad_top, left = tile % tiles_across * M - s.pad_left;
    const float* pixel[kMatrices];
    for (int64_t i = 0; i < T; ++i)
      for (int64_t j = 0; j < T; ++j) {
        const int64_t h = top + i, w = left + j;
        const bool inside = h >= 0 && h < s.in_h && w >= 0 && w < s.in_w;
        pixel[i * T + j] = inside ? p.x + ((image * s.in_h + h) * s.in_w + w) * p.x_stride : zeros;
      }
    float* to = v + row * in_width;
    for (int64_t c = 0; c < s.in_c; c += 16, to += 16) {
      const int n = static_cast<int>(s.in_c - c < 16 ? s.in_c - c : 16);
      alignas(64) float rows[kMatrices * 16];
      unrolled<T>([&]<int j>() __attribute__((always_inline)) {
        F32 d[T], t[T];
        unrolled<T>([&]<int i>() {
          const float* q = pixel[i * T + j] + c;
          d[i] = n == 16 ? load(q) : load_partial(q, n);
        });
        transform_input<M>(d, t);
        unrolled<T>([&]<int i>() { store(rows + (i * T + j) * 16, t[i]); });
      });
      unrolled<T>([&]<int i>() __attribute__((always_inline)) {
        F32 d[T], t[T];
        unrolled<T>([&]<int j>() { d[j] = load(rows + (i * T + j) * 16); });
        transform_input<M>(d, t);
        unrolled<T>([&]<int j>() { store(to + (i * T + j) * v_matrix, t[j]); });
      });
    }
  }

  // Matrix `which`, panels [panel, panel_end), for the first `rows` tiles of the block.
  void multiply(int64_t which, int64_t panel, int64_t panel_end, int64_t rows) const {
    const float* a = v + which * v_matrix;
    Region g;
    g.a = &a;
    g.a_stride = in_width;
    g.k = s.in_c;
    g.rows = rows;
    g.panel_stride = s.in_c * kPanelColumns;
    g.b = p.weight + which * gemm_packed_elements(s.in_c, s.out_c) + panel * g.panel_stride;
    g.columns = (panel_end - panel) * kPanelColumns;
    g.c = m + which * m_matrix + panel * kPanelColumns;
    g.c_stride = out_width;
    g.blocking = p.blocking.gemm;
    run_region(g, {});
  }

  // Row `row` of the m matrices to the outputs of tile `tile`.
  [[gnu::noinline]] void write_tile(int64_t tile, int64_t row) const {
    using namespace simd;
    const Epilogue& e = p.epilogue;
    const int64_t image = tile / (tiles_down * tiles_across);
    const int64_t top = tile / tiles_across % tiles_down * M, left = tile % tiles_across * M;
    const int64_t down = s.out_h - top < M ? s.out_h - top : M, across = s.out_w - left < M ? s.out_w - left : M;
    const int64_t first = (image * s.out_h + top) * s.out_w + left;
    const bool clamped = is_clamp(e);
    const F32 low = set1(clamp_low(e)), high = set1(clamp_high(e));
    const float* from = m + row * out_width;
    for (int64_t c = 0; c < s.out_c; c += 16, from += 16) {
      const int n = static_cast<int>(s.out_c - c < 16 ? s.out_c - c : 16);
      alignas(64) float columns[M * T * 16], out[M * M * 16];
      unrolled<T>([&]<int j>() __attribute__((always_inline)) {
        F32 d[T], t[M];
        unrolled<T>([&]<int i>() { d[i] = load(from + (i * T + j) * m_matrix); });
        transform_output<M>(d, t);
        unrolled<M>([&]<int i>() { store(columns + (i * T + j) * 16, t[i]); });
      });
      const F32 bias = !e.bias ? zero() : n == 16 ? load(e.bias + c) : load_partial(e.bias + c, n);
      unrolled<M>([&]<int i>() __attribute__((always_inline)) {
        F32 d[T], t[M];
        unrolled<T>([&]<int j>() { d[j] = load(columns + (i * T + j) * 16); });
        transform_output<M>(d, t);
        unrolled<M>([&]<int j>() { store(out + (i * M + j) * 16, simd::add(t[j], bias)); });
      });
      for (int64_t i = 0; i < down; ++i)
        for (int64_t j = 0; j < across; ++j) {
          const int64_t pixel = first + i * s.out_w + j;
          F32 value = load(out + (i * M + j) * 16), residual = zero();
          if (e.residual) {
            const float* r = e.residual + pixel * e.residual_stride + c;
            residual = n == 16 ? load(r) : load_partial(r, n);
            if (!e.residual_last) value = simd::add(value, residual);
          }
          value = clamped ? simd::min(high, simd::max(low, value)) : finish(e, value);
          if (e.residual && e.residual_last) value = simd::add(value, residual);
          float* y = p.y + pixel * p.y_stride + c;
          n == 16 ? store(y, value) : store_partial(y, value, n);
        }
    }
  }

  void run_alone(int64_t begin, int64_t end) const {
    clear();
    const int64_t panels = gemm_panels(s.out_c);
    for (int64_t tile = begin; tile < end; tile += block) {
      const int64_t rows = end - tile < block ? end - tile : block;
      for (int64_t i = 0; i < rows; ++i) read_tile(tile + i, i);
      for (int64_t k = 0; k < kMatrices; ++k) multiply(k, 0, panels, rows);
      for (int64_t i = 0; i < rows; ++i) write_tile(tile + i, i);
    }
  }

  void run_together(int64_t tiles, Worker& worker) const {
    if (worker.index() == 0) clear();
    worker.barrier();
    const auto [begin, end] = worker.slice(tiles);
    for (int64_t i = begin; i < end; ++i) read_tile(i, i);
    worker.barrier();
    const int64_t panels = gemm_panels(s.out_c), pairs = (panels + 1) / 2;
    const auto [from, to] = worker.slice(kMatrices * pairs);
    for (int64_t k = from; k < to;) {
      const int64_t pair = k % pairs, count = to - k < pairs - pair ? to - k : pairs - pair;
      const int64_t panel_end = 2 * (pair + count) < panels ? 2 * (pair + count) : panels;
      multiply(k / pairs, 2 * pair, panel_end, tiles);
      k += count;
    }
    worker.barrier();
    for (int64_t i = begin; i < end; ++i) write_tile(i, i);
  }
};

template <int M>
void run(const ConvParams& p, Worker& worker) {
  const WinogradPlan plan = winograd_plan(p.shape, M, worker.count(), p.blocking.tiles);
  if (plan.alone) {
    const Winograd<M> w(p, plan.block, p.scratch + worker.index() * plan.bytes);
    const auto [begin, end] = worker.slice(plan.tiles);
    w.run_alone(begin, end);
  } else {
    Winograd<M>(p, plan.block, p.scratch).run_together(plan.tiles, worker);
  }
}

}  // namespace

void conv_winograd(const ConvParams& p, Worker& worker) {
  p.algorithm == ConvAlgorithm::kWinograd2 ? run<2>(p, worker) : run<4>(p, worker);
}

}  // namespace nereid::kernels::NEREID_ISA
