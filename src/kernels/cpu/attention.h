// SPDX-License-Identifier: Apache-2.0
// Causal attention over a paged key/value cache, with rotary embedding and grouped queries.
//
// A page holds page_tokens (a multiple of 16) positions of all key/value heads. Keys lie in blocks of 16 positions,
// head_dim rows of 16 lanes (so that 16 scores are made at once); values lie position after position:
//     k page: [kv_heads][page_tokens / 16][head_dim][16]     v page: [kv_heads][page_tokens][head_dim]
// As f32, f16, bf16 or f8e4m3. With i8 a position of a head is codes with one f32 scale, largest magnitude / 127, and
// four neighbouring codes of a key lie together, as dot products of bytes want them; keys' codes are stored plus 128:
//     k page: [kv_heads]{ [page_tokens / 16][head_dim / 4][16][4] codes, [page_tokens] scales }
//     v page: [kv_heads]{ [page_tokens][head_dim] codes, [page_tokens] scales }
// Scores are then exact products with the query in 8 bits (a scale a head); values are weighed in f32.
//
// For each token and head: softmax over positions in steps of 16, running maximum and sum (Milakov and Gimelshein
// 2018), segments of 256 positions merged in order. A token's result depends on its own position alone, not on
// what else is in the batch, how prompts are cut into chunks, or the number of threads.
//
// Cost: 4 * heads * head_dim flops a (token, position); bytes: 2 * kv_heads * (bytes of a head) a position of the
// context, read once for all query heads of a group. Bound: memory at one token, FMA in prefill.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/dtype.h"
#include "base/thread_pool.h"

namespace nereid::kernels {

struct AttentionParams {
  float* q = nullptr;  // [tokens, heads * head_dim]; rotated in place when inv_freq is set
  int64_t q_stride = 0;
  const float* k = nullptr;  // [tokens, kv_heads * head_dim]
  int64_t k_stride = 0;
  const float* v = nullptr;
  int64_t v_stride = 0;
  int64_t tokens = 0;
  int heads = 0, kv_heads = 0, head_dim = 0;  // head_dim is a multiple of 16 here, up to kMaxHeadDim
  float scale = 1, softcap = 0;               // softcap 0: none
  int64_t window = 0;                         // 0: unlimited
  const int32_t* positions = nullptr;         // [tokens]
  const int32_t* sequence = nullptr;          // [tokens]: row of page_table
  const int32_t* page_table = nullptr;        // [sequences, pages_per_sequence]
  int64_t pages_per_sequence = 0;
  int page_tokens = 0;
  DType cache = DType::f16;  // f32, f16, bf16, f8e4m3 or i8
  void* k_cache = nullptr;
  void* v_cache = nullptr;
  const float* cos_sin = nullptr;  // [tokens, rotary_dim] as rope_table makes it, or null: no rotation
  int rotary_dim = 0;
  bool rope_interleaved = false;
  float* y = nullptr;  // [tokens, heads * head_dim]
  int64_t y_stride = 0;
};

inline constexpr int kMaxHeadDim = 512;

// The angles of a step, once for all layers: row t holds scale * cos(positions[t] * inv_freq[j]) in its first half and
// scale * sin(...) in its second.
struct RopeTableParams {
  const int32_t* positions = nullptr;  // [tokens]
  int64_t tokens = 0;
  const float* inv_freq = nullptr;  // [rotary_dim / 2]
  int rotary_dim = 0;
  float scale = 1;
  float* cos_sin = nullptr;  // [tokens, rotary_dim]
};

// Rotates the first rotary_dim elements of each head: pairs (j, j + rotary_dim / 2), or (2j, 2j + 1) if interleaved.
struct RopeParams {
  const float* x = nullptr;  // [tokens, heads * head_dim]
  int64_t x_stride = 0;
  int64_t tokens = 0;
  int heads = 0, head_dim = 0, rotary_dim = 0;
  const float* cos_sin = nullptr;
  bool interleaved = false;
  float* y = nullptr;  // may be x
  int64_t y_stride = 0;
};

}  // namespace nereid::kernels
