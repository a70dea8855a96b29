// SPDX-License-Identifier: Apache-2.0
// fuse_gated_linear: the two linears of a gated feed-forward layer and the gate become one op: x is read once and the
// two halves are never stored.
#include "passes/pass_list.h"

namespace nereid::passes {

std::vector<RewriteText> fuse_gated_linear() {
  return {{R"(graph pattern {
    input %x
    const %w_gate: $f[n, k]
    const %w_up: $f[n, k]
    optional %norm
    %gate = linear(%x, %w_gate, _, _, %norm) {norm_eps=$eps}
    %up = linear(%x, %w_up, _, _, %norm) {norm_eps=$eps}
    %y = gated(%gate, %up) {activation=$activation}
    output %y
  })",
           R"(graph replacement {
    %y = gated_linear(%x, %w_gate, %w_up, %norm) {activation=$activation, norm_eps=$eps}
    output %y
  })"}};
}

}  // namespace nereid::passes
