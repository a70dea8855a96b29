// SPDX-License-Identifier: Apache-2.0
// linear on AMX tiles: 16 tokens against 16 weight rows, one group of 32 columns a multiplication.
//
// A group's products come out of the tile unit as exact int32 and are scaled and summed by the same vector operations
// in the same order as in the vector loops, so both give the same bits and a token may go either way. That costs half
// of the tile unit's width: 32 of 64 columns take a product the same 16 cycles.
//
// Cycles for one group of 16 tokens and 16 rows, 8192 products, measured on an Emerald Rapids at 2.8 GHz: product 16,
// its operands 12, its sums to memory 16 (in part behind the product), scaling 34 (4 vector operations a token: their
// bound is 32). Tile and vector operations do not overlap there, not even where neither needs the other: 35 and 34 are
// 69, against 98 without tiles. Hence what was tried and lost: the tile unit one to four blocks ahead of the vectors
// (68 to 71), four sums in turn, and two token blocks against two tiles of weights, whose sums must go through memory.
// Groups of 16 columns go the vectors' way.
#include "kernels/cpu/isa/linear_driver.h"
#include "kernels/cpu/isa_kernels.h"

namespace nereid::kernels::amx {
namespace {

constexpr int kTokens = 16;
constexpr int kGroup = 32;  // columns

simd::TileConfig tile_config() {
  simd::TileConfig c;
  for (int t = 0; t < 4; ++t) {  // sums: tokens x weight rows
    c.rows[t] = kTokens;
    c.row_bytes[t] = 64;
  }
  for (int t = 4; t < 6; ++t) {  // activations: tokens x columns
    c.rows[t] = kTokens;
    c.row_bytes[t] = kGroup;
  }
  for (int t = 6; t < 8; ++t) {  // weights: columns / 4 x (16 rows x 4)
    c.rows[t] = kGroup / 4;
    c.row_bytes[t] = 64;
  }
  return c;
}

// Where the codes of one 64-column block lie, one byte each.
struct UnpackedTile {
  const std::byte* codes;
  int64_t block_stride;
};

template <Codes C, int64_t kHeader, int64_t kBlock>
UnpackedTile unpack_tile(const std::byte* tile, int64_t blocks, std::byte* buffer) {
  if constexpr (C != Codes::kCode4) return {tile + kHeader, kBlock};
  for (int64_t b = 0; b < blocks; ++b, tile += kBlock) {
    for (int half = 0; half < 2; ++half) {
      simd::Bytes w[8];
      unpack_codes<C>(tile + kHeader + half * kCodeBytes<C>, w);
      for (int i = 0; i < 8; ++i) _mm512_store_si512(buffer + b * 1024 + half * 512 + i * 64, w[i].v);
    }
  }
  return {buffer, 1024};
}

// Sums of group kPart of a block into tile register kPart and from there to memory.
template <int kPart>
void multiply(const int8_t* activations, const std::byte* weights, int32_t* sums) {
  constexpr int kA = 4 + kPart;
  constexpr int kB = 6 + kPart;
  simd::tile_zero<kPart>();
  simd::tile_load<kA>(activations + kPart * kGroup * kTokens, kGroup);
  simd::tile_load<kB>(weights + kPart * kGroup * kTileRows, 64);
  simd::tile_dot_s8u8<kPart, kA, kB>();
  simd::tile_store<kPart>(sums, 64);
}

// While tokens are multiplied, the tile that follows is fetched: it is unpacked faster than memory brings it.
template <bool kHasOffset>
[[gnu::flatten]] void tile_dot(const std::byte* header, int64_t header_stride, UnpackedTile weights, int64_t blocks,
                               float zero, const Rows& rows, int64_t token, simd::F32 (&result)[kTokens]) {
  using namespace simd;
  F32 acc[kTokens] = {};
  constexpr int kGroups = static_cast<int>(kBlockColumns) / kGroup;
  const int8_t* codes = rows.codes_of(token);
  const float* scales = rows.scales_of(token);
  const float* sums = rows.sums_of(token);
  const F32 minus_zero = set1(-zero);
  alignas(64) int32_t products[kGroups][kTokens][16];
  const int64_t tile_bytes = blocks * header_stride;
  for (int64_t b = 0; b < blocks; ++b, header += header_stride, weights.codes += weights.block_stride) {
    for (int64_t i = 0; i < header_stride; i += 64) prefetch(header + tile_bytes + i);
    multiply<0>(codes, weights.codes, products[0][0]);
    multiply<1>(codes, weights.codes, products[1][0]);
    codes += kBlockColumns * kTokens;
    const auto* factors = reinterpret_cast<const uint16_t*>(header);
    unrolled<kGroups>([&]<int g>() {
      const F32 scale = load_f16(factors + 16 * g);
      const F32 offset = kHasOffset ? load_f16(factors + 16 * (kGroups + g)) : mul(scale, minus_zero);
      unrolled<kTokens>([&]<int m>() {
        const F32 d = {_mm512_cvtepi32_ps(_mm512_load_si512(products[g][m]))};
        acc[m] = simd::fma(d, mul(scale, set1(scales[g * kTokens + m])), acc[m]);
        acc[m] = simd::fma(offset, set1(sums[g * kTokens + m]), acc[m]);
      });
    });
    scales += kGroups * kTokens;
    sums += kGroups * kTokens;
  }
  unrolled<kTokens>([&]<int m>() { result[m] = acc[m]; });
}

struct AmxMatrix {
  template <Codes C, int kColumns, bool kHasOffset>
  static int64_t run(const Job& job) {
    const LinearParams& p = job.p;
    const int64_t tokens = kColumns == kGroup ? p.tokens / kTokens * kTokens : 0;
    if (tokens == 0) return 0;
    constexpr int64_t kHeader = kBlockColumns / kGroup * 16 * 2 * (kHasOffset ? 2 : 1);
    constexpr int64_t kBlock = kHeader + 2 * kCodeBytes<C>;
    const int64_t blocks = p.weight.layout.blocks();
    const auto zero = static_cast<float>(p.weight.layout.zero);
    simd::load_tile_config(tile_config());
    for (int64_t t = job.first_tile; t < job.last_tile; ++t) {
      const auto pass = [&](const PackedWeight& w, auto finish) {
        const UnpackedTile unpacked = unpack_tile<C, kHeader, kBlock>(w.tile(t), blocks, job.unpacked);
        for (int64_t token = 0; token < tokens; token += kTokens) {
          simd::F32 acc[kTokens];
          tile_dot<kHasOffset>(w.tile(t), kBlock, unpacked, blocks, zero, job.rows, token, acc);
          finish(token, acc);
        }
      };
      if (!p.weight_up.data) {
        pass(p.weight,
             [&](int64_t token, const simd::F32(&acc)[kTokens]) { write_tile<kTokens>(p, t, token, acc, nullptr); });
        continue;
      }
      // The gate's sums wait in y, which this tile alone writes, while the up matrix is multiplied.
      const int64_t row = t * kTileRows;
      const int n = static_cast<int>(p.weight.layout.rows - row < 16 ? p.weight.layout.rows - row : 16);
      pass(p.weight, [&](int64_t token, const simd::F32(&acc)[kTokens]) {
        for (int m = 0; m < kTokens; ++m) simd::store_partial(p.y + (token + m) * p.y_stride + row, acc[m], n);
      });
      pass(p.weight_up, [&](int64_t token, const simd::F32(&up)[kTokens]) {
        simd::F32 acc[kTokens];
        for (int m = 0; m < kTokens; ++m) acc[m] = simd::load_partial(p.y + (token + m) * p.y_stride + row, n);
        write_tile<kTokens>(p, t, token, acc, up);
      });
    }
    simd::release_tiles();
    return tokens;
  }
};

}  // namespace

void linear(const LinearParams& p, Worker& worker) {
  drive<AmxMatrix>(p, worker);
}

}  // namespace nereid::kernels::amx
