// SPDX-License-Identifier: Apache-2.0
// linear: prepares the activation rows, then gives each worker a contiguous run of weight tiles. A policy says how many
// tokens it takes at a time in a way of its own (AMX tiles); the rest go through the vector loops.
#pragma once

#include <algorithm>

#include "kernels/cpu/isa/linear_tile.h"
#include "kernels/cpu/isa/vector_math.h"

namespace nereid::kernels::NEREID_ISA {
namespace {

using simd::F32;

// Up to this many tokens every worker prepares its own copy: cheaper than a barrier.
constexpr int64_t kPrivateTokens = 2;
constexpr int64_t kChunkBytes = 256 << 10;

// Which tiles and which tokens of an output a call covers.
struct Job {
  const LinearParams& p;
  const Rows& rows;
  std::byte* unpacked;  // this worker's own: 16 bytes for each column
  int64_t first_tile, last_tile;
};

template <int M>
void write_tile(const LinearParams& p, int64_t tile, int64_t token, const F32 (&acc)[M], const F32* up) {
  const int64_t row = tile * kTileRows;
  const int64_t left = p.weight.layout.rows - row;
  const int n = static_cast<int>(left < 16 ? left : 16);
  const F32 bias = p.bias ? (n == 16 ? simd::load(p.bias + row) : simd::load_partial(p.bias + row, n)) : simd::zero();
  unrolled<M>([&]<int m>() {
    F32 v = simd::add(acc[m], bias);
    const float* extra = p.addend ? p.addend[token + m] : nullptr;
    if (extra) [[unlikely]]
      v = simd::add(v, simd::load(extra + row));
    v = activate(p.activation, v);
    if (up) {
      F32 factor = up[m];
      if (extra) [[unlikely]]
        factor = simd::add(factor, simd::load(extra + p.weight.layout.tiles() * kTileRows + row));
      v = simd::mul(v, factor);
    }
    float* y = p.y + (token + m) * p.y_stride + row;
    const float* r = p.residual ? p.residual + (token + m) * p.residual_stride + row : nullptr;
    if (n == 16) [[likely]] {
      if (r) v = simd::add(v, simd::load(r));
      simd::store(y, v);
    } else {
      if (r) v = simd::add(v, simd::load_partial(r, n));
      simd::store_partial(y, v, n);
    }
  });
}

template <Codes C, int kGroup, bool kHasOffset, int M>
void codes_block(const Job& job, int64_t token) {
  const LinearParams& p = job.p;
  const PackedLayout& l = p.weight.layout;
  // dot4_code8 has subtracted 128 - kCode8Zero already.
  const float zero = static_cast<float>(l.zero) - (C == Codes::kCode8 ? 128 - simd::kCode8Zero : 0);
  for (int64_t t = job.first_tile; t < job.last_tile; ++t) {
    F32 acc[M];
    tile_dot_codes<C, kGroup, kHasOffset, M>(p.weight.tile(t), l.blocks(), zero, job.rows, token, acc);
    if (p.weight_up.data) {
      F32 up[M];
      tile_dot_codes<C, kGroup, kHasOffset, M>(p.weight_up.tile(t), l.blocks(), zero, job.rows, token, up);
      write_tile<M>(p, t, token, acc, up);
    } else {
      write_tile<M>(p, t, token, acc, nullptr);
    }
  }
}

template <Codes C, int M>
void floats_block(const Job& job, int64_t token) {
  constexpr int T = M <= 4 ? 4 : 1;
  const LinearParams& p = job.p;
  const PackedLayout& l = p.weight.layout;
  const auto run = [&]<int N>(int64_t t) {
    F32 acc[N][M];
    tile_dot_floats<C, M, N>(p.weight.tile(t), l.tile_bytes(), l.cols, job.rows, token, acc);
    F32 up[N][M];
    if (p.weight_up.data) tile_dot_floats<C, M, N>(p.weight_up.tile(t), l.tile_bytes(), l.cols, job.rows, token, up);
    for (int i = 0; i < N; ++i) write_tile<M>(p, t + i, token, acc[i], p.weight_up.data ? up[i] : nullptr);
  };
  int64_t t = job.first_tile;
  for (; t + T <= job.last_tile; t += T) run.template operator()<T>(t);
  for (; t < job.last_tile; ++t) run.template operator()<1>(t);
}

// Calls block<M>(token) for the largest M that the registers hold until the tokens from `token` on are done.
template <typename Block>
void over_tokens(int64_t token, int64_t tokens, Block block) {
  const auto run = [&]<int M>() {
    for (; token + M <= tokens; token += M) block.template operator()<M>(token);
  };
  if constexpr (simd::kTileTokens >= 16) run.template operator()<16>();
  if constexpr (simd::kTileTokens >= 8) run.template operator()<8>();
  run.template operator()<4>();
  run.template operator()<2>();
  run.template operator()<1>();
}

// Matrix::run takes as many of the first tokens as it likes and says how many.
struct NoMatrix {
  template <Codes, int, bool>
  static int64_t run(const Job&) {
    return 0;
  }
};

template <typename Matrix, Codes C, int kGroup, bool kHasOffset>
void run_codes(const Job& job) {
  const int64_t done = Matrix::template run<C, kGroup, kHasOffset>(job);
  over_tokens(done, job.p.tokens, [&]<int M>(int64_t token) { codes_block<C, kGroup, kHasOffset, M>(job, token); });
}

template <Codes C>
void run_floats(const Job& job) {
  over_tokens(0, job.p.tokens, [&]<int M>(int64_t token) { floats_block<C, M>(job, token); });
}

template <typename Matrix, Codes C>
void run_code_layouts(const Job& job) {
  const PackedLayout& l = job.p.weight.layout;
  if (l.group == 32)
    l.has_offset ? run_codes<Matrix, C, 32, true>(job) : run_codes<Matrix, C, 32, false>(job);
  else
    l.has_offset ? run_codes<Matrix, C, 16, true>(job) : run_codes<Matrix, C, 16, false>(job);
}

template <typename Matrix>
void run_tiles(const Job& job) {
  switch (job.p.weight.layout.codes) {
    case Codes::kCode4:
      return run_code_layouts<Matrix, Codes::kCode4>(job);
    case Codes::kCode7:
      return run_code_layouts<Matrix, Codes::kCode7>(job);
    case Codes::kCode8:
      return run_code_layouts<Matrix, Codes::kCode8>(job);
    case Codes::kF16:
      return run_floats<Codes::kF16>(job);
    case Codes::kBF16:
      return run_floats<Codes::kBF16>(job);
    case Codes::kF32:
      return run_floats<Codes::kF32>(job);
  }
}

// Carves a scratch area into the arrays of Rows (all offsets multiples of 64 bytes) and prepares tokens.
struct Preparation {
  Rows rows;
  float* normalised;

  Preparation(const LinearParams& p, std::byte* scratch) {
    const PackedLayout& l = p.weight.layout;
    const int64_t padded = l.blocks() * kBlockColumns;
    normalised = reinterpret_cast<float*>(scratch);
    rows.x = p.norm_weight ? normalised : p.x;
    rows.x_stride = p.norm_weight ? padded : p.x_stride;
    // Few tokens make one small block; more make blocks of 16, the last one with room to spare.
    rows.block = p.tokens < kBlockTokens ? p.tokens : kBlockTokens;
    rows.padded = padded;
    rows.group = l.group;
    const int64_t tokens = (p.tokens + rows.block - 1) / rows.block * rows.block;
    rows.codes = reinterpret_cast<int8_t*>(scratch + p.tokens * padded * 4);
    rows.scales = reinterpret_cast<float*>(rows.codes + tokens * padded);
    rows.sums = rows.scales + tokens * (padded / 32);
  }

  void run(const LinearParams& p, int64_t begin, int64_t end) {
    const PackedLayout& l = p.weight.layout;
    for (int64_t t = begin; t < end; ++t) {
      const float* row = p.x + t * p.x_stride;
      if (p.norm_weight) {
        rms_norm_row(row, p.norm_weight, p.norm_eps, l.cols, normalised + t * rows.padded);
        row = normalised + t * rows.padded;
      }
      if (!l.is_float()) quantize_row(row, l.cols, rows, t);
    }
  }
};

template <typename Matrix>
void drive(const LinearParams& p, Worker& worker) {
  if (p.tokens == 0) return;  // a step that wants no logits
  const bool is_private = p.tokens <= kPrivateTokens;
  const PackedLayout& l = p.weight.layout;
  const int64_t share = linear_rows_bytes(p.tokens, l.cols);
  Preparation prep(p, p.scratch + (is_private ? worker.index() * share : 0));
  if (is_private) {
    prep.run(p, 0, p.tokens);
  } else {
    const auto [begin, end] = worker.slice(p.tokens);
    prep.run(p, begin, end);
    worker.barrier();
  }
  std::byte* unpacked = p.scratch + worker.count() * share + worker.index() * linear_unpacked_bytes(l.cols);
  // A chunk of tiles stays in the L2 cache while all tokens pass over it.
  const auto [first, last] = worker.slice(l.tiles());
  const int64_t chunk = std::max<int64_t>(4, kChunkBytes / l.tile_bytes());
  for (int64_t t = first; t < last; t += chunk)
    run_tiles<Matrix>({p, prep.rows, unpacked, t, std::min(t + chunk, last)});
}

}  // namespace
}  // namespace nereid::kernels::NEREID_ISA
