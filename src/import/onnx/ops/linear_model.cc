// SPDX-License-Identifier: Apache-2.0
// ai.onnx.ml LinearRegressor, LinearClassifier, SVMRegressor, SVMClassifier: lists of numbers become constants.
#include "import/onnx/ops/model_parts.h"
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {
namespace {

// Numbers as a table of so many rows; invalid if they are none.
Result<ValueId> table(NodeContext& node, std::string_view name, int64_t rows) {
  NEREID_TRY(const std::vector<double> numbers, node.reals(name, std::vector<double>()));
  const int64_t n = static_cast<int64_t>(numbers.size());
  if (n == 0) return ValueId();
  if (rows < 1 || n % rows != 0) return invalid_argument("its {} numbers of '{}' do not make {} rows", n, name, rows);
  return node.constant(ops::Tensor::of(DType::f32, {rows, n / rows}, numbers));
}

Result<ops::Attrs> kernel_attrs(NodeContext& node) {
  ops::Attrs attrs;
  NEREID_TRY(std::string kernel, node.text("kernel_type", "LINEAR"));
  NEREID_TRY(std::string post, node.text("post_transform", "NONE"));
  NEREID_TRY(std::vector<double> params, node.reals("kernel_params", std::vector<double>()));
  NEREID_TRY(std::vector<double> rho, node.reals("rho", std::vector<double>()));
  attrs.set("kernel_type", std::move(kernel));
  attrs.set("post_transform", std::move(post));
  attrs.set("kernel_params", std::move(params));
  attrs.set("rho", std::move(rho));
  return attrs;
}

}  // namespace

Status import_linear_regressor(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 1));
  NEREID_TRY(const int64_t targets, node.integer("targets", 1));
  NEREID_TRY(std::string post, node.text("post_transform", "NONE"));
  NEREID_TRY(const ValueId coefficients, table(node, "coefficients", targets));
  if (!coefficients.valid()) return invalid_argument("it has no coefficients");
  NEREID_TRY(const ValueId intercepts, constant_reals(node, "intercepts", ""));
  return node.lower("linear_regressor", {node.input(0), coefficients, intercepts},
                    {{"post_transform", std::move(post)}});
}

Status import_linear_classifier(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 1));
  NEREID_TRY(const ClassLabels labels, read_labels(node, "classlabels_ints"));
  NEREID_TRY(const std::vector<double> intercepts, node.reals("intercepts", std::vector<double>()));
  NEREID_TRY(const std::vector<double> numbers, node.reals("coefficients"));
  NEREID_TRY(std::string post, node.text("post_transform", "NONE"));
  // Two classes may share one row: its score is the second's. The intercepts tell how many rows there are, or x does.
  int64_t rows = intercepts.empty() ? labels.count() : static_cast<int64_t>(intercepts.size());
  const Shape& x = node.type(node.input(0)).shape;
  if (intercepts.empty() && x.rank() > 0 && x[x.rank() - 1].is_static() &&
      x[x.rank() - 1].size() == static_cast<int64_t>(numbers.size()))
    rows = 1;
  NEREID_TRY(const ValueId coefficients, table(node, "coefficients", rows));
  if (!coefficients.valid()) return invalid_argument("it has no coefficients");
  NEREID_TRY(const ValueId bias, constant_reals(node, "intercepts", ""));
  NEREID_TRY(const std::vector<ValueId> results,
             node.emit_all("linear_classifier", {node.input(0), coefficients, bias},
                           {{"classes", labels.count()}, {"post_transform", std::move(post)}}, 2));
  return give_classes(node, labels, results);
}

Status import_svm_regressor(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 1));
  NEREID_TRY(ops::Attrs attrs, kernel_attrs(node));
  NEREID_TRY(const int64_t supports, node.integer("n_supports", 0));
  NEREID_TRY(const int64_t one_class, node.integer("one_class", 0));
  attrs.set("one_class", one_class != 0);
  NEREID_TRY(const ValueId coefficients, table(node, "coefficients", 1));
  if (!coefficients.valid()) return invalid_argument("it has no coefficients");
  ValueId vectors;
  if (supports > 0) {
    NEREID_TRY(vectors, table(node, "support_vectors", supports));
  }
  return node.lower("svm_regressor", {node.input(0), coefficients, vectors}, std::move(attrs));
}

Status import_svm_classifier(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 1));
  NEREID_TRY(const ClassLabels labels, read_labels(node, "classlabels_ints"));
  NEREID_TRY(ops::Attrs attrs, kernel_attrs(node));
  NEREID_TRY(std::vector<int64_t> per_class, node.integers("vectors_per_class", std::vector<int64_t>()));
  for (const char* name : {"prob_a", "prob_b"}) {
    NEREID_TRY(std::vector<double> list, node.reals(name, std::vector<double>()));
    attrs.set(name, std::move(list));
  }
  const bool linear = per_class.empty();
  const int64_t classes = linear ? std::max<int64_t>(labels.count(), 1) : static_cast<int64_t>(per_class.size());
  int64_t supports = 0;
  for (int64_t v : per_class)
    if (v < 0 || __builtin_add_overflow(supports, v, &supports))
      return invalid_argument("its vectors_per_class holds {}", v);
  attrs.set("classes", classes);
  attrs.set("vectors_per_class", std::move(per_class));
  NEREID_TRY(const ValueId coefficients, table(node, "coefficients", linear ? classes : classes - 1));
  if (!coefficients.valid()) return invalid_argument("it has no coefficients");
  ValueId vectors;
  if (!linear) {
    NEREID_TRY(vectors, table(node, "support_vectors", supports));
  }
  NEREID_TRY(const std::vector<ValueId> results,
             node.emit_all("svm_classifier", {node.input(0), coefficients, vectors}, std::move(attrs), 2));
  return give_classes(node, labels, results);
}

}  // namespace nereid::import::onnx
