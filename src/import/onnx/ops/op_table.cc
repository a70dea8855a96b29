// SPDX-License-Identifier: Apache-2.0
// The rows, by domain, name and version.
#include "import/onnx/ops/op_table.h"

#include <algorithm>

#include "import/onnx/ops/op_list.h"

namespace nereid::import::onnx {
namespace {

// clang-format off
constexpr OpRow kTable[] = {
    {"Add",                       7, nullptr, "add"},
    {"Cast",                      1, import_cast},
    {"Constant",                  1, import_constant},
    {"Div",                       7, nullptr, "div"},
    {"Exp",                       1, nullptr, "exp"},
    {"Identity",                  1, nullptr, "identity"},
    {"MatMul",                    1, nullptr, "matmul"},
    {"Mul",                       7, nullptr, "mul"},
    {"Neg",                       1, nullptr, "neg"},
    {"Relu",                      1, nullptr, "relu"},
    {"Reshape",                   1, import_reshape},
    {"Sigmoid",                   1, nullptr, "sigmoid"},
    {"Softmax",                  13, nullptr, "softmax"},
    {"Sqrt",                      1, nullptr, "sqrt"},
    {"Sub",                       7, nullptr, "sub"},
    {"Tanh",                      1, nullptr, "tanh"},
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
    const auto spec = std::ranges::find(op->attrs, std::string_view(name), &ops::AttrSpec::name);
    if (spec == op->attrs.end()) return unsupported("its attribute '{}' is not known", name);
    NEREID_TRY(ops::AttrValue value, read_attr(node, *spec));
    attrs.set(name, std::move(value));
  }
  return node.lower(row.direct, node.inputs(), std::move(attrs));
}

}  // namespace nereid::import::onnx
