// SPDX-License-Identifier: Apache-2.0
// attention by the kind of cache, and rotary positions on their own.
#include "kernels/cpu/isa/attention_block.h"

namespace nereid::kernels::NEREID_ISA {

void attention_f16(const AttentionParams& p, Worker& worker) {
  attend<CacheF16>(p, worker);
}

void attention(const AttentionParams& p, Worker& worker) {
  switch (p.cache) {
    case DType::i8:
      return attention_i8(p, worker);
    case DType::f32:
      return attention_f32(p, worker);
    case DType::bf16:
      return attention_bf16(p, worker);
    case DType::f8e4m3:
      return attention_f8(p, worker);
    default:
      return attention_f16(p, worker);
  }
}

void rope(const RopeParams& p, Worker& worker) {
  const auto [begin, end] = worker.slice(p.tokens * p.heads);
  for (int64_t i = begin; i < end; ++i) {
    const int64_t t = i / p.heads;
    const int64_t h = i % p.heads;
    rotate_row(p.x + t * p.x_stride + h * p.head_dim, p.cos_sin + t * p.rotary_dim, p.head_dim, p.rotary_dim,
               p.interleaved, p.y + t * p.y_stride + h * p.head_dim);
  }
}

void rope_table(const RopeTableParams& p, Worker& worker) {
  const int half = p.rotary_dim / 2;
  const auto [begin, end] = worker.slice(p.tokens * half);
  for (int64_t i = begin; i < end; ++i) {
    const int64_t t = i / half;
    const int64_t j = i % half;
    // f64: at position 100,000 an f32 angle is off by 0.004.
    const double angle = static_cast<double>(p.positions[t]) * static_cast<double>(p.inv_freq[j]);
    p.cos_sin[t * p.rotary_dim + j] = static_cast<float>(__builtin_cos(angle)) * p.scale;
    p.cos_sin[t * p.rotary_dim + half + j] = static_cast<float>(__builtin_sin(angle)) * p.scale;
  }
}

}  // namespace nereid::kernels::NEREID_ISA
