// SPDX-License-Identifier: Apache-2.0
// What happens to a token's queries, keys and values between the projections and attention, in one pass: norms of
// heads, rotary embedding, and storing keys and values in the paged cache.
//
// A page holds page_tokens positions of all key/value heads: [kv_heads][page_tokens][head_dim], keys and values alike,
// in two arrays of pages. Position p of sequence s lies in page page_table[s * pages_per_sequence + p / page_tokens].
//   head: v = v / sqrt(mean(v^2) + eps) * norm_weight   (only with q_norm, k_norm)
//   rope: (a, b) -> (a cos - b sin, b cos + a sin) for the pairs (j, j + rotary_dim / 2), or (2j, 2j + 1) if
//   interleaved;
//         cos and sin of cos_sin's row t, which rope_table makes once a step for all layers
// Bytes: read and write q, k, v once: (2 heads + 4 kv_heads) * head_dim elements a token. Bound: latency, then memory.
#pragma once

#include "kernels/cuda/launch.h"

namespace nereid::kernels::cuda {

struct RopeTableParams {
  const int32_t* positions = nullptr;  // [tokens]
  int64_t tokens = 0;
  const float* inv_freq = nullptr;  // [rotary_dim / 2]
  int rotary_dim = 0;
  float scale = 1;
  float* cos_sin = nullptr;  // [tokens, rotary_dim]: scale * cos in the first half, scale * sin in the second
};
void rope_table(const RopeTableParams& params, const Queue& queue);

struct RopeKvParams {
  Element element = Element::kF16;  // of q, k, v
  void* q = nullptr;                // [tokens, heads * head_dim], changed in place
  int64_t q_stride = 0;
  const void* k = nullptr;  // [tokens, kv_heads * head_dim]; null: no keys and values (layers that share a cache)
  int64_t k_stride = 0;
  const void* v = nullptr;
  int64_t v_stride = 0;
  int64_t tokens = 0;
  int heads = 0, kv_heads = 0, head_dim = 0;  // head_dim: 32, 64, 96, 128 or 256
  const float* q_norm = nullptr;              // [head_dim] or null
  const float* k_norm = nullptr;
  float norm_eps = 0;
  const float* cos_sin = nullptr;  // [tokens, rotary_dim] or null: no rotation
  int rotary_dim = 0;              // at most head_dim
  bool interleaved = false;
  const int32_t* positions = nullptr;   // [tokens]; below 0: the token is padding, nothing is stored for it
  const int32_t* sequence = nullptr;    // [tokens]: row of page_table
  const int32_t* page_table = nullptr;  // [sequences, pages_per_sequence]
  int64_t pages_per_sequence = 0;
  int page_tokens = 0;
  Element cache = Element::kF16;  // kF16, kBF16 or kF8E4M3 (stored saturated, divided by k_scale and v_scale)
  float k_scale = 1, v_scale = 1;
  void* k_cache = nullptr;
  void* v_cache = nullptr;
};
void rope_kv(const RopeKvParams& params, const Queue& queue);

}  // namespace nereid::kernels::cuda
