// SPDX-License-Identifier: Apache-2.0
// The rows, by domain, name and version.
#include "import/onnx/ops/op_table.h"

#include <algorithm>

namespace nereid::import::onnx {

// What the files of this folder define.
Importer import_batch_normalization;
Importer import_bias_add;
Importer import_bias_gelu;
Importer import_bias_split_gelu;
Importer import_bit_cast;
Importer import_broadcast_axis;
Importer import_cast;
Importer import_cast_like;
Importer import_category_mapper;
Importer import_cdist;
Importer import_clip;
Importer import_compress;
Importer import_concat;
Importer import_constant;
Importer import_constant_of_shape;
Importer import_dequantize_linear;
Importer import_dft;
Importer import_dropout;
Importer import_dynamic_quantize_lstm;
Importer import_dynamic_quantize_matmul;
Importer import_embed_layer_normalization;
Importer import_eye_like;
Importer import_fast_gelu;
Importer import_flex_attention;
Importer import_fused_conv;
Importer import_fused_gemm;
Importer import_fused_matmul;
Importer import_gather_block_quantized;
Importer import_gelu;
Importer import_gemm;
Importer import_gemm_fast_gelu;
Importer import_gradient;
Importer import_grid_sample;
Importer import_group_norm;
Importer import_group_query_attention;
Importer import_if;
Importer import_instance_normalization;
Importer import_label_encoder;
Importer import_layer_normalization;
Importer import_linear_classifier;
Importer import_linear_regressor;
Importer import_loop;
Importer import_matmul_integer_to_float;
Importer import_matmul_n_bits;
Importer import_max_pool;
Importer import_mel_weight_matrix;
Importer import_microsoft_attention;
Importer import_microsoft_rotary_embedding;
Importer import_multi_head_attention;
Importer import_negative_log_likelihood_loss;
Importer import_nhwc_max_pool;
Importer import_optional;
Importer import_pad;
Importer import_prelu;
Importer import_qattention;
Importer import_qgemm;
Importer import_qlinear_average_pool;
Importer import_qlinear_binary;
Importer import_qlinear_concat;
Importer import_qlinear_conv;
Importer import_qlinear_global_average_pool;
Importer import_qlinear_leaky_relu;
Importer import_qlinear_reduce_mean;
Importer import_qlinear_sigmoid;
Importer import_qlinear_softmax;
Importer import_qlinear_where;
Importer import_quantize_linear;
Importer import_quick_gelu;
Importer import_random;
Importer import_range;
Importer import_recurrent;
Importer import_reduce;
Importer import_reshape;
Importer import_resize;
Importer import_rms_normalization;
Importer import_roi_align;
Importer import_scaled_dot_attention;
Importer import_scan;
Importer import_selu;
Importer import_sequence_empty;
Importer import_sequence_map;
Importer import_skip_layer_normalization;
Importer import_slice;
Importer import_softmax;
Importer import_softmax_cross_entropy_loss;
Importer import_split;
Importer import_squeeze;
Importer import_svm_classifier;
Importer import_svm_regressor;
Importer import_tile;
Importer import_top_k;
Importer import_transpose;
Importer import_tree_classifier;
Importer import_tree_ensemble;
Importer import_tree_regressor;
Importer import_unique_in_order;
Importer import_upsample;
Importer import_window;

namespace {

// clang-format off
constexpr OpRow kTable[] = {
    {"Abs",                       1, nullptr, "abs"},
    {"Acos",                      1, nullptr, "acos"},
    {"Acosh",                     1, nullptr, "acosh"},
    {"Add",                       1, import_broadcast_axis},
    {"Add",                       7, nullptr, "add"},
    {"AffineGrid",               20, nullptr, "affine_grid"},
    {"And",                       1, import_broadcast_axis},
    {"And",                       7, nullptr, "and"},
    {"ArgMax",                    1, nullptr, "arg_max"},
    {"ArgMin",                    1, nullptr, "arg_min"},
    {"Asin",                      1, nullptr, "asin"},
    {"Asinh",                     1, nullptr, "asinh"},
    {"Atan",                      1, nullptr, "atan"},
    {"Atanh",                     1, nullptr, "atanh"},
    {"Attention",                23, import_scaled_dot_attention},
    {"AveragePool",               1, nullptr, "average_pool"},
    {"BatchNormalization",        1, import_batch_normalization},
    {"Bernoulli",                15, import_random},
    {"BitCast",                   1, import_bit_cast},
    {"BitShift",                  1, nullptr, "bit_shift"},
    {"BitwiseAnd",                1, nullptr, "bitwise_and"},
    {"BitwiseNot",                1, nullptr, "bitwise_not"},
    {"BitwiseOr",                 1, nullptr, "bitwise_or"},
    {"BitwiseXor",                1, nullptr, "bitwise_xor"},
    {"BlackmanWindow",           17, import_window},
    {"Cast",                      1, import_cast},
    {"CastLike",                  1, import_cast_like},
    {"CausalConvWithState",      27, nullptr, "causal_conv_with_state"},
    {"Ceil",                      1, nullptr, "ceil"},
    {"Celu",                      1, nullptr, "celu"},
    {"CenterCropPad",            18, nullptr, "center_crop_pad"},
    {"Clip",                      1, import_clip},
    {"Col2Im",                   18, nullptr, "col2im"},
    {"Compress",                  9, import_compress},
    {"Concat",                    1, import_concat},
    {"ConcatFromSequence",       11, nullptr, "concat_from_sequence"},
    {"Constant",                  1, import_constant},
    {"ConstantOfShape",           9, import_constant_of_shape},
    {"Conv",                      1, nullptr, "conv"},
    {"ConvInteger",               1, nullptr, "conv_integer"},
    {"ConvTranspose",             1, nullptr, "conv_transpose"},
    {"Cos",                       1, nullptr, "cos"},
    {"Cosh",                      1, nullptr, "cosh"},
    {"CumProd",                  26, nullptr, "cum_prod"},
    {"CumSum",                   11, nullptr, "cum_sum"},
    {"DFT",                      17, import_dft},
    {"DeformConv",               19, nullptr, "deform_conv"},
    {"DepthToSpace",              1, nullptr, "depth_to_space"},
    {"DequantizeLinear",          1, import_dequantize_linear},
    {"Det",                      11, nullptr, "det"},
    {"Div",                       1, import_broadcast_axis},
    {"Div",                       7, nullptr, "div"},
    {"Dropout",                   1, import_dropout},
    {"DynamicQuantizeLinear",     1, nullptr, "dynamic_quantize_linear"},
    {"Einsum",                   12, nullptr, "einsum"},
    {"Elu",                       1, nullptr, "elu"},
    {"Equal",                     1, import_broadcast_axis},
    {"Equal",                     7, nullptr, "equal"},
    {"Erf",                       1, nullptr, "erf"},
    {"Exp",                       1, nullptr, "exp"},
    {"Expand",                    8, nullptr, "expand"},
    {"EyeLike",                   9, import_eye_like},
    {"Flatten",                   1, nullptr, "flatten"},
    {"Floor",                     1, nullptr, "floor"},
    {"GRU",                       1, import_recurrent},
    {"Gather",                    1, nullptr, "gather"},
    {"GatherElements",           11, nullptr, "gather_elements"},
    {"GatherND",                 11, nullptr, "gather_nd"},
    {"Gelu",                      1, import_gelu},
    {"Gemm",                      1, import_gemm},
    {"GlobalAveragePool",         1, nullptr, "global_average_pool"},
    {"GlobalLpPool",              1, nullptr, "global_lp_pool"},
    {"GlobalMaxPool",             1, nullptr, "global_max_pool"},
    {"Greater",                   1, import_broadcast_axis},
    {"Greater",                   7, nullptr, "greater"},
    {"GreaterOrEqual",            1, nullptr, "greater_or_equal"},
    {"GridSample",               16, import_grid_sample},
    {"GroupNormalization",       18, nullptr, "group_normalization"},
    {"HammingWindow",            17, import_window},
    {"HannWindow",               17, import_window},
    {"HardSigmoid",               1, nullptr, "hard_sigmoid"},
    {"HardSwish",                 1, nullptr, "hard_swish"},
    {"Hardmax",                   1, import_softmax},
    {"Identity",                  1, nullptr, "identity"},
    {"If",                        1, import_if},
    {"ImageDecoder",             20, nullptr, "image_decoder"},
    {"InstanceNormalization",     1, import_instance_normalization},
    {"IsInf",                     1, nullptr, "is_inf"},
    {"IsNaN",                     1, nullptr, "is_nan"},
    {"LRN",                       1, nullptr, "lrn"},
    {"LSTM",                      1, import_recurrent},
    {"LayerNormalization",        1, import_layer_normalization},
    {"LeakyRelu",                 1, nullptr, "leaky_relu"},
    {"Less",                      1, import_broadcast_axis},
    {"Less",                      7, nullptr, "less"},
    {"LessOrEqual",               1, nullptr, "less_or_equal"},
    {"LinearAttention",          27, nullptr, "linear_attention"},
    {"Log",                       1, nullptr, "log"},
    {"LogSoftmax",                1, import_softmax},
    {"Loop",                      1, import_loop},
    {"LpNormalization",           1, nullptr, "lp_normalization"},
    {"LpPool",                    1, nullptr, "lp_pool"},
    {"MatMul",                    1, nullptr, "matmul"},
    {"MatMulInteger",             1, nullptr, "matmul_integer"},
    {"Max",                       1, nullptr, "max"},
    {"MaxPool",                   1, import_max_pool},
    {"MaxRoiPool",                1, nullptr, "max_roi_pool"},
    {"MaxUnpool",                 9, nullptr, "max_unpool"},
    {"Mean",                      1, nullptr, "mean"},
    {"MeanVarianceNormalization",  9, nullptr, "mean_variance_normalization"},
    {"MelWeightMatrix",          17, import_mel_weight_matrix},
    {"Min",                       1, nullptr, "min"},
    {"Mish",                      1, nullptr, "mish"},
    {"Mod",                       1, nullptr, "mod"},
    {"Mul",                       1, import_broadcast_axis},
    {"Mul",                       7, nullptr, "mul"},
    {"Multinomial",               7, import_random},
    {"Neg",                       1, nullptr, "neg"},
    {"NegativeLogLikelihoodLoss", 12, import_negative_log_likelihood_loss},
    {"NonMaxSuppression",        10, nullptr, "non_max_suppression"},
    {"NonZero",                   9, nullptr, "nonzero"},
    {"Not",                       1, nullptr, "not"},
    {"OneHot",                    9, nullptr, "one_hot"},
    {"Optional",                 15, import_optional},
    {"OptionalGetElement",       15, nullptr, "optional_get_element"},
    {"OptionalHasElement",       15, nullptr, "optional_has_element"},
    {"Or",                        1, import_broadcast_axis},
    {"Or",                        7, nullptr, "or"},
    {"PRelu",                     1, import_prelu},
    {"Pad",                       1, import_pad},
    {"Pow",                       1, import_broadcast_axis},
    {"Pow",                       7, nullptr, "pow"},
    {"QLinearConv",               1, nullptr, "qlinear_conv"},
    {"QLinearMatMul",             1, nullptr, "qlinear_matmul"},
    {"QuantizeLinear",            1, import_quantize_linear},
    {"RMSNormalization",          1, import_rms_normalization},
    {"RNN",                       1, import_recurrent},
    {"RandomNormal",              1, import_random},
    {"RandomNormalLike",          1, import_random},
    {"RandomUniform",             1, import_random},
    {"RandomUniformLike",         1, import_random},
    {"Range",                    11, import_range},
    {"Reciprocal",                1, nullptr, "reciprocal"},
    {"ReduceL1",                  1, import_reduce},
    {"ReduceL2",                  1, import_reduce},
    {"ReduceLogSum",              1, import_reduce},
    {"ReduceLogSumExp",           1, import_reduce},
    {"ReduceMax",                 1, import_reduce},
    {"ReduceMean",                1, import_reduce},
    {"ReduceMin",                 1, import_reduce},
    {"ReduceProd",                1, import_reduce},
    {"ReduceSum",                 1, import_reduce},
    {"ReduceSumSquare",           1, import_reduce},
    {"RegexFullMatch",           20, nullptr, "regex_full_match"},
    {"Relu",                      1, nullptr, "relu"},
    {"Reshape",                   1, import_reshape},
    {"Resize",                   10, import_resize},
    {"ReverseSequence",          10, nullptr, "reverse_sequence"},
    {"RoiAlign",                 10, import_roi_align},
    {"RotaryEmbedding",          23, nullptr, "rotary_embedding"},
    {"Round",                     1, nullptr, "round"},
    {"STFT",                     17, nullptr, "stft"},
    {"Scan",                      8, import_scan},
    {"Scatter",                   9, nullptr, "scatter_elements"},
    {"ScatterElements",          11, nullptr, "scatter_elements"},
    {"ScatterND",                11, nullptr, "scatter_nd"},
    {"Selu",                      1, import_selu},
    {"SequenceAt",               11, nullptr, "sequence_at"},
    {"SequenceConstruct",        11, nullptr, "sequence_construct"},
    {"SequenceEmpty",            11, import_sequence_empty},
    {"SequenceErase",            11, nullptr, "sequence_erase"},
    {"SequenceInsert",           11, nullptr, "sequence_insert"},
    {"SequenceLength",           11, nullptr, "sequence_length"},
    {"SequenceMap",              17, import_sequence_map},
    {"Shape",                     1, nullptr, "shape"},
    {"Shrink",                    1, nullptr, "shrink"},
    {"Sigmoid",                   1, nullptr, "sigmoid"},
    {"Sign",                      1, nullptr, "sign"},
    {"SimplifiedLayerNormalization",  1, import_rms_normalization},
    {"Sin",                       1, nullptr, "sin"},
    {"Sinh",                      1, nullptr, "sinh"},
    {"Size",                      1, nullptr, "size"},
    {"Slice",                     1, import_slice},
    {"Softmax",                   1, import_softmax},
    {"SoftmaxCrossEntropyLoss",  12, import_softmax_cross_entropy_loss},
    {"Softplus",                  1, nullptr, "softplus"},
    {"Softsign",                  1, nullptr, "softsign"},
    {"SpaceToDepth",              1, nullptr, "space_to_depth"},
    {"Split",                     1, import_split},
    {"SplitToSequence",          11, nullptr, "split_to_sequence"},
    {"Sqrt",                      1, nullptr, "sqrt"},
    {"Squeeze",                   1, import_squeeze},
    {"StringConcat",             20, nullptr, "string_concat"},
    {"StringNormalizer",         10, nullptr, "string_normalizer"},
    {"StringSplit",              20, nullptr, "string_split"},
    {"Sub",                       1, import_broadcast_axis},
    {"Sub",                       7, nullptr, "sub"},
    {"Sum",                       1, nullptr, "sum"},
    {"SwiGLU",                    1, nullptr, "swiglu"},
    {"Swish",                     1, nullptr, "swish"},
    {"Tan",                       1, nullptr, "tan"},
    {"Tanh",                      1, nullptr, "tanh"},
    {"TensorScatter",            24, nullptr, "tensor_scatter"},
    {"TfIdfVectorizer",           9, nullptr, "tf_idf_vectorizer"},
    {"ThresholdedRelu",           1, nullptr, "thresholded_relu"},
    {"Tile",                      1, import_tile},
    {"TopK",                      1, import_top_k},
    {"Transpose",                 1, import_transpose},
    {"Trilu",                    14, nullptr, "trilu"},
    {"Unique",                   11, import_compress},
    {"Unsqueeze",                 1, import_squeeze},
    {"Upsample",                  1, import_upsample},
    {"Where",                     1, nullptr, "where"},
    {"Xor",                       1, import_broadcast_axis},
    {"Xor",                       7, nullptr, "xor"},
    {"ArrayFeatureExtractor",     1, nullptr, "array_feature_extractor", "ai.onnx.ml"},
    {"Binarizer",                 1, nullptr, "binarizer", "ai.onnx.ml"},
    {"CastMap",                   1, nullptr, "cast_map", "ai.onnx.ml"},
    {"CategoryMapper",            1, import_category_mapper, {}, "ai.onnx.ml"},
    {"DictVectorizer",            1, nullptr, "dict_vectorizer", "ai.onnx.ml"},
    {"FeatureVectorizer",         1, nullptr, "feature_vectorizer", "ai.onnx.ml"},
    {"Imputer",                   1, nullptr, "imputer", "ai.onnx.ml"},
    {"LabelEncoder",              1, import_label_encoder, {}, "ai.onnx.ml"},
    {"LinearClassifier",          1, import_linear_classifier, {}, "ai.onnx.ml"},
    {"LinearRegressor",           1, import_linear_regressor, {}, "ai.onnx.ml"},
    {"Normalizer",                1, nullptr, "normalizer", "ai.onnx.ml"},
    {"OneHotEncoder",             1, nullptr, "one_hot_encoder", "ai.onnx.ml"},
    {"SVMClassifier",             1, import_svm_classifier, {}, "ai.onnx.ml"},
    {"SVMRegressor",              1, import_svm_regressor, {}, "ai.onnx.ml"},
    {"Scaler",                    1, nullptr, "scaler", "ai.onnx.ml"},
    {"TreeEnsemble",              5, import_tree_ensemble, {}, "ai.onnx.ml"},
    {"TreeEnsembleClassifier",    1, import_tree_classifier, {}, "ai.onnx.ml"},
    {"TreeEnsembleRegressor",     1, import_tree_regressor, {}, "ai.onnx.ml"},
    {"ZipMap",                    1, nullptr, "zip_map", "ai.onnx.ml"},
    {"FlexAttention",             1, import_flex_attention, {}, "ai.onnx.preview"},
    {"Adagrad",                   1, nullptr, "adagrad", "ai.onnx.preview.training"},
    {"Adam",                      1, nullptr, "adam", "ai.onnx.preview.training"},
    {"Gradient",                  1, import_gradient, {}, "ai.onnx.preview.training"},
    {"Momentum",                  1, nullptr, "momentum", "ai.onnx.preview.training"},
    {"Attention",                 1, import_microsoft_attention, {}, "com.microsoft"},
    {"BiasAdd",                   1, import_bias_add, {}, "com.microsoft"},
    {"BiasGelu",                  1, import_bias_gelu, {}, "com.microsoft"},
    {"BiasSplitGelu",             1, import_bias_split_gelu, {}, "com.microsoft"},
    {"CDist",                     1, import_cdist, {}, "com.microsoft"},
    {"CropAndResize",             1, nullptr, "crop_and_resize", "com.microsoft"},
    {"DequantizeLinear",          1, import_dequantize_linear, {}, "com.microsoft"},
    {"DynamicQuantizeLSTM",       1, import_dynamic_quantize_lstm, {}, "com.microsoft"},
    {"DynamicQuantizeMatMul",     1, import_dynamic_quantize_matmul, {}, "com.microsoft"},
    {"EmbedLayerNormalization",   1, import_embed_layer_normalization, {}, "com.microsoft"},
    {"ExpandDims",                1, nullptr, "unsqueeze", "com.microsoft"},
    {"FastGelu",                  1, import_fast_gelu, {}, "com.microsoft"},
    {"FusedConv",                 1, import_fused_conv, {}, "com.microsoft"},
    {"FusedGemm",                 1, import_fused_gemm, {}, "com.microsoft"},
    {"FusedMatMul",               1, import_fused_matmul, {}, "com.microsoft"},
    {"GatherBlockQuantized",      1, import_gather_block_quantized, {}, "com.microsoft"},
    {"GatherND",                  1, nullptr, "gather_nd", "com.microsoft"},
    {"Gelu",                      1, import_gelu, {}, "com.microsoft"},
    {"GemmFastGelu",              1, import_gemm_fast_gelu, {}, "com.microsoft"},
    {"GridSample",                1, import_grid_sample, {}, "com.microsoft"},
    {"GroupNorm",                 1, import_group_norm, {}, "com.microsoft"},
    {"GroupQueryAttention",       1, import_group_query_attention, {}, "com.microsoft"},
    {"Inverse",                   1, nullptr, "inverse", "com.microsoft"},
    {"LayerNormalization",        1, import_layer_normalization, {}, "com.microsoft"},
    {"MatMulIntegerToFloat",      1, import_matmul_integer_to_float, {}, "com.microsoft"},
    {"MatMulNBits",               1, import_matmul_n_bits, {}, "com.microsoft"},
    {"MultiHeadAttention",        1, import_multi_head_attention, {}, "com.microsoft"},
    {"NhwcMaxPool",               1, import_nhwc_max_pool, {}, "com.microsoft"},
    {"Pad",                       1, nullptr, "pad", "com.microsoft"},
    {"QAttention",                1, import_qattention, {}, "com.microsoft"},
    {"QGemm",                     1, import_qgemm, {}, "com.microsoft"},
    {"QLinearAdd",                1, import_qlinear_binary, {}, "com.microsoft"},
    {"QLinearAveragePool",        1, import_qlinear_average_pool, {}, "com.microsoft"},
    {"QLinearConcat",             1, import_qlinear_concat, {}, "com.microsoft"},
    {"QLinearConv",               1, import_qlinear_conv, {}, "com.microsoft"},
    {"QLinearGlobalAveragePool",  1, import_qlinear_global_average_pool, {}, "com.microsoft"},
    {"QLinearLeakyRelu",          1, import_qlinear_leaky_relu, {}, "com.microsoft"},
    {"QLinearMul",                1, import_qlinear_binary, {}, "com.microsoft"},
    {"QLinearReduceMean",         1, import_qlinear_reduce_mean, {}, "com.microsoft"},
    {"QLinearSigmoid",            1, import_qlinear_sigmoid, {}, "com.microsoft"},
    {"QLinearSoftmax",            1, import_qlinear_softmax, {}, "com.microsoft"},
    {"QLinearWhere",              1, import_qlinear_where, {}, "com.microsoft"},
    {"QuantizeLinear",            1, import_quantize_linear, {}, "com.microsoft"},
    {"QuickGelu",                 1, import_quick_gelu, {}, "com.microsoft"},
    {"Range",                     1, import_range, {}, "com.microsoft"},
    {"RotaryEmbedding",           1, import_microsoft_rotary_embedding, {}, "com.microsoft"},
    {"SimplifiedLayerNormalization",  1, import_rms_normalization, {}, "com.microsoft"},
    {"SkipLayerNormalization",    1, import_skip_layer_normalization, {}, "com.microsoft"},
    {"SkipSimplifiedLayerNormalization",  1, import_skip_layer_normalization, {}, "com.microsoft"},
    {"TransposeMatMul",           1, import_fused_matmul, {}, "com.microsoft"},
    {"Trilu",                     1, nullptr, "trilu", "com.microsoft"},
    {"Unique",                    1, import_unique_in_order, {}, "com.microsoft"},
};
// clang-format on

// Letters that must change to make one name of the other; small names only.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t change = diagonal + (std::tolower(a[i]) != std::tolower(b[j]));
      diagonal = row[j + 1];
      row[j + 1] = std::min({change, row[j] + 1, diagonal + 1});
    }
  }
  return row[b.size()];
}

std::string_view nearest(std::string_view name) {
  const OpRow* best = std::min_element(std::begin(kTable), std::end(kTable), [&](const OpRow& a, const OpRow& b) {
    return distance(name, a.name) < distance(name, b.name);
  });
  return best->name;
}

Result<ops::AttrValue> read_attr(const NodeContext& node, const ops::AttrSpec& spec) {
  using Kind = ops::AttrSpec::Kind;
  switch (spec.kind) {
    case Kind::kBool: {
      NEREID_TRY(const int64_t v, node.integer(spec.name));
      return ops::AttrValue(v != 0);
    }
    case Kind::kInt: {
      NEREID_TRY(const int64_t v, node.integer(spec.name));
      return ops::AttrValue(v);
    }
    case Kind::kFloat: {
      NEREID_TRY(const double v, node.real(spec.name));
      return ops::AttrValue(v);
    }
    case Kind::kString: {
      NEREID_TRY(std::string v, node.text(spec.name));
      return ops::AttrValue(std::move(v));
    }
    case Kind::kInts: {
      NEREID_TRY(std::vector<int64_t> v, node.integers(spec.name));
      return ops::AttrValue(std::move(v));
    }
    case Kind::kFloats: {
      NEREID_TRY(std::vector<double> v, node.reals(spec.name));
      return ops::AttrValue(std::move(v));
    }
    case Kind::kStrings:
      break;
  }
  NEREID_TRY(std::vector<std::string> v, node.texts(spec.name));
  return ops::AttrValue(std::move(v));
}

}  // namespace

std::span<const OpRow> op_table() {
  return kTable;
}

Result<const OpRow*> find_row(std::string_view domain, std::string_view name, int64_t version) {
  const OpRow* found = nullptr;
  const OpRow* later = nullptr;
  for (const OpRow& row : kTable) {
    if (row.domain != domain || row.name != name) continue;
    if (row.since <= version) found = &row;
    if (row.since > version && later == nullptr) later = &row;
  }
  if (found != nullptr) return found;
  if (later != nullptr)
    return unsupported("its form of opset {} cannot be read; from opset {} on it can", version, later->since);
  return unsupported("there is no such operator here; the nearest one is {}", nearest(name));
}

Status import_node(const OpRow& row, NodeContext& node) {
  if (row.import != nullptr) return row.import(node);
  const ops::OpDef* op = ops::find_op(row.direct);
  NEREID_CHECK(op != nullptr);
  ops::Attrs attrs;
  for (const std::string& name : node.attr_names()) {
    if (name == "consumed_inputs") continue;  // a hint of opset 1 that says nothing
    const auto spec = std::ranges::find(op->attrs, std::string_view(name), &ops::AttrSpec::name);
    if (spec == op->attrs.end()) return unsupported("its attribute '{}' is not known", name);
    NEREID_TRY(ops::AttrValue value, read_attr(node, *spec));
    attrs.set(name, std::move(value));
  }
  return node.lower(row.direct, node.inputs(), std::move(attrs));
}

}  // namespace nereid::import::onnx
