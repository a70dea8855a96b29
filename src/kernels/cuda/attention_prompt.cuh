// SPDX-License-Identifier: Apache-2.0
// Attention of prompts by wgmma, in attention_prompt.cu. Private to this folder.
#pragma once

#include "kernels/cuda/attention.h"

namespace nereid::kernels::cuda {

// False where the device is no Hopper, heads are not of 64 or 128, or the cache is not of x's type.
bool can_attention_prompt(const AttentionPrefillParams& params);
void attention_prompt(const AttentionPrefillParams& params, const Queue& queue);

}  // namespace nereid::kernels::cuda
