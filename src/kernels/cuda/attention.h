// SPDX-License-Identifier: Apache-2.0
// Causal attention of tokens over a paged cache (layout: rope.h), which already holds the tokens' own keys and values.
//
//   y[t, h] = sum_p softmax_p(scale * q[t, h] . k[p, h / group])  v[p, h / group],  positions[t] - window < p <=
//   positions[t]
// and scores s become softcap * tanh(s / softcap) where softcap != 0.
//
// attention_decode: one block a (token, key/value head, chunk of 128 positions); the query heads of a group share what
// it reads. Chunks are merged in order by the last block, so a token's result depends on its position alone: not on the
// batch, not on `splits`. Takes any number of tokens (chunked prompts too), but reads the cache once a token.
//   Bytes: 2 * kv_heads * head_dim cache elements a (token, position). Flops: 4 * heads * head_dim. Bound: memory.
//   Reached on an H200: 79 % of a copy at 8 tokens, 88 % at 32, 103 % at 128 (f8: 59 %); 5.8 us of latency at one,
//   settled.
// attention_prefill: blocks of query tokens of one sequence share what they read; for prompts. 358 to 498 Tflop/s on
// sm_90 by wgmma (heads of 64 and 128, caches of the element), else up to 196.
#pragma once

#include "kernels/cuda/launch.h"

namespace nereid::kernels::cuda {

inline constexpr int kChunkPositions = 128;

struct AttentionParams {
  Element element = Element::kF16;  // of q and y: kF16 or kBF16
  const void* q = nullptr;          // [tokens, heads * head_dim]
  int64_t q_stride = 0;
  int64_t tokens = 0;
  int heads = 0, kv_heads = 0, head_dim = 0;  // head_dim: 64, 96, 128 or 256
  float scale = 1, softcap = 0;
  int64_t window = 0;                   // 0: unlimited
  const int32_t* positions = nullptr;   // [tokens]; below 0: padding, y = 0
  const int32_t* sequence = nullptr;    // [tokens]
  const int32_t* page_table = nullptr;  // [sequences, pages_per_sequence]
  int64_t pages_per_sequence = 0;
  int page_tokens = 0;  // a multiple of 16
  // No kernel that may still run writes positions, sequence, page_table, or keys and values of positions other than
  // the tokens' own: attention_decode then fetches what is older than the step before it waits for the kernel in front.
  bool settled = false;
  Element cache = Element::kF16;  // element, or kF8E4M3
  float k_scale = 1, v_scale = 1;
  const void* k_cache = nullptr;
  const void* v_cache = nullptr;
  void* y = nullptr;  // [tokens, heads * head_dim]
  int64_t y_stride = 0;
  // No position reaches this: decides the size of the workspace and, with `splits`, the grid. A bucket of a captured
  // graph sets it to its largest context.
  int64_t max_positions = 0;
  int splits = 0;  // blocks that share the chunks of one (token, key/value head); 0: chosen by max_positions and tokens
  // attention_workspace_bytes(...) bytes. The first tokens * heads * 4 bytes are counters: 0 before the first launch
  // (cudaMemset once), and 0 again after every launch. Launches that may run at the same time need their own.
  void* workspace = nullptr;
};
void attention_decode(const AttentionParams& params, const Queue& queue);
int64_t attention_workspace_bytes(int64_t tokens, int heads, int head_dim, int64_t max_positions);

// The same for prompts: query tokens [query_begin[b], query_begin[b + 1]) are one sequence at consecutive positions.
// The arrays are on the device; `blocks` bounds their number and `max_queries` what one of them spans, for the grid.
struct AttentionPrefillParams {
  AttentionParams common;                // workspace, splits and max_positions are not used
  const int32_t* query_begin = nullptr;  // [blocks + 1]
  int64_t blocks = 0, max_queries = 0;
};
void attention_prefill(const AttentionPrefillParams& params, const Queue& queue);

}  // namespace nereid::kernels::cuda
