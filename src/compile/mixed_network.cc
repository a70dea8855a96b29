// SPDX-License-Identifier: Apache-2.0
#include "compile/mixed_network.h"

#include <algorithm>

#include "base/json.h"
#include "passes/layer_precision.h"
#include "passes/quantize_layers.h"

namespace nereid::compile {
namespace {

// Where the results of the optimised network's layers are in the graph that is quantised.
std::vector<MixedNetwork::Layer> match_layers(const graph::Graph& optimised, const graph::Graph& prepared) {
  std::set<std::string> results;
  for (const graph::NodeId id : optimised.order())
    for (const graph::ValueId out : optimised.node(id).outputs) results.insert(optimised.value(out).name);
  std::map<std::string, passes::QuantizableLayer> quantizable;  // by label, as source_nodes gives them
  for (const passes::QuantizableLayer& q : passes::quantizable_layers(prepared)) {
    const graph::ValueId id = prepared.find_value(q.name);
    quantizable[fmt::format("{} %{}", prepared.node(prepared.value(id).producer).op->name, q.name)] = q;
  }
  std::vector<MixedNetwork::Layer> layers;
  for (const std::string& name : passes::layers_with_precision(optimised)) {
    MixedNetwork::Layer layer{.name = name, .int8 = {}, .activation = {}};
    int found = 0;
    // An output that is an image is a transposition of the layer's result, which has a name of its own.
    constexpr std::string_view kLast = ".last";
    const bool is_twin = name.ends_with(kLast) && !prepared.find_value(name).valid();
    const std::string value = is_twin ? name.substr(0, name.size() - kLast.size()) : name;
    for (const std::string& source : source_nodes(prepared, value, results))
      if (const auto it = quantizable.find(source); it != quantizable.end()) {
        layer.int8 = it->second.name;
        layer.activation = it->second.activation;
        layer.is_conv = it->second.is_conv;
        ++found;
      }
    if (found != 1) layer.int8.clear();  // several products became one: which of them is not told apart
    layers.push_back(std::move(layer));
  }
  return layers;
}

// What `with` was given, for an engine to keep: precisions below f32 by layer, ranges by activation.
Json mix_json(const std::vector<MixedNetwork::Layer>& layers, const calibrate::PrecisionMix& mix,
              const calibrate::TensorRanges& ranges) {
  Json precisions = Json::object(), kept = Json::object();
  for (size_t i = 0; i < layers.size(); ++i) {
    if (mix[i] == calibrate::LayerPrecision::kF32) continue;
    precisions[layers[i].name] = std::string(calibrate::layer_precision_name(mix[i]));
    if (mix[i] == calibrate::LayerPrecision::kInt8)
      if (const auto it = ranges.find(layers[i].activation); it != ranges.end())
        kept[it->first] = {it->second.least, it->second.most};
  }
  return {{"precisions", std::move(precisions)}, {"ranges", std::move(kept)}};
}

}  // namespace

Result<MixedNetwork> MixedNetwork::open(const std::string& path, const NetworkOptions& options) {
  MixedNetwork out;
  out.options_ = options;
  out.rest_ = options.precision;
  out.options_.precision = runtime::NetPrecision::kF32;
  NEREID_TRY(out.f32_, open_network(path, out.options_));
  NEREID_TRY(import::onnx::OnnxModel model, import::onnx::import_file(path, options.import));
  NEREID_RETURN_IF_ERROR(passes::prepare_quantization(model.graph, options.disabled_passes));
  out.prepared_ = std::move(model.graph);
  out.storage_ = std::move(model.storage);
  out.layers_ = match_layers(out.f32_.network->graph(), out.prepared_);
  return out;
}

std::vector<InputType> MixedNetwork::inputs() const {
  std::vector<InputType> types;
  for (const NamedType& in : f32_.inputs) types.push_back({in.name, in.type});
  return types;
}

std::set<std::string> MixedNetwork::activations() const {
  std::set<std::string> out;
  for (const Layer& layer : layers_)
    if (!layer.int8.empty()) out.insert(layer.activation);
  return out;
}

bool MixedNetwork::can_be(const Layer& layer, calibrate::LayerPrecision precision) const {
  if (precision != calibrate::LayerPrecision::kInt8) return true;
  return !layer.int8.empty() && (!layer.is_conv || ranges_.contains(layer.activation));
}

calibrate::PrecisionMix MixedNetwork::all(calibrate::LayerPrecision precision) const {
  calibrate::PrecisionMix mix;
  for (const Layer& layer : layers_)
    mix.push_back(can_be(layer, precision) ? precision : calibrate::LayerPrecision::kF32);
  return mix;
}

Result<OpenedNetwork> MixedNetwork::with(const calibrate::PrecisionMix& mix) const {
  OpenedNetwork out = f32_;
  std::set<std::string, std::less<>> in_int8, in_bf16;
  for (size_t i = 0; i < layers_.size(); ++i) {
    if (mix[i] == calibrate::LayerPrecision::kInt8) in_int8.insert(layers_[i].int8);
    if (mix[i] == calibrate::LayerPrecision::kBF16) in_bf16.insert(layers_[i].name);
  }
  graph::Graph graph = f32_.network->graph();
  if (!in_int8.empty()) {
    std::map<std::string, passes::ActivationRange, std::less<>> ranges;
    for (const auto& [name, range] : ranges_) ranges[name] = {.least = range.least, .most = range.most};
    graph = prepared_;
    NEREID_RETURN_IF_ERROR(passes::quantize_layers(graph, in_int8, ranges));
    NEREID_TRY(out.passes, passes::run_network_pipeline(graph, {.disabled = options_.disabled_passes}));
    // A neighbour in int8 may have taken a layer's name for its codes.
    const std::vector<std::string> left = passes::layers_with_precision(graph);
    std::erase_if(in_bf16, [&](const std::string& name) { return std::ranges::find(left, name) == left.end(); });
  }
  NEREID_RETURN_IF_ERROR(passes::set_layer_precision(graph, in_bf16, "bf16"));
  out.nodes_optimised = static_cast<int64_t>(graph.order().size());
  out.mix = mix_json(layers_, mix, ranges_).dump(-1, ' ', false, Json::error_handler_t::replace);
  // Constants lie in either file; the f32 network keeps its own alive, and lends what it has packed.
  auto storage =
      std::make_shared<std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>>(storage_, f32_.network);
  out.network = runtime::Network::create(std::move(graph), std::move(storage), f32_.network->kernels().isa, rest_,
                                         f32_.network->packed_forms());
  return out;
}

std::string layer_of_label(const std::string& label) {
  constexpr std::string_view kCodes = ".u8";
  const size_t at = label.find(" %");
  std::string name = at == std::string::npos ? label : label.substr(at + 2);
  if (name.ends_with(kCodes)) name.resize(name.size() - kCodes.size());
  return name;
}

}  // namespace nereid::compile
