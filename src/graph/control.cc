// SPDX-License-Identifier: Apache-2.0
// Control: which region runs how often on what.
#include "graph/control.h"

#include <algorithm>

#include "base/interrupt.h"
#include "ops/elements.h"
#include "ops/shape_rule.h"

namespace nereid::graph {
namespace {

using Inputs = std::vector<const ops::Datum*>;

Result<bool> truth(const ops::Datum& d, std::string_view what) {
  if (!d.is_tensor() || d.tensor.dtype != DType::boolean || d.view().elements() != 1)
    return invalid_argument("{} should be one bool, but is {}", what, ops::type_of(d).to_string());
  return *d.view().as<bool>();
}

Result<int64_t> count(const ops::Datum& d, std::string_view what) {
  if (!d.is_tensor() || !is_integer(d.tensor.dtype) || d.view().elements() != 1)
    return invalid_argument("{} should be one integer, but is {}", what, ops::type_of(d).to_string());
  return ops::load<int64_t>(d.view())[0];
}

ops::Datum scalar(DType dtype, int64_t value) {
  ops::Tensor t = ops::Tensor::zeros(dtype, {}).value();
  (void)ops::store<int64_t>(t.view(), std::span<const int64_t>(&value, 1));
  return t;
}

// Tensors of one type as one, with a new dimension at `axis`.
Result<ops::Datum> stack(std::vector<ops::Datum>& parts, int64_t axis, const ops::TensorType& item) {
  if (parts.empty()) {
    std::vector<int64_t> sizes{0};
    for (const Dim& d : item.shape.dims()) sizes.push_back(d.is_static() ? d.size() : 0);
    NEREID_TRY(ops::Tensor none, ops::Tensor::zeros(item.dtype, std::move(sizes)));
    return ops::Datum(std::move(none));
  }
  for (const ops::Datum& p : parts)
    if (!p.is_tensor() || p.tensor.dtype != parts[0].tensor.dtype || p.tensor.sizes != parts[0].tensor.sizes)
      return invalid_argument("results of two turns cannot be stacked: {} and {}", ops::type_of(parts[0]).to_string(),
                              ops::type_of(p).to_string());
  const ops::Tensor& first = parts[0].tensor;
  const auto rank = static_cast<int64_t>(first.sizes.size()) + 1;
  if (axis < -rank || axis >= rank) return invalid_argument("results of rank {} have no axis {}", rank, axis);
  if (axis < 0) axis += rank;
  std::vector<int64_t> sizes = first.sizes;
  sizes.insert(sizes.begin() + axis, static_cast<int64_t>(parts.size()));
  NEREID_TRY(ops::Tensor all, ops::Tensor::zeros(first.dtype, sizes));
  const ops::AxisSteps steps = ops::axis_steps(sizes, axis);
  for (size_t p = 0; p < parts.size(); ++p)
    for (int64_t o = 0; o < steps.outer; ++o)
      ops::copy_elements(all.view(), (o * steps.size + static_cast<int64_t>(p)) * steps.inner, parts[p].view(),
                         o * steps.inner, steps.inner);
  return ops::Datum(std::move(all));
}

// Slice `index` of a tensor along `axis`, without that dimension.
ops::Datum slice(const ops::Datum& d, int64_t axis, int64_t index) {
  const ConstTensorView view = d.view();
  const ops::AxisSteps steps = ops::axis_steps(view.sizes, axis);
  std::vector<int64_t> sizes = view.sizes;
  sizes.erase(sizes.begin() + axis);
  ops::Tensor part = ops::Tensor::zeros(view.dtype, std::move(sizes)).value();
  for (int64_t o = 0; o < steps.outer; ++o)
    ops::copy_elements(part.view(), o * steps.inner, view, (o * steps.size + index) * steps.inner, steps.inner);
  return part;
}

Inputs pointers(const std::vector<ops::Datum>& values) {
  Inputs out;
  for (const ops::Datum& v : values) out.push_back(&v);
  return out;
}

void append(Inputs& to, std::span<const ops::Datum* const> more) {
  to.insert(to.end(), more.begin(), more.end());
}

std::span<const ops::Datum* const> captures_of(const Node& node, std::span<const ops::Datum* const> inputs) {
  return inputs.last(static_cast<size_t>(node.attrs.integer("captures")));
}

Result<std::vector<ops::Datum>> run_if(const Node& node, std::span<const ops::Datum* const> inputs,
                                       RunRegion run_region) {
  NEREID_TRY(const bool chosen, truth(*inputs[0], "the condition"));
  return run_region(chosen ? 0 : 1, captures_of(node, inputs));
}

Result<std::vector<ops::Datum>> run_loop(const Node& node, std::span<const ops::Datum* const> inputs,
                                         RunRegion run_region) {
  int64_t trips = INT64_MAX;
  bool more = true;
  if (inputs[0] != nullptr) {
    NEREID_TRY(trips, count(*inputs[0], "the number of turns"));
  }
  if (inputs[1] != nullptr) {
    NEREID_TRY(more, truth(*inputs[1], "the condition"));
  }
  const auto captures = captures_of(node, inputs);
  std::vector<ops::Datum> carried;
  for (const ops::Datum* d : inputs.subspan(2, inputs.size() - 2 - captures.size())) {
    if (d == nullptr) return invalid_argument("a carried value has no beginning");
    carried.push_back(*d);
  }
  const Graph& body = *node.regions[0];
  std::vector<std::vector<ops::Datum>> stacked(body.outputs().size() - 1 - carried.size());
  for (int64_t turn = 0; turn < trips && more; ++turn) {
    NEREID_RETURN_IF_ERROR(check_interrupted());
    const ops::Datum index = scalar(DType::i64, turn), condition = scalar(DType::boolean, 1);
    Inputs in{&index, &condition};
    append(in, pointers(carried));
    append(in, captures);
    NEREID_TRY(std::vector<ops::Datum> out, run_region(0, in));
    NEREID_TRY(more, truth(out[0], "the body's condition"));
    for (size_t i = 0; i < stacked.size(); ++i) stacked[i].push_back(std::move(out[1 + carried.size() + i]));
    for (size_t i = 0; i < carried.size(); ++i) carried[i] = std::move(out[1 + i]);
  }
  std::vector<ops::Datum> results = std::move(carried);
  for (size_t i = 0; i < stacked.size(); ++i) {
    const ValueId item = body.outputs()[body.outputs().size() - stacked.size() + i];
    NEREID_TRY(ops::Datum all, stack(stacked[i], 0, body.value(item).type));
    results.push_back(std::move(all));
  }
  return results;
}

int64_t entry(const std::vector<int64_t>& values, size_t i) {
  return i < values.size() ? values[i] : 0;
}

// One sequence: states in, states and stacked results out.
Result<std::vector<ops::Datum>> scan_once(const Node& node, std::vector<ops::Datum> states,
                                          std::span<const ops::Datum* const> scanned,
                                          std::span<const ops::Datum* const> captures, int64_t most_turns,
                                          RunRegion run_region) {
  int64_t turns = -1;
  std::vector<int64_t> axes;
  for (size_t i = 0; i < scanned.size(); ++i) {
    if (!scanned[i]->is_tensor()) return invalid_argument("a scanned value is no tensor");
    const auto rank = static_cast<int64_t>(scanned[i]->tensor.sizes.size());
    int64_t axis = entry(node.attrs.integers("scan_input_axes"), i);
    if (axis < -rank || axis >= rank) return invalid_argument("a scanned value of rank {} has no axis {}", rank, axis);
    axis += axis < 0 ? rank : 0;
    const int64_t size = scanned[i]->tensor.sizes[static_cast<size_t>(axis)];
    if (turns >= 0 && size != turns) return invalid_argument("scanned values have lengths {} and {}", turns, size);
    turns = size;
    axes.push_back(axis);
  }
  turns = std::min(turns, most_turns);
  const size_t carried = states.size();
  const Graph& body = *node.regions[0];
  std::vector<std::vector<ops::Datum>> stacked(body.outputs().size() - carried);
  for (int64_t turn = 0; turn < turns; ++turn) {
    NEREID_RETURN_IF_ERROR(check_interrupted());
    std::vector<ops::Datum> slices;
    for (size_t i = 0; i < scanned.size(); ++i) {
      const bool backwards = entry(node.attrs.integers("scan_input_directions"), i) != 0;
      slices.push_back(slice(*scanned[i], axes[i], backwards ? turns - 1 - turn : turn));
    }
    Inputs in = pointers(states);
    append(in, pointers(slices));
    append(in, captures);
    NEREID_TRY(std::vector<ops::Datum> out, run_region(0, in));
    for (size_t i = 0; i < stacked.size(); ++i) stacked[i].push_back(std::move(out[carried + i]));
    for (size_t i = 0; i < carried; ++i) states[i] = std::move(out[i]);
  }
  for (size_t i = 0; i < stacked.size(); ++i) {
    if (entry(node.attrs.integers("scan_output_directions"), i) != 0)
      std::reverse(stacked[i].begin(), stacked[i].end());
    NEREID_TRY(ops::Datum all, stack(stacked[i], entry(node.attrs.integers("scan_output_axes"), i),
                                     body.value(body.outputs()[carried + i]).type));
    states.push_back(std::move(all));
  }
  return states;
}

Result<std::vector<ops::Datum>> run_scan(const Node& node, std::span<const ops::Datum* const> inputs,
                                         RunRegion run_region) {
  const auto captures = captures_of(node, inputs);
  const auto values = inputs.subspan(1, inputs.size() - 1 - captures.size());
  for (const ops::Datum* v : values)
    if (v == nullptr) return invalid_argument("a scan's value is missing");
  const auto scanned = values.last(static_cast<size_t>(node.attrs.integer("num_scan_inputs")));
  const auto initial = values.first(values.size() - scanned.size());
  if (!node.attrs.boolean("batched")) {
    std::vector<ops::Datum> states;
    for (const ops::Datum* d : initial) states.push_back(*d);
    return scan_once(node, std::move(states), scanned, captures, INT64_MAX, run_region);
  }
  int64_t batch = -1;
  for (const ops::Datum* v : values) {
    const int64_t size = v->is_tensor() && !v->tensor.sizes.empty() ? v->tensor.sizes[0] : -1;
    if (size < 0 || (batch >= 0 && size != batch))
      return invalid_argument("a scan's values have batches {} and {}", batch, size);
    batch = size;
  }
  ops::Elements<int64_t> lengths;
  if (inputs[0] != nullptr) {
    if (!inputs[0]->is_tensor() || inputs[0]->view().elements() != batch)
      return invalid_argument("a scan over {} sequences has lengths {}", batch, ops::type_of(*inputs[0]).to_string());
    lengths = ops::load<int64_t>(inputs[0]->view());
  }
  std::vector<std::vector<ops::Datum>> by_result;
  for (int64_t b = 0; b < batch; ++b) {
    std::vector<ops::Datum> states, parts;
    for (const ops::Datum* d : initial) states.push_back(slice(*d, 0, b));
    for (const ops::Datum* d : scanned) parts.push_back(slice(*d, 0, b));
    const Inputs part_pointers = pointers(parts);
    const int64_t most = lengths.size() > 0 ? lengths[b] : INT64_MAX;
    NEREID_TRY(std::vector<ops::Datum> out,
               scan_once(node, std::move(states), part_pointers, captures, most, run_region));
    by_result.resize(out.size());
    for (size_t i = 0; i < out.size(); ++i) by_result[i].push_back(std::move(out[i]));
  }
  std::vector<ops::Datum> results;
  for (auto& parts : by_result) {
    NEREID_TRY(ops::Datum all, stack(parts, 0, {}));
    results.push_back(std::move(all));
  }
  return results;
}

Result<std::vector<ops::Datum>> run_sequence_map(const Node& node, std::span<const ops::Datum* const> inputs,
                                                 RunRegion run_region) {
  const auto captures = captures_of(node, inputs);
  const auto values = inputs.first(inputs.size() - captures.size());
  if (values[0] == nullptr || values[0]->kind != ops::Datum::Kind::kSequence)
    return invalid_argument("the first input is no sequence");
  const size_t turns = values[0]->items.size();
  const Graph& body = *node.regions[0];
  std::vector<std::vector<ops::Datum>> results(body.outputs().size());
  for (size_t turn = 0; turn < turns; ++turn) {
    NEREID_RETURN_IF_ERROR(check_interrupted());
    Inputs in;
    for (const ops::Datum* v : values) {
      if (v == nullptr) return invalid_argument("an input is missing");
      if (v->kind != ops::Datum::Kind::kSequence) {
        in.push_back(v);
      } else if (v->items.size() == turns) {
        in.push_back(&v->items[turn]);
      } else {
        return invalid_argument("two sequences have {} and {} items", turns, v->items.size());
      }
    }
    append(in, captures);
    NEREID_TRY(std::vector<ops::Datum> out, run_region(0, in));
    for (size_t i = 0; i < results.size(); ++i) results[i].push_back(std::move(out[i]));
  }
  std::vector<ops::Datum> sequences;
  for (size_t i = 0; i < results.size(); ++i)
    sequences.push_back(ops::Datum::sequence(body.value(body.outputs()[i]).type.dtype, std::move(results[i])));
  return sequences;
}

}  // namespace

Result<std::vector<ops::Datum>> run_control(const Node& node, std::span<const ops::Datum* const> inputs,
                                            RunRegion run_region) {
  if (node.op->name == "if") return run_if(node, inputs, run_region);
  if (node.op->name == "loop") return run_loop(node, inputs, run_region);
  if (node.op->name == "scan") return run_scan(node, inputs, run_region);
  if (node.op->name == "sequence_map") return run_sequence_map(node, inputs, run_region);
  return internal("{} has regions, but no way to run them is known", node.op->name);
}

}  // namespace nereid::graph
