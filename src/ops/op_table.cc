// SPDX-License-Identifier: Apache-2.0
// The table of all ops, in alphabetical order of their names.
#include <algorithm>

#include "ops/op.h"

namespace nereid::ops {

// What the files of this folder define.
extern const OpDef kAbs;
extern const OpDef kAcos;
extern const OpDef kAcosh;
extern const OpDef kAdagrad;
extern const OpDef kAdam;
extern const OpDef kAdd;
extern const OpDef kAffineGrid;
extern const OpDef kAnd;
extern const OpDef kArgMax;
extern const OpDef kArgMin;
extern const OpDef kArrayFeatureExtractor;
extern const OpDef kAsin;
extern const OpDef kAsinh;
extern const OpDef kAtan;
extern const OpDef kAtanh;
extern const OpDef kAttention;
extern const OpDef kAttentionPacked;
extern const OpDef kAveragePool;
extern const OpDef kBatchNormalization;
extern const OpDef kBatchNormalizationTraining;
extern const OpDef kBernoulli;
extern const OpDef kBinarizer;
extern const OpDef kBitCast;
extern const OpDef kBitShift;
extern const OpDef kBitwiseAnd;
extern const OpDef kBitwiseNot;
extern const OpDef kBitwiseOr;
extern const OpDef kBitwiseXor;
extern const OpDef kBlackmanWindow;
extern const OpDef kCast;
extern const OpDef kCastMap;
extern const OpDef kCausalConvWithState;
extern const OpDef kCeil;
extern const OpDef kCelu;
extern const OpDef kCenterCropPad;
extern const OpDef kClip;
extern const OpDef kCol2im;
extern const OpDef kCompress;
extern const OpDef kConcat;
extern const OpDef kConcatFromSequence;
extern const OpDef kConstantOfShape;
extern const OpDef kConv;
extern const OpDef kConvInteger;
extern const OpDef kConvLast;
extern const OpDef kConvLastQ;
extern const OpDef kConvTranspose;
extern const OpDef kConvTransposeLast;
extern const OpDef kCos;
extern const OpDef kCosh;
extern const OpDef kCropAndResize;
extern const OpDef kCumProd;
extern const OpDef kCumSum;
extern const OpDef kDeformConv;
extern const OpDef kDense;
extern const OpDef kDenseQ;
extern const OpDef kDepthToSpace;
extern const OpDef kDequantizeLinear;
extern const OpDef kDet;
extern const OpDef kDft;
extern const OpDef kDictVectorizer;
extern const OpDef kDiv;
extern const OpDef kDropout;
extern const OpDef kDynamicQuantizeLinear;
extern const OpDef kEinsum;
extern const OpDef kElu;
extern const OpDef kEmbedding;
extern const OpDef kEqual;
extern const OpDef kErf;
extern const OpDef kExp;
extern const OpDef kExpand;
extern const OpDef kEyeLike;
extern const OpDef kFeatureVectorizer;
extern const OpDef kFlatten;
extern const OpDef kFloor;
extern const OpDef kGated;
extern const OpDef kGatedLinear;
extern const OpDef kGather;
extern const OpDef kGatherElements;
extern const OpDef kGatherNd;
extern const OpDef kGelu;
extern const OpDef kGeluTanh;
extern const OpDef kGemm;
extern const OpDef kGlobalAveragePool;
extern const OpDef kGlobalLpPool;
extern const OpDef kGlobalMaxPool;
extern const OpDef kGlobalPoolLast;
extern const OpDef kGreater;
extern const OpDef kGreaterOrEqual;
extern const OpDef kGridSample;
extern const OpDef kGroupNormalization;
extern const OpDef kGru;
extern const OpDef kHammingWindow;
extern const OpDef kHannWindow;
extern const OpDef kHardSigmoid;
extern const OpDef kHardSwish;
extern const OpDef kHardmax;
extern const OpDef kIdentity;
extern const OpDef kIf;
extern const OpDef kImageDecoder;
extern const OpDef kImputer;
extern const OpDef kInstanceNormalization;
extern const OpDef kInverse;
extern const OpDef kIsInf;
extern const OpDef kIsNan;
extern const OpDef kLabelEncoder;
extern const OpDef kLayerNorm;
extern const OpDef kLayerNormalization;
extern const OpDef kLeakyRelu;
extern const OpDef kLess;
extern const OpDef kLessOrEqual;
extern const OpDef kLinear;
extern const OpDef kLinearAttention;
extern const OpDef kLinearClassifier;
extern const OpDef kLinearRegressor;
extern const OpDef kLog;
extern const OpDef kLogSoftmax;
extern const OpDef kLoop;
extern const OpDef kLpNormalization;
extern const OpDef kLpPool;
extern const OpDef kLrn;
extern const OpDef kLstm;
extern const OpDef kMatmul;
extern const OpDef kMatmulInteger;
extern const OpDef kMax;
extern const OpDef kMaxPool;
extern const OpDef kMaxRoiPool;
extern const OpDef kMaxUnpool;
extern const OpDef kMean;
extern const OpDef kMeanVarianceNormalization;
extern const OpDef kMelWeightMatrix;
extern const OpDef kMin;
extern const OpDef kMish;
extern const OpDef kMod;
extern const OpDef kMomentum;
extern const OpDef kMul;
extern const OpDef kMultinomial;
extern const OpDef kNeg;
extern const OpDef kNegativeLogLikelihoodLoss;
extern const OpDef kNonMaxSuppression;
extern const OpDef kNonzero;
extern const OpDef kNormalizer;
extern const OpDef kNot;
extern const OpDef kOneHot;
extern const OpDef kOneHotEncoder;
extern const OpDef kOptional;
extern const OpDef kOptionalGetElement;
extern const OpDef kOptionalHasElement;
extern const OpDef kOr;
extern const OpDef kPad;
extern const OpDef kPoolLast;
extern const OpDef kPow;
extern const OpDef kPrelu;
extern const OpDef kProgram;
extern const OpDef kQlinearConv;
extern const OpDef kQlinearMatmul;
extern const OpDef kQuantizeLinear;
extern const OpDef kRandomNormal;
extern const OpDef kRandomUniform;
extern const OpDef kRange;
extern const OpDef kReciprocal;
extern const OpDef kReduceL1;
extern const OpDef kReduceL2;
extern const OpDef kReduceLogSum;
extern const OpDef kReduceLogSumExp;
extern const OpDef kReduceMax;
extern const OpDef kReduceMean;
extern const OpDef kReduceMin;
extern const OpDef kReduceProd;
extern const OpDef kReduceSum;
extern const OpDef kReduceSumSquare;
extern const OpDef kRegexFullMatch;
extern const OpDef kRelu;
extern const OpDef kReshape;
extern const OpDef kReshapeTo;
extern const OpDef kResize;
extern const OpDef kReverseSequence;
extern const OpDef kRmsNorm;
extern const OpDef kRmsNormalization;
extern const OpDef kRnn;
extern const OpDef kRoiAlign;
extern const OpDef kRope;
extern const OpDef kRotaryEmbedding;
extern const OpDef kRound;
extern const OpDef kScale;
extern const OpDef kScaledDotAttention;
extern const OpDef kScaler;
extern const OpDef kScan;
extern const OpDef kScatterElements;
extern const OpDef kScatterNd;
extern const OpDef kSelectRows;
extern const OpDef kSelu;
extern const OpDef kSequenceAt;
extern const OpDef kSequenceConstruct;
extern const OpDef kSequenceErase;
extern const OpDef kSequenceInsert;
extern const OpDef kSequenceLength;
extern const OpDef kSequenceMap;
extern const OpDef kShape;
extern const OpDef kShrink;
extern const OpDef kSigmoid;
extern const OpDef kSign;
extern const OpDef kSilu;
extern const OpDef kSin;
extern const OpDef kSinh;
extern const OpDef kSize;
extern const OpDef kSlice;
extern const OpDef kSoftcap;
extern const OpDef kSoftmax;
extern const OpDef kSoftplus;
extern const OpDef kSoftsign;
extern const OpDef kSpaceToDepth;
extern const OpDef kSplit;
extern const OpDef kSplitAlong;
extern const OpDef kSplitToSequence;
extern const OpDef kSqrt;
extern const OpDef kSqueeze;
extern const OpDef kStft;
extern const OpDef kStringConcat;
extern const OpDef kStringNormalizer;
extern const OpDef kStringSplit;
extern const OpDef kSub;
extern const OpDef kSum;
extern const OpDef kSvmClassifier;
extern const OpDef kSvmRegressor;
extern const OpDef kSwiglu;
extern const OpDef kSwish;
extern const OpDef kTan;
extern const OpDef kTanh;
extern const OpDef kTensorScatter;
extern const OpDef kTfIdfVectorizer;
extern const OpDef kThresholdedRelu;
extern const OpDef kTile;
extern const OpDef kTopK;
extern const OpDef kTranspose;
extern const OpDef kTreeClassifier;
extern const OpDef kTreeEnsemble;
extern const OpDef kTrilu;
extern const OpDef kUnique;
extern const OpDef kUnsqueeze;
extern const OpDef kWhere;
extern const OpDef kXor;
extern const OpDef kZipMap;

namespace {

// clang-format off
constexpr const OpDef* kTable[] = {
    &kAbs,
    &kAcos,
    &kAcosh,
    &kAdagrad,
    &kAdam,
    &kAdd,
    &kAffineGrid,
    &kAnd,
    &kArgMax,
    &kArgMin,
    &kArrayFeatureExtractor,
    &kAsin,
    &kAsinh,
    &kAtan,
    &kAtanh,
    &kAttention,
    &kAttentionPacked,
    &kAveragePool,
    &kBatchNormalization,
    &kBatchNormalizationTraining,
    &kBernoulli,
    &kBinarizer,
    &kBitCast,
    &kBitShift,
    &kBitwiseAnd,
    &kBitwiseNot,
    &kBitwiseOr,
    &kBitwiseXor,
    &kBlackmanWindow,
    &kCast,
    &kCastMap,
    &kCausalConvWithState,
    &kCeil,
    &kCelu,
    &kCenterCropPad,
    &kClip,
    &kCol2im,
    &kCompress,
    &kConcat,
    &kConcatFromSequence,
    &kConstantOfShape,
    &kConv,
    &kConvInteger,
    &kConvLast,
    &kConvLastQ,
    &kConvTranspose,
    &kConvTransposeLast,
    &kCos,
    &kCosh,
    &kCropAndResize,
    &kCumProd,
    &kCumSum,
    &kDeformConv,
    &kDense,
    &kDenseQ,
    &kDepthToSpace,
    &kDequantizeLinear,
    &kDet,
    &kDft,
    &kDictVectorizer,
    &kDiv,
    &kDropout,
    &kDynamicQuantizeLinear,
    &kEinsum,
    &kElu,
    &kEmbedding,
    &kEqual,
    &kErf,
    &kExp,
    &kExpand,
    &kEyeLike,
    &kFeatureVectorizer,
    &kFlatten,
    &kFloor,
    &kGated,
    &kGatedLinear,
    &kGather,
    &kGatherElements,
    &kGatherNd,
    &kGelu,
    &kGeluTanh,
    &kGemm,
    &kGlobalAveragePool,
    &kGlobalLpPool,
    &kGlobalMaxPool,
    &kGlobalPoolLast,
    &kGreater,
    &kGreaterOrEqual,
    &kGridSample,
    &kGroupNormalization,
    &kGru,
    &kHammingWindow,
    &kHannWindow,
    &kHardSigmoid,
    &kHardSwish,
    &kHardmax,
    &kIdentity,
    &kIf,
    &kImageDecoder,
    &kImputer,
    &kInstanceNormalization,
    &kInverse,
    &kIsInf,
    &kIsNan,
    &kLabelEncoder,
    &kLayerNorm,
    &kLayerNormalization,
    &kLeakyRelu,
    &kLess,
    &kLessOrEqual,
    &kLinear,
    &kLinearAttention,
    &kLinearClassifier,
    &kLinearRegressor,
    &kLog,
    &kLogSoftmax,
    &kLoop,
    &kLpNormalization,
    &kLpPool,
    &kLrn,
    &kLstm,
    &kMatmul,
    &kMatmulInteger,
    &kMax,
    &kMaxPool,
    &kMaxRoiPool,
    &kMaxUnpool,
    &kMean,
    &kMeanVarianceNormalization,
    &kMelWeightMatrix,
    &kMin,
    &kMish,
    &kMod,
    &kMomentum,
    &kMul,
    &kMultinomial,
    &kNeg,
    &kNegativeLogLikelihoodLoss,
    &kNonMaxSuppression,
    &kNonzero,
    &kNormalizer,
    &kNot,
    &kOneHot,
    &kOneHotEncoder,
    &kOptional,
    &kOptionalGetElement,
    &kOptionalHasElement,
    &kOr,
    &kPad,
    &kPoolLast,
    &kPow,
    &kPrelu,
    &kProgram,
    &kQlinearConv,
    &kQlinearMatmul,
    &kQuantizeLinear,
    &kRandomNormal,
    &kRandomUniform,
    &kRange,
    &kReciprocal,
    &kReduceL1,
    &kReduceL2,
    &kReduceLogSum,
    &kReduceLogSumExp,
    &kReduceMax,
    &kReduceMean,
    &kReduceMin,
    &kReduceProd,
    &kReduceSum,
    &kReduceSumSquare,
    &kRegexFullMatch,
    &kRelu,
    &kReshape,
    &kReshapeTo,
    &kResize,
    &kReverseSequence,
    &kRmsNorm,
    &kRmsNormalization,
    &kRnn,
    &kRoiAlign,
    &kRope,
    &kRotaryEmbedding,
    &kRound,
    &kScale,
    &kScaledDotAttention,
    &kScaler,
    &kScan,
    &kScatterElements,
    &kScatterNd,
    &kSelectRows,
    &kSelu,
    &kSequenceAt,
    &kSequenceConstruct,
    &kSequenceErase,
    &kSequenceInsert,
    &kSequenceLength,
    &kSequenceMap,
    &kShape,
    &kShrink,
    &kSigmoid,
    &kSign,
    &kSilu,
    &kSin,
    &kSinh,
    &kSize,
    &kSlice,
    &kSoftcap,
    &kSoftmax,
    &kSoftplus,
    &kSoftsign,
    &kSpaceToDepth,
    &kSplit,
    &kSplitAlong,
    &kSplitToSequence,
    &kSqrt,
    &kSqueeze,
    &kStft,
    &kStringConcat,
    &kStringNormalizer,
    &kStringSplit,
    &kSub,
    &kSum,
    &kSvmClassifier,
    &kSvmRegressor,
    &kSwiglu,
    &kSwish,
    &kTan,
    &kTanh,
    &kTensorScatter,
    &kTfIdfVectorizer,
    &kThresholdedRelu,
    &kTile,
    &kTopK,
    &kTranspose,
    &kTreeClassifier,
    &kTreeEnsemble,
    &kTrilu,
    &kUnique,
    &kUnsqueeze,
    &kWhere,
    &kXor,
    &kZipMap,
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
