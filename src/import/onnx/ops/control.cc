// SPDX-License-Identifier: Apache-2.0
// If, Loop, Scan and SequenceMap: the operators that run graphs.
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {
namespace {

using Captures = std::vector<ValueId>;

ops::Attrs with_captures(const Captures& captures, ops::Attrs attrs = {}) {
  attrs.set("captures", static_cast<int64_t>(captures.size()));
  return attrs;
}

std::vector<ValueId> joined(std::vector<ValueId> inputs, const Captures& captures) {
  inputs.insert(inputs.end(), captures.begin(), captures.end());
  return inputs;
}

// What may change from turn to turn: the element type stays, the sizes are not known.
ops::TensorType loosened(ops::TensorType type) {
  type.shape = Shape::unranked();
  return type;
}

// A tensor without its dimension `axis`.
ops::TensorType without(ops::TensorType type, int64_t axis) {
  if (!type.shape.is_ranked()) return type;
  std::vector<Dim> dims = type.shape.dims();
  if (axis < 0) axis += static_cast<int64_t>(dims.size());
  if (axis < 0 || axis >= static_cast<int64_t>(dims.size())) return loosened(type);
  dims.erase(dims.begin() + axis);
  type.shape = Shape(std::move(dims));
  return type;
}

}  // namespace

Status import_if(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 1));
  Captures captures;
  NEREID_TRY(auto regions, node.regions({{"then_branch", {}}, {"else_branch", {}}}, captures));
  const size_t results = regions[0]->outputs().size();
  return node.lower_control("if", joined({node.input(0)}, captures), with_captures(captures), std::move(regions),
                            results);
}

Status import_loop(NodeContext& node) {
  std::vector<ValueId> inputs = node.inputs();
  if (inputs.size() < 2) inputs.resize(2);
  std::vector<ops::TensorType> formals{{DType::i64, Shape()}, {DType::boolean, Shape()}};
  for (size_t i = 2; i < inputs.size(); ++i) {
    if (!inputs[i].valid()) return invalid_argument("its carried value {} is missing", i - 2);
    formals.push_back(loosened(node.type(inputs[i])));
  }
  Captures captures;
  NEREID_TRY(auto regions, node.regions({{"body", formals}}, captures));
  if (regions[0]->outputs().size() + 1 < formals.size())
    return invalid_argument("its body has {} results for {} carried values", regions[0]->outputs().size(),
                            formals.size() - 2);
  const size_t results = regions[0]->outputs().size() - 1;
  return node.lower_control("loop", joined(std::move(inputs), captures), with_captures(captures), std::move(regions),
                            results);
}

Status import_scan(NodeContext& node) {
  const bool batched = node.version() < 9;
  const size_t first = batched ? 1 : 0;  // opset 8 has the lengths first
  NEREID_TRY(const int64_t scanned, node.integer("num_scan_inputs"));
  const auto values = static_cast<int64_t>(node.input_count()) - static_cast<int64_t>(first);
  if (scanned < 1 || scanned > values)
    return invalid_argument("it has {} values, of which {} are said to be scanned", values, scanned);
  ops::Attrs attrs{{"num_scan_inputs", scanned}, {"batched", batched}};
  const std::vector<int64_t> none;
  NEREID_TRY(const std::vector<int64_t> axes, node.integers("scan_input_axes", none));
  attrs.set("scan_input_axes", axes);
  NEREID_TRY(std::vector<int64_t> directions, node.integers(batched ? "directions" : "scan_input_directions", none));
  attrs.set("scan_input_directions", std::move(directions));
  for (const char* name : {"scan_output_axes", "scan_output_directions"}) {
    NEREID_TRY(std::vector<int64_t> list, node.integers(name, none));
    attrs.set(name, std::move(list));
  }
  std::vector<ValueId> inputs{batched ? node.input(0) : ValueId{}};
  std::vector<ops::TensorType> formals;
  for (size_t i = first; i < node.input_count(); ++i) {
    if (!node.has_input(i)) return invalid_argument("its value {} is missing", i - first);
    inputs.push_back(node.input(i));
    ops::TensorType type = node.type(node.input(i));
    if (batched) type = without(type, 0);
    const auto at = static_cast<int64_t>(i - first) - (values - scanned);  // among the scanned ones
    if (at < 0) {
      formals.push_back(loosened(type));
    } else {
      formals.push_back(without(type, static_cast<size_t>(at) < axes.size() ? axes[static_cast<size_t>(at)] : 0));
    }
  }
  Captures captures;
  NEREID_TRY(auto regions, node.regions({{"body", formals}}, captures));
  const size_t results = regions[0]->outputs().size();
  return node.lower_control("scan", joined(std::move(inputs), captures), with_captures(captures, std::move(attrs)),
                            std::move(regions), results);
}

Status import_sequence_map(NodeContext& node) {
  std::vector<ops::TensorType> formals;
  for (ValueId in : node.inputs()) {
    if (!in.valid()) return invalid_argument("one of its inputs is missing");
    ops::TensorType type = node.type(in);
    if (type.container == ops::Container::kSequence) {
      type.container = ops::Container::kNone;
      type.shape = Shape::unranked();
    }
    formals.push_back(std::move(type));
  }
  Captures captures;
  NEREID_TRY(auto regions, node.regions({{"body", formals}}, captures));
  const size_t results = regions[0]->outputs().size();
  return node.lower_control("sequence_map", joined(node.inputs(), captures), with_captures(captures),
                            std::move(regions), results);
}

}  // namespace nereid::import::onnx
