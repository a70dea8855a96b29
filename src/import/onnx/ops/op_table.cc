// SPDX-License-Identifier: Apache-2.0
// The rows, by domain, name and version.
#include "import/onnx/ops/op_table.h"

#include <algorithm>

#include "import/onnx/ops/op_list.h"

namespace nereid::import::onnx {
namespace {

// clang-format off
constexpr OpRow kTable[] = {
    {"Abs",                       1, nullptr, "abs"},
    {"Acos",                      1, nullptr, "acos"},
    {"Acosh",                     1, nullptr, "acosh"},
    {"Add",                       1, import_broadcast_axis},
    {"Add",                       7, nullptr, "add"},
    {"And",                       1, import_broadcast_axis},
    {"And",                       7, nullptr, "and"},
    {"ArgMax",                    1, nullptr, "arg_max"},
    {"ArgMin",                    1, nullptr, "arg_min"},
    {"Asin",                      1, nullptr, "asin"},
    {"Asinh",                     1, nullptr, "asinh"},
    {"Atan",                      1, nullptr, "atan"},
    {"Atanh",                     1, nullptr, "atanh"},
    {"BatchNormalization",        1, import_batch_normalization},
    {"BitCast",                   1, import_bit_cast},
    {"BitShift",                  1, nullptr, "bit_shift"},
    {"BitwiseAnd",                1, nullptr, "bitwise_and"},
    {"BitwiseNot",                1, nullptr, "bitwise_not"},
    {"BitwiseOr",                 1, nullptr, "bitwise_or"},
    {"BitwiseXor",                1, nullptr, "bitwise_xor"},
    {"Cast",                      1, import_cast},
    {"CastLike",                  1, import_cast_like},
    {"Ceil",                      1, nullptr, "ceil"},
    {"Celu",                      1, nullptr, "celu"},
    {"Clip",                      1, import_clip},
    {"Constant",                  1, import_constant},
    {"Cos",                       1, nullptr, "cos"},
    {"Cosh",                      1, nullptr, "cosh"},
    {"CumProd",                  26, nullptr, "cum_prod"},
    {"CumSum",                   11, nullptr, "cum_sum"},
    {"Det",                      11, nullptr, "det"},
    {"Div",                       1, import_broadcast_axis},
    {"Div",                       7, nullptr, "div"},
    {"Dropout",                   1, import_dropout},
    {"Einsum",                   12, nullptr, "einsum"},
    {"Elu",                       1, nullptr, "elu"},
    {"Equal",                     1, import_broadcast_axis},
    {"Equal",                     7, nullptr, "equal"},
    {"Erf",                       1, nullptr, "erf"},
    {"Exp",                       1, nullptr, "exp"},
    {"Floor",                     1, nullptr, "floor"},
    {"GRU",                       1, import_recurrent},
    {"Gelu",                      1, import_gelu},
    {"Gemm",                      1, import_gemm},
    {"Greater",                   1, import_broadcast_axis},
    {"Greater",                   7, nullptr, "greater"},
    {"GreaterOrEqual",            1, nullptr, "greater_or_equal"},
    {"GroupNormalization",       18, nullptr, "group_normalization"},
    {"HardSigmoid",               1, nullptr, "hard_sigmoid"},
    {"HardSwish",                 1, nullptr, "hard_swish"},
    {"Hardmax",                   1, import_softmax},
    {"Identity",                  1, nullptr, "identity"},
    {"If",                        1, import_if},
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
    {"Log",                       1, nullptr, "log"},
    {"LogSoftmax",                1, import_softmax},
    {"Loop",                      1, import_loop},
    {"LpNormalization",           1, nullptr, "lp_normalization"},
    {"MatMul",                    1, nullptr, "matmul"},
    {"Max",                       1, nullptr, "max"},
    {"Mean",                      1, nullptr, "mean"},
    {"MeanVarianceNormalization",  9, nullptr, "mean_variance_normalization"},
    {"Min",                       1, nullptr, "min"},
    {"Mish",                      1, nullptr, "mish"},
    {"Mod",                       1, nullptr, "mod"},
    {"Mul",                       1, import_broadcast_axis},
    {"Mul",                       7, nullptr, "mul"},
    {"Neg",                       1, nullptr, "neg"},
    {"Not",                       1, nullptr, "not"},
    {"Or",                        1, import_broadcast_axis},
    {"Or",                        7, nullptr, "or"},
    {"PRelu",                     1, import_prelu},
    {"Pow",                       1, import_broadcast_axis},
    {"Pow",                       7, nullptr, "pow"},
    {"RMSNormalization",          1, import_rms_normalization},
    {"RNN",                       1, import_recurrent},
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
    {"Relu",                      1, nullptr, "relu"},
    {"Reshape",                   1, import_reshape},
    {"Round",                     1, nullptr, "round"},
    {"Scan",                      8, import_scan},
    {"Selu",                      1, import_selu},
    {"SequenceMap",              17, import_sequence_map},
    {"Shrink",                    1, nullptr, "shrink"},
    {"Sigmoid",                   1, nullptr, "sigmoid"},
    {"Sign",                      1, nullptr, "sign"},
    {"SimplifiedLayerNormalization",  1, import_rms_normalization},
    {"Sin",                       1, nullptr, "sin"},
    {"Sinh",                      1, nullptr, "sinh"},
    {"Softmax",                   1, import_softmax},
    {"Softplus",                  1, nullptr, "softplus"},
    {"Softsign",                  1, nullptr, "softsign"},
    {"Sqrt",                      1, nullptr, "sqrt"},
    {"Sub",                       1, import_broadcast_axis},
    {"Sub",                       7, nullptr, "sub"},
    {"Sum",                       1, nullptr, "sum"},
    {"SwiGLU",                    1, nullptr, "swiglu"},
    {"Swish",                     1, nullptr, "swish"},
    {"Tan",                       1, nullptr, "tan"},
    {"Tanh",                      1, nullptr, "tanh"},
    {"ThresholdedRelu",           1, nullptr, "thresholded_relu"},
    {"TopK",                      1, import_top_k},
    {"Where",                     1, nullptr, "where"},
    {"Xor",                       1, import_broadcast_axis},
    {"Xor",                       7, nullptr, "xor"},
    {"BiasGelu",                  1, import_bias_gelu, {}, "com.microsoft"},
    {"FastGelu",                  1, import_fast_gelu, {}, "com.microsoft"},
    {"Gelu",                      1, import_gelu, {}, "com.microsoft"},
    {"LayerNormalization",        1, import_layer_normalization, {}, "com.microsoft"},
    {"QuickGelu",                 1, import_quick_gelu, {}, "com.microsoft"},
    {"SimplifiedLayerNormalization",  1, import_rms_normalization, {}, "com.microsoft"},
    {"SkipLayerNormalization",    1, import_skip_layer_normalization, {}, "com.microsoft"},
    {"SkipSimplifiedLayerNormalization",  1, import_skip_layer_normalization, {}, "com.microsoft"},
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
