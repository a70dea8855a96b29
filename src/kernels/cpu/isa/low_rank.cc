// SPDX-License-Identifier: Apache-2.0
// Low-rank addends: rows of A against rows of x with the columns in lanes, then tiles of B with its rows in lanes.
#include "kernels/cpu/low_rank.h"

#include "kernels/cpu/isa/linear_tile.h"
#include "kernels/cpu/isa_kernels.h"

namespace nereid::kernels::NEREID_ISA {
namespace {

using simd::F32;

// Rows of A, and tokens, whose sums the registers hold.
constexpr int kSide = simd::kTileTokens >= 16 ? 4 : 2;
// Multiplications of A up to which a barrier would cost more than having every worker do all of them.
constexpr int64_t kPrivateWork = int64_t{1} << 17;

template <Codes C>
constexpr int64_t kBytes = C == Codes::kF32 ? 4 : 2;

// Where the rows of x that carry an adapter are to be found, by their place in the groups' order.
struct Inputs {
  const LowRankParams& p;
  float* normalised;  // null: x as it is
  float* h;           // [tokens, ranks]

  const float* row(const LowRankGroup& group, int64_t first, int64_t i) const {
    return normalised ? normalised + (first + i) * low_rank_columns(p.cols) : p.x + group.tokens[i] * p.x_stride;
  }
};

template <Codes C, int R, int M>
[[gnu::flatten]] void down_block(const std::byte* a, int64_t a_stride, const float* const (&x)[M], int64_t cols,
                                 float scale, float* const (&h)[M]) {
  F32 acc[R][M] = {};
  int64_t c = 0;
  for (; c + 16 <= cols; c += 16) {
    F32 v[M];
    unrolled<M>([&]<int m>() { v[m] = simd::load(x[m] + c); });
    unrolled<R>([&]<int r>() {
      // One token waits for memory: the rows that come next are fetched.
      if constexpr (M == 1) simd::prefetch(a + (r + R) * a_stride + c * kBytes<C>);
      const F32 w = load_weights<C>(a + r * a_stride + c * kBytes<C>);
      unrolled<M>([&]<int m>() { acc[r][m] = simd::fma(w, v[m], acc[r][m]); });
    });
  }
  if (c < cols) {
    const int rest = static_cast<int>(cols - c);
    F32 v[M];
    unrolled<M>([&]<int m>() { v[m] = simd::load_partial(x[m] + c, rest); });
    unrolled<R>([&]<int r>() {
      const F32 w = load_weights<C>(a + r * a_stride + c * kBytes<C>);
      unrolled<M>([&]<int m>() { acc[r][m] = simd::fma(w, v[m], acc[r][m]); });
    });
  }
  unrolled<R>([&]<int r>() { unrolled<M>([&]<int m>() { h[m][r] = scale * simd::reduce_add(acc[r][m]); }); });
}

// h of some rows of A, from `k` on (place `at` in h), for some tokens of a group from `i` on.
template <Codes C, int R, int M>
void down(const Inputs& in, const LowRankGroup& group, int64_t first, const LowRankPart& part, int64_t at, int64_t k,
          int64_t i) {
  const int64_t stride = low_rank_columns(in.p.cols) * kBytes<C>;
  const float* x[M];
  float* h[M];
  for (int m = 0; m < M; ++m) {
    x[m] = in.row(group, first, i + m);
    h[m] = in.h + (first + i + m) * in.p.ranks + at + k;
  }
  down_block<C, R, M>(part.down + k * stride, stride, x, in.p.cols, part.scale, h);
}

// One unit of work: up to kSide rows of A for up to kSide tokens.
template <Codes C>
void down_unit(const Inputs& in, const LowRankGroup& group, int64_t first, const LowRankPart& part, int64_t at,
               int64_t k, int64_t i) {
  const int64_t tokens = group.count - i < kSide ? group.count - i : kSide;
  const int64_t rows = part.rank - k < kSide ? part.rank - k : kSide;
  if (rows == kSide && tokens == kSide) return down<C, kSide, kSide>(in, group, first, part, at, k, i);
  if (rows == kSide) {
    for (int64_t m = 0; m < tokens; ++m) down<C, kSide, 1>(in, group, first, part, at, k, i + m);
    return;
  }
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t m = 0; m < tokens; ++m) down<C, 1, 1>(in, group, first, part, at, k + r, i + m);
}

// Calls f(group, its first token's place, part, the part's place in h) for every part.
template <typename F>
void over_parts(const LowRankParams& p, F f) {
  int64_t first = 0;
  for (int64_t g = 0; g < p.group_count; ++g) {
    int64_t at = 0;
    for (int64_t i = 0; i < p.groups[g].part_count; ++i) {
      f(p.groups[g], first, p.groups[g].parts[i], at);
      at += p.groups[g].parts[i].rank;
    }
    first += p.groups[g].count;
  }
}

template <typename F>
void by_codes(Codes codes, F f) {
  if (codes == Codes::kF32) return f.template operator()<Codes::kF32>();
  if (codes == Codes::kF16) return f.template operator()<Codes::kF16>();
  f.template operator()<Codes::kBF16>();
}

// Units [begin, end) of all products with A, numbered part by part.
void run_down(const Inputs& in, int64_t begin, int64_t end) {
  int64_t unit = 0;
  over_parts(in.p, [&](const LowRankGroup& group, int64_t first, const LowRankPart& part, int64_t at) {
    const int64_t across = (group.count + kSide - 1) / kSide;
    const int64_t units = (part.rank + kSide - 1) / kSide * across;
    const int64_t from = begin > unit ? begin - unit : 0;
    const int64_t to = end - unit < units ? end - unit : units;
    by_codes(part.codes, [&]<Codes C>() {
      for (int64_t u = from; u < to; ++u)
        down_unit<C>(in, group, first, part, at, u / across * kSide, u % across * kSide);
    });
    unit += units;
  });
}

int64_t count_units(const LowRankParams& p) {
  int64_t units = 0;
  over_parts(p, [&](const LowRankGroup& group, int64_t, const LowRankPart& part, int64_t) {
    units += (part.rank + kSide - 1) / kSide * ((group.count + kSide - 1) / kSide);
  });
  return units;
}

void normalise(const Inputs& in, int64_t begin, int64_t end) {
  int64_t first = 0;
  for (int64_t g = 0; g < in.p.group_count; ++g) {
    const LowRankGroup& group = in.p.groups[g];
    for (int64_t i = 0; i < group.count; ++i)
      if (first + i >= begin && first + i < end)
        rms_norm_row(in.p.x + group.tokens[i] * in.p.x_stride, in.p.norm_weight, in.p.norm_eps, in.p.cols,
                     in.normalised + (first + i) * low_rank_columns(in.p.cols));
    first += group.count;
  }
}

// N tiles of a part against M tokens: added to what is in the addends, or put there.
template <Codes C, int N, int M>
void up_block(const Inputs& in, const LowRankPart& part, int64_t at, int64_t tile, int64_t token, bool is_first) {
  const int64_t width = in.p.matrices * in.p.tiles * kTileRows;
  const int64_t tile_bytes = (part.rank * kTileRows * kBytes<C> + 63) / 64 * 64;
  Rows rows;
  rows.x = in.h + at;
  rows.x_stride = in.p.ranks;
  F32 acc[N][M];
  tile_dot_floats<C, M, N>(part.up + (tile - part.first_tile) * tile_bytes, tile_bytes, part.rank, rows, token, acc);
  unrolled<N>([&]<int n>() {
    unrolled<M>([&]<int m>() {
      float* y = in.p.addend + (token + m) * width + (tile + n) * kTileRows;
      simd::store(y, is_first ? acc[n][m] : simd::add(simd::load(y), acc[n][m]));
    });
  });
}

template <Codes C>
void up_tiles(const Inputs& in, const LowRankGroup& group, int64_t first, const LowRankPart& part, int64_t at,
              int64_t begin, int64_t end, bool is_first) {
  constexpr int M = simd::kTileTokens >= 16 ? 8 : 4;
  int64_t t = first;
  const int64_t last = first + group.count;
  for (; t + M <= last; t += M)
    for (int64_t tile = begin; tile < end; ++tile) up_block<C, 1, M>(in, part, at, tile, t, is_first);
  for (; t < last; ++t) {
    int64_t tile = begin;
    for (; tile + 4 <= end; tile += 4) up_block<C, 4, 1>(in, part, at, tile, t, is_first);
    for (; tile < end; ++tile) up_block<C, 1, 1>(in, part, at, tile, t, is_first);
  }
}

void zero_tiles(const Inputs& in, const LowRankGroup& group, int64_t first, int64_t begin, int64_t end) {
  const int64_t width = in.p.matrices * in.p.tiles * kTileRows;
  for (int64_t t = first; t < first + group.count; ++t)
    for (int64_t tile = begin; tile < end; ++tile)
      simd::store(in.p.addend + t * width + tile * kTileRows, simd::zero());
}

int64_t within(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

// The addends of tiles [begin, end), of one matrix. Parts come by their first tile: those before `done` have something.
void run_up(const Inputs& in, int64_t begin, int64_t end) {
  int64_t first = 0;
  for (int64_t g = 0; g < in.p.group_count; ++g) {
    const LowRankGroup& group = in.p.groups[g];
    int64_t at = 0, done = begin;
    for (int64_t i = 0; i < group.part_count; ++i) {
      const LowRankPart& part = group.parts[i];
      const int64_t from = within(part.first_tile, begin, end);
      const int64_t to = within(part.first_tile + part.tiles, begin, end);
      const int64_t shared = within(done, from, to);
      if (from > done) zero_tiles(in, group, first, done, from);
      by_codes(part.codes, [&]<Codes C>() {
        up_tiles<C>(in, group, first, part, at, from, shared, false);
        up_tiles<C>(in, group, first, part, at, shared, to, true);
      });
      at += part.rank;
      if (to > done) done = to;
    }
    zero_tiles(in, group, first, done, end);
    first += group.count;
  }
}

}  // namespace

void low_rank(const LowRankParams& p, Worker& worker) {
  if (p.tokens == 0) return;
  const int64_t padded = low_rank_columns(p.cols);
  const bool is_private = p.tokens <= kLowRankPrivateTokens && p.tokens * p.ranks * p.cols <= kPrivateWork;
  auto* area = reinterpret_cast<float*>(p.scratch);
  if (is_private) area += worker.index() * p.tokens * (padded + low_rank_columns(p.ranks));
  const Inputs in{p, p.norm_weight ? area : nullptr, area + p.tokens * padded};
  const int64_t units = count_units(p);
  if (is_private) {
    if (p.norm_weight) normalise(in, 0, p.tokens);
    run_down(in, 0, units);
  } else {
    if (p.norm_weight) {
      const auto [begin, end] = worker.slice(p.tokens);
      normalise(in, begin, end);
      worker.barrier();
    }
    const auto [begin, end] = worker.slice(units);
    run_down(in, begin, end);
    worker.barrier();
  }
  const auto [first, last] = worker.slice(p.tiles);
  for (int64_t m = 0; m < p.matrices; ++m) run_up(in, m * p.tiles + first, m * p.tiles + last);
}

}  // namespace nereid::kernels::NEREID_ISA
