// SPDX-License-Identifier: Apache-2.0
// Where a position's key and value lie in a paged cache, and how they get there.
#pragma once

#include "kernels/cpu/isa/attention_format.h"
#include "kernels/cpu/isa/rope_row.h"

namespace nereid::kernels::NEREID_ISA {
namespace {

constexpr float kLargestOfCodes = 65504.0f;  // as f16 has it

// Where position `pos` of a sequence lives.
template <class Format>
struct Cache {
  using Element = typename Format::Element;
  const AttentionParams& p;
  const int32_t* pages;
  int kv_head;

  // What a page has of one head.
  Element* head_of(void* cache, int64_t pos) const {
    const int64_t row = p.head_dim + (Format::kIsCodes ? static_cast<int64_t>(sizeof(float)) : 0);
    return static_cast<Element*>(cache) +
           (pages[pos / p.page_tokens] * static_cast<int64_t>(p.kv_heads) + kv_head) * p.page_tokens * row;
  }
  // The 16-lane block that holds pos (pos rounded down to a multiple of 16).
  Element* k_block(int64_t pos) const { return head_of(p.k_cache, pos) + pos % p.page_tokens / 16 * 16 * p.head_dim; }
  Element* v_row(int64_t pos) const { return head_of(p.v_cache, pos) + pos % p.page_tokens * p.head_dim; }
  // Of codes: the scale of a position; those of the page's other positions lie around it.
  float* scale(void* cache, int64_t pos) const {
    return reinterpret_cast<float*>(head_of(cache, pos) + static_cast<int64_t>(p.page_tokens) * p.head_dim) +
           pos % p.page_tokens;
  }
};

// The first position that a token may see.
int64_t first_seen(const AttentionParams& p, int64_t token) {
  const int64_t lo = p.positions[token] - p.window + 1;
  return p.window > 0 && lo > 0 ? lo : 0;
}

// Rotates and stores one token's key and value of one head; rotates the queries that share it.
template <class Format>
void store_token(const AttentionParams& p, int64_t t, int kv_head) {
  using Element = typename Format::Element;
  const Cache<Format> cache{p, p.page_table + p.sequence[t] * p.pages_per_sequence, kv_head};
  const int64_t pos = p.positions[t];
  const float* angles = p.cos_sin ? p.cos_sin + t * p.rotary_dim : nullptr;
  alignas(64) float key[kMaxHeadDim];
  const float* k = p.k + t * p.k_stride + kv_head * p.head_dim;
  if (angles) {
    rotate_row(k, angles, p.head_dim, p.rotary_dim, p.rope_interleaved, key);
    k = key;
    const int group = p.heads / p.kv_heads;
    for (int h = kv_head * group; h < (kv_head + 1) * group; ++h) {
      float* q = p.q + t * p.q_stride + h * p.head_dim;
      rotate_row(q, angles, p.head_dim, p.rotary_dim, p.rope_interleaved, q);
    }
  }
  Element* k_block = cache.k_block(pos);
  const float* v = p.v + t * p.v_stride + kv_head * p.head_dim;
  Element* v_row = cache.v_row(pos);
  if constexpr (Format::kIsCodes) {
    alignas(64) int8_t codes[kMaxHeadDim];
    *cache.scale(p.k_cache, pos) = store_codes(k, p.head_dim, kLargestOfCodes, codes);
    for (int d = 0; d < p.head_dim; ++d)
      k_block[(d / 4 * 16 + pos % 16) * 4 + d % 4] = static_cast<int8_t>(static_cast<uint8_t>(codes[d]) ^ 0x80u);
    *cache.scale(p.v_cache, pos) = store_codes(v, p.head_dim, kLargestOfCodes, v_row);
  } else {
    alignas(64) Element part[16];
    for (int d = 0; d < p.head_dim; d += 16) {
      Format::store(part, simd::load(k + d));
      for (int i = 0; i < 16; ++i) k_block[(d + i) * 16 + pos % 16] = part[i];
      Format::store(v_row + d, simd::load(v + d));
    }
  }
}

}  // namespace
}  // namespace nereid::kernels::NEREID_ISA
