// SPDX-License-Identifier: Apache-2.0
// fuse_linear_residual: the residual is added while the linear's result is still in registers.
#include "passes/pass_list.h"

namespace nereid::passes {

std::vector<RewriteText> fuse_linear_residual() {
  return {{R"(graph pattern {
    input %x, %w, %residual
    optional %b, %norm
    %h = linear(%x, %w, %b, _, %norm) {...rest}
    %y = add(%h, %residual)
    output %y
  })",
           R"(graph replacement {
    %y = linear(%x, %w, %b, %residual, %norm) {...rest}
    output %y
  })"}};
}

}  // namespace nereid::passes
