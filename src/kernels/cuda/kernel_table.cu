// SPDX-License-Identifier: Apache-2.0
// The plugin's kernels, for device/cuda/plugin to hand out.
#include <cuda_runtime.h>

#include "kernels/cuda/kernel_table.h"

namespace nereid::kernels::cuda {

// Null where no source defines it: prompts then attend token by token.
void attention_prefill(const AttentionPrefillParams& params, const Queue& queue) __attribute__((weak));

namespace {

bool takes_head_dim(int head_dim) {
  return head_dim == 64 || head_dim == 96 || head_dim == 128 || head_dim == 256;
}

constexpr KernelTable kTable = {.last_error = [] { return static_cast<int>(cudaGetLastError()); },
                                .takes_head_dim = takes_head_dim,
                                .rope_table = rope_table,
                                .rope_kv = rope_kv,
                                .attention_decode = attention_decode,
                                .attention_workspace_bytes = attention_workspace_bytes,
                                .attention_prefill = attention_prefill,
                                .linear = linear,
                                .linear_workspace_bytes = linear_workspace_bytes,
                                .rms_norm = rms_norm,
                                .layer_norm = layer_norm,
                                .gated = gated,
                                .scale_add = scale_add,
                                .select_rows = select_rows,
                                .embedding = embedding,
                                .draw_rows = draw_rows,
                                .pack_tile = pack_tile};

}  // namespace
}  // namespace nereid::kernels::cuda

extern "C" const void* nereid_cuda_kernels() {
  return &nereid::kernels::cuda::kTable;
}
