// SPDX-License-Identifier: Apache-2.0
#include "passes/quantize_layers.h"

#include <algorithm>
#include <cmath>

#include "passes/edit.h"
#include "passes/layer_inputs.h"

namespace nereid::passes {
namespace {

using graph::Node;
using graph::NodeId;
using graph::ValueId;

constexpr double kWeightSteps = 127, kActivationSteps = 255;

// Along which the weights' scales differ: the output channels.
int64_t channel_axis(const Node& layer) {
  const bool rows = layer.op->name == "conv" || (layer.op->name == "gemm" && layer.attrs.boolean("transB"));
  return rows ? 0 : 1;
}

bool is_f32_weight(const graph::Value& w) {
  return w.kind == graph::Value::Kind::kConstant && w.data.parts.size() == 1 && w.type.dtype == DType::f32;
}

bool is_quantizable(const graph::Graph& g, const Node& node) {
  const std::string_view op = node.op->name;
  if (op != "conv" && op != "matmul" && op != "gemm") return false;
  const graph::Value &x = g.value(node.inputs[kX]), &w = g.value(node.inputs[kW]);
  if (!is_f32_weight(w) || x.type.dtype != DType::f32 || x.kind == graph::Value::Kind::kConstant) return false;
  if (x.producer.valid() && g.node(x.producer).op->name == "dequantize_linear") return false;
  const int rank = w.type.shape.rank();
  if (op == "conv") return rank == 3 || rank == 4;
  if (op == "gemm" && (node.attrs.boolean("transA") || node.attrs.real("alpha") != 1)) return false;
  return rank == 2 && x.type.shape.is_ranked();
}

// Nodes that may read an image's codes dequantised instead of the image: what int8 layers take in, or what is as well
// done on codes.
bool may_read_codes(const Node& node) {
  static constexpr std::string_view kOps[] = {"add", "average_pool", "global_average_pool", "global_max_pool",
                                              "max_pool"};
  return std::ranges::find(kOps, node.op->name) != std::end(kOps);
}

class Quantizer {
 public:
  Quantizer(graph::Graph& g, PassContext& context, const std::set<std::string, std::less<>>& chosen,
            const std::map<std::string, ActivationRange, std::less<>>& ranges)
      : edit_(g, context), g_(g), chosen_(chosen), ranges_(ranges) {}

  Status run() {
    // By name: values that rewritten layers make have other ids, and the old names.
    std::vector<std::string> activations;
    for (const NodeId id : g_.order()) {
      if (!is_chosen(g_.node(id))) continue;
      const std::string& name = g_.value(g_.node(id).inputs[kX]).name;
      if (std::ranges::find(activations, name) == activations.end()) activations.push_back(name);
    }
    for (const std::string& name : activations) NEREID_RETURN_IF_ERROR(quantize(g_.find_value(name)));
    return Status::ok();
  }

 private:
  bool is_chosen(const Node& node) const {
    return is_quantizable(g_, node) && chosen_.contains(g_.value(node.outputs[0]).name);
  }

  Status quantize(ValueId x) {
    const std::string name = g_.value(x).name;
    std::vector<NodeId> readers = g_.users(x);
    std::vector<NodeId> layers, others;
    bool image = false;
    for (const NodeId id : readers) {
      const Node& node = g_.node(id);
      if (node.inputs[kX] == x && is_chosen(node)) {
        layers.push_back(id);
        image = image || node.op->name == "conv";
      } else if (may_read_codes(node)) {
        others.push_back(id);
      }
    }
    const auto range = ranges_.find(name);
    if (range == ranges_.end() && image)
      return not_found("the calibration says nothing of '{}', which layers in int8 read; calibrate this network", name);
    NEREID_TRY(const ValueId codes,
               range == ranges_.end() ? dynamic(x, readers[0]) : dequantized(x, readers[0], range->second));
    for (const NodeId id : layers) NEREID_RETURN_IF_ERROR(requantize(id, codes));
    if (!image) return Status::ok();
    for (const NodeId id : others) {
      std::vector<ValueId> inputs = g_.node(id).inputs;
      std::ranges::replace(inputs, x, codes);
      NEREID_RETURN_IF_ERROR(put(id, std::move(inputs)));
    }
    return Status::ok();
  }

  // x quantised and dequantised, in front of `before`.
  Result<ValueId> dequantized(ValueId x, NodeId before, const ActivationRange& range) {
    const std::string name = g_.value(x).name;
    const double span = range.most - range.least;
    const auto scale = static_cast<float>(span > 0 ? span / kActivationSteps : 1);
    const double zero = std::clamp(std::nearbyint(-range.least / static_cast<double>(scale)), 0.0, kActivationSteps);
    const ValueId s = edit_.constant(name + ".scale", DType::f32, {}, {static_cast<double>(scale)});
    const ValueId z = edit_.constant(name + ".zero", DType::u8, {}, {zero});
    NEREID_TRY(const ValueId codes, edit_.insert(before, "quantize_linear", {x, s, z}, {}, name + ".u8"));
    return edit_.insert(before, "dequantize_linear", {codes, s, z}, {}, name + ".real");
  }

  // The same with the range that x has in this run.
  Result<ValueId> dynamic(ValueId x, NodeId before) {
    const std::string name = g_.value(x).name;
    NEREID_TRY(const std::vector<ValueId> made, g_.insert_node(before, "dynamic_quantize_linear", {x}, {},
                                                               {name + ".u8", name + ".scale", name + ".zero"}, {}));
    return edit_.insert(before, "dequantize_linear", made, {}, name + ".real");
  }

  Status requantize(NodeId id, ValueId x) {
    const Node node = g_.node(id);
    const int64_t axis = channel_axis(node);
    NEREID_TRY(const ValueId w, weight(node.inputs[kW], axis, id));
    std::vector<ValueId> inputs = node.inputs;
    inputs[kX] = x;
    inputs[kW] = w;
    return put(id, std::move(inputs));
  }

  // The weights as codes, dequantised.
  Result<ValueId> weight(ValueId w, int64_t axis, NodeId before) {
    const graph::Value value = g_.value(w);
    const std::vector<int64_t> sizes = value.type.shape.sizes();
    std::vector<double> numbers = *edit_.numbers(w);
    const int64_t channels = sizes[static_cast<size_t>(axis)];
    int64_t inner = 1;
    for (size_t d = static_cast<size_t>(axis) + 1; d < sizes.size(); ++d) inner *= sizes[d];
    const auto channel_of = [&](size_t i) { return static_cast<size_t>(static_cast<int64_t>(i) / inner % channels); };
    std::vector<double> scales(static_cast<size_t>(channels), 0);
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (!std::isfinite(numbers[i]))
        return invalid_argument("the weights '{}' hold {}, which no code stands for", value.name, numbers[i]);
      double& most = scales[channel_of(i)];
      most = std::max(most, std::abs(numbers[i]));
    }
    for (double& s : scales) s = static_cast<double>(static_cast<float>(s > 0 ? s / kWeightSteps : 1));
    for (size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = std::clamp(std::nearbyint(numbers[i] / scales[channel_of(i)]), -kWeightSteps, kWeightSteps);
    const ValueId codes = edit_.constant(value.name + ".i8", DType::i8, sizes, numbers);
    const ValueId scale = edit_.constant(value.name + ".scale", DType::f32, {channels}, scales);
    return edit_.insert(before, "dequantize_linear", {codes, scale, {}}, {{"axis", axis}}, value.name + ".real");
  }

  // The same node on other inputs.
  Status put(NodeId id, std::vector<ValueId> inputs) {
    const Node node = g_.node(id);
    NEREID_TRY(const ValueId y, edit_.insert(id, node.op->name, std::move(inputs), node.attrs));
    return edit_.replace(node.outputs[0], y);
  }

  Edit edit_;
  graph::Graph& g_;
  const std::set<std::string, std::less<>>& chosen_;
  const std::map<std::string, ActivationRange, std::less<>>& ranges_;
};

}  // namespace

Result<Report> prepare_quantization(graph::Graph& graph, const std::set<std::string, std::less<>>& disabled) {
  Options options{.disabled = disabled, .capabilities = {}};
  bool lowering = false;
  for (const Pass& pass : network_pipeline()) {
    lowering = lowering || pass.name == "lower_dense";
    if (lowering && pass.name != "fold_affine") options.disabled.emplace(pass.name);
  }
  return run_network_pipeline(graph, options);
}

bool has_codes(const graph::Graph& graph) {
  static constexpr std::string_view kOps[] = {"quantize_linear", "dequantize_linear", "dynamic_quantize_linear",
                                              "matmul_integer",  "conv_integer",      "qlinear_matmul",
                                              "qlinear_conv"};
  return std::ranges::any_of(
      graph.order(), [&](NodeId id) { return std::ranges::find(kOps, graph.node(id).op->name) != std::end(kOps); });
}

std::vector<QuantizableLayer> quantizable_layers(const graph::Graph& graph) {
  std::vector<QuantizableLayer> layers;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (is_quantizable(graph, node))
      layers.push_back({graph.value(node.outputs[0]).name, graph.value(node.inputs[kX]).name, node.op->name == "conv"});
  }
  return layers;
}

Status quantize_layers(graph::Graph& graph, const std::set<std::string, std::less<>>& chosen,
                       const std::map<std::string, ActivationRange, std::less<>>& ranges) {
  const Capabilities everything;
  std::vector<Record> records;
  PassContext context{everything, records};
  NEREID_RETURN_IF_ERROR(Quantizer(graph, context, chosen, ranges).run().with("quantising layers"));
  return Status::ok();
}

}  // namespace nereid::passes
