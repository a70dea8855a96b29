// SPDX-License-Identifier: Apache-2.0
// Declares each op's definition, one line an op; op_table.cc lists the same names. Private to ops/.
#pragma once

#include "ops/op.h"

namespace nereid::ops {

extern const OpDef kAdd;
extern const OpDef kAttention;
extern const OpDef kCast;
extern const OpDef kConcat;
extern const OpDef kDiv;
extern const OpDef kEmbedding;
extern const OpDef kExp;
extern const OpDef kGated;
extern const OpDef kGatedLinear;
extern const OpDef kGelu;
extern const OpDef kGeluTanh;
extern const OpDef kIdentity;
extern const OpDef kLayerNorm;
extern const OpDef kLinear;
extern const OpDef kMatmul;
extern const OpDef kMul;
extern const OpDef kNeg;
extern const OpDef kRelu;
extern const OpDef kReshape;
extern const OpDef kRmsNorm;
extern const OpDef kRope;
extern const OpDef kScale;
extern const OpDef kSelectRows;
extern const OpDef kSigmoid;
extern const OpDef kSilu;
extern const OpDef kSoftcap;
extern const OpDef kSoftmax;
extern const OpDef kSplit;
extern const OpDef kSqrt;
extern const OpDef kSub;
extern const OpDef kTanh;
extern const OpDef kTranspose;

}  // namespace nereid::ops
