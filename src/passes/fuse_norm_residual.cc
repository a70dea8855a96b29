// SPDX-License-Identifier: Apache-2.0
// fuse_norm_residual: norms after a block (as gemma3 has them) add the residual in the same pass over the row.
#include "passes/pass_list.h"

namespace nereid::passes {

std::vector<RewriteText> fuse_norm_residual() {
  return {{R"(graph pattern {
    input %x, %residual
    optional %w
    %h = rms_norm(%x, %w) {...rest}
    %y = add(%h, %residual)
    output %y
  })",
           R"(graph replacement {
    %y = rms_norm(%x, %w, %residual) {...rest}
    output %y
  })"}};
}

}  // namespace nereid::passes
