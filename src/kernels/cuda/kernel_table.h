// SPDX-License-Identifier: Apache-2.0
// The launch functions as a table, which is how the program gets them out of the CUDA plugin: the program is linked
// against none of them.
#pragma once

#include "kernels/cuda/attention.h"
#include "kernels/cuda/draw_rows.h"
#include "kernels/cuda/elementwise.h"
#include "kernels/cuda/linear.h"
#include "kernels/cuda/norm.h"
#include "kernels/cuda/rope.h"
#include "kernels/cuda/sample.h"
#include "kernels/cuda/weight.h"

namespace nereid::kernels::cuda {

inline constexpr uint32_t kKernelTable = 2;

struct KernelTable {
  uint32_t version = kKernelTable;
  uint32_t bytes = sizeof(KernelTable);

  // What the driver thought of the launches since the last call: a CUDA error code, 0 for none.
  int (*last_error)() = nullptr;
  bool (*takes_head_dim)(int head_dim) = nullptr;

  void (*rope_table)(const RopeTableParams&, const Queue&) = nullptr;
  void (*rope_kv)(const RopeKvParams&, const Queue&) = nullptr;
  void (*attention_decode)(const AttentionParams&, const Queue&) = nullptr;
  int64_t (*attention_workspace_bytes)(int64_t tokens, int heads, int head_dim, int64_t max_positions) = nullptr;
  void (*attention_prefill)(const AttentionPrefillParams&, const Queue&) = nullptr;  // null: there is none yet
  void (*linear)(const LinearParams&, const Queue&) = nullptr;
  int64_t (*linear_workspace_bytes)(const Weight&, bool gated, int64_t tokens) = nullptr;
  void (*rms_norm)(const RmsNormParams&, const Queue&) = nullptr;
  void (*layer_norm)(const LayerNormParams&, const Queue&) = nullptr;
  void (*gated)(const GatedParams&, const Queue&) = nullptr;
  void (*scale_add)(const ScaleAddParams&, const Queue&) = nullptr;
  void (*select_rows)(const SelectRowsParams&, const Queue&) = nullptr;
  void (*embedding)(const EmbeddingParams&, const Queue&) = nullptr;
  void (*draw_rows)(const DrawRowsParams&, const Queue&) = nullptr;

  // On the host.
  void (*pack_tile)(const Weight& layout, const uint8_t* codes, const float* scale, const float* offset,
                    int64_t row_count, void* dst) = nullptr;
};

}  // namespace nereid::kernels::cuda
