// SPDX-License-Identifier: Apache-2.0
// The table of all ops, in alphabetical order of their names.
#include <algorithm>

#include "ops/op_list.h"

namespace nereid::ops {
namespace {

// clang-format off
constexpr const OpDef* kTable[] = {
    &kAdd,
    &kAttention,
    &kCast,
    &kConcat,
    &kDiv,
    &kEmbedding,
    &kExp,
    &kGated,
    &kGatedLinear,
    &kGelu,
    &kGeluTanh,
    &kIdentity,
    &kLayerNorm,
    &kLinear,
    &kMatmul,
    &kMul,
    &kNeg,
    &kRelu,
    &kReshape,
    &kRmsNorm,
    &kRope,
    &kScale,
    &kSelectRows,
    &kSigmoid,
    &kSilu,
    &kSoftcap,
    &kSoftmax,
    &kSplit,
    &kSqrt,
    &kSub,
    &kTanh,
    &kTranspose,
};
// clang-format on

}  // namespace

std::span<const OpDef* const> op_table() {
  return kTable;
}

const OpDef* find_op(std::string_view name) {
  auto it = std::lower_bound(std::begin(kTable), std::end(kTable), name,
                             [](const OpDef* op, std::string_view n) { return op->name < n; });
  return it != std::end(kTable) && (*it)->name == name ? *it : nullptr;
}

}  // namespace nereid::ops
