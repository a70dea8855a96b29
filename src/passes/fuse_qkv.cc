// SPDX-License-Identifier: Apache-2.0
// fuse_qkv: three linears of one input become one whose weight's rows are theirs in a row: x is read once, and one
// longer stream of weights is faster than three short ones.
#include "passes/pass_list.h"

namespace nereid::passes {

std::vector<RewriteText> fuse_qkv() {
  return {{R"(graph pattern {
    input %x
    const %wq: $f[_, width]
    const %wk: $f[_, width]
    const %wv: $f[_, width]
    optional const %bq: $b[_]
    optional const %bk: $b[_]
    optional const %bv: $b[_]
    optional %norm
    %q = linear(%x, %wq, %bq, _, %norm) {norm_eps=$eps}
    %k = linear(%x, %wk, %bk, _, %norm) {norm_eps=$eps}
    %v = linear(%x, %wv, %bv, _, %norm) {norm_eps=$eps}
    output %q, %k, %v
  })",
           R"(graph replacement {
    const %w = join_rows(%wq, %wk, %wv)
    const %b = join_rows(%bq, %bk, %bv)
    %qkv = linear(%x, %w, %b, _, %norm) {norm_eps=$eps}
    %q, %k, %v = split(%qkv) {sizes=[$wq.rows, $wk.rows, $wv.rows]}
    output %q, %k, %v
  })"}};
}

}  // namespace nereid::passes
