// SPDX-License-Identifier: Apache-2.0
// fuse_rope_attention: queries and keys are rotated where attention reads them, instead of in passes of their own.
#include "passes/pass_list.h"

namespace nereid::passes {

std::vector<RewriteText> fuse_rope_attention() {
  return {{R"(graph pattern {
    input %q, %k, %v, %k_cache, %v_cache, %positions, %sequence, %page_table, %inv_freq
    %q_turned = rope(%q, %positions, %inv_freq) {head_dim=$head_dim, interleaved=$interleaved, scale=$turn_scale}
    %k_turned = rope(%k, %positions, %inv_freq) {head_dim=$head_dim, interleaved=$interleaved, scale=$turn_scale}
    %y = attention(%q_turned, %k_turned, %v, %k_cache, %v_cache, %positions, %sequence, %page_table, _)
         {head_dim=$head_dim, rope_interleaved=false, rope_scale=1, ...rest}
    output %y
  })",
           R"(graph replacement {
    %y = attention(%q, %k, %v, %k_cache, %v_cache, %positions, %sequence, %page_table, %inv_freq)
         {head_dim=$head_dim, rope_interleaved=$interleaved, rope_scale=$turn_scale, ...rest}
    output %y
  })"}};
}

}  // namespace nereid::passes
