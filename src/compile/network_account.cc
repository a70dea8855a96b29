// SPDX-License-Identifier: Apache-2.0
#include "compile/network_account.h"

#include <algorithm>
#include <map>

#include "base/clock.h"
#include "base/interrupt.h"
#include "compile/bench_network.h"
#include "ops/shape_rule.h"

namespace nereid::compile {
namespace {

constexpr double kNsInMs = 1e6;
using LayerKey = std::pair<std::string, int32_t>;  // path and node

std::string type_text(const ops::TensorType& type) {
  return type.shape.is_ranked() || !type.is_tensor() ? type.to_string() : std::string();
}

ops::Cost cost_of(const graph::Graph& g, const graph::Node& node, const runtime::NetLayer& layer) {
  std::vector<const ops::TensorType*> inputs;
  std::vector<const ConstTensorView*> constants;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const graph::ValueId in = node.inputs[i];
    const bool known = in.valid() && layer.inputs[i].is_tensor() && layer.inputs[i].shape.is_ranked();
    inputs.push_back(known ? &layer.inputs[i] : nullptr);
    if (in.valid() && !known) return {};
    const bool one = in.valid() && g.value(in).data.parts.size() == 1;
    constants.push_back(one ? &g.value(in).data.parts[0] : nullptr);
  }
  for (const ops::TensorType& type : layer.outputs)
    if (!type.is_tensor() || !type.shape.is_ranked()) return {};
  const ops::InferContext context{.inputs = inputs, .constants = constants, .attrs = node.attrs};
  return node.op->cost != nullptr && !layer.outputs.empty() ? node.op->cost(context, layer.outputs)
                                                            : ops::traffic(context, layer.outputs);
}

std::string precision_of(const runtime::NetLayer& layer) {
  const auto has = [&](std::string_view word) { return layer.kernel.find(word) != std::string::npos; };
  if (has("bf16")) return "bf16";
  if (has("int8") || has("u8") || has("i8")) return "int8";
  return layer.outputs.empty() ? std::string() : std::string(dtype_name(layer.outputs[0].dtype));
}

LayerAccount account_layer(const runtime::NetLayer& layer) {
  const graph::Graph& g = *layer.graph;
  const graph::Node& node = g.node(layer.node);
  LayerAccount out{.path = layer.path,
                   .name = node.outputs.empty() ? std::string() : g.value(node.outputs[0]).name,
                   .op = std::string(node.op->name),
                   .kernel = layer.kernel,
                   .note = layer.note,
                   .problem = layer.problem,
                   .tactic = layer.tactic,
                   .candidates = {},
                   .chosen_because = {},
                   .precision = precision_of(layer),
                   .inputs = {},
                   .outputs = {}};
  for (const ops::TensorType& type : layer.inputs) out.inputs.push_back(type_text(type));
  for (const ops::TensorType& type : layer.outputs) out.outputs.push_back(type_text(type));
  if (node.regions.empty() && !layer.kernel.empty()) out.cost = cost_of(g, node, layer);
  return out;
}

double median_of(std::vector<double> values) {
  return median(values);
}

// Runs once more and notes each layer's time.
struct Timer {
  std::map<LayerKey, int64_t> before;
  std::map<LayerKey, std::vector<double>> ms;
  std::vector<double> between;

  void start(const runtime::NetContext& context) {
    for (const runtime::NetLayer& layer : context.layers()) before[{layer.path, layer.node.v}] = layer.total_ns;
  }
  Status run(runtime::NetContext& context) {
    const int64_t begin = now_ns();
    NEREID_RETURN_IF_ERROR(context.run());
    int64_t rest_ns = now_ns() - begin;
    for (const runtime::NetLayer& layer : context.layers()) {
      int64_t& last = before[{layer.path, layer.node.v}];
      ms[{layer.path, layer.node.v}].push_back(static_cast<double>(layer.total_ns - last) / kNsInMs);
      rest_ns -= layer.total_ns - last;
      last = layer.total_ns;
    }
    between.push_back(std::max(0.0, static_cast<double>(rest_ns) / kNsInMs));
    return Status::ok();
  }
};

// A node that runs graphs takes as long as the layers inside it.
void sum_regions(std::vector<LayerAccount>& layers) {
  for (LayerAccount& outer : layers) {
    if (outer.kernel != "control") continue;
    const std::string inside = outer.path + outer.name + "/";
    double sum = 0;
    for (const LayerAccount& layer : layers)
      if (layer.kernel != "control" && layer.path.starts_with(inside)) sum += layer.ms.value_or(0);
    outer.ms = sum;
  }
}

bool is_fatal(const Status& status) {
  return status.code() == StatusCode::kCancelled || status.code() == StatusCode::kExhausted;
}

Status time_layers(runtime::NetContext& context, ThreadPool& pool, Isa isa, const AccountOptions& options,
                   NetworkAccount& account) {
  const int64_t until = now_ns() + static_cast<int64_t>(options.most_seconds * 1e9);
  NEREID_RETURN_IF_ERROR(context.run());  // the second one: caches are warm
  std::vector<double> plain;
  Timer timer;
  for (const bool profiling : {false, true}) {
    context.set_profiling(profiling);
    if (profiling) timer.start(context);
    for (int64_t i = 0; i < options.runs && (i == 0 || now_ns() < until); ++i) {
      NEREID_RETURN_IF_ERROR(check_interrupted());
      const int64_t begin = now_ns();
      NEREID_RETURN_IF_ERROR(profiling ? timer.run(context) : context.run());
      if (!profiling) plain.push_back(static_cast<double>(now_ns() - begin) / kNsInMs);
    }
  }
  context.set_profiling(false);
  account.runs = static_cast<int64_t>(timer.between.size());
  account.run_ms = median_of(plain);
  account.between_ms = median_of(timer.between);
  account.roof = measure_roof(pool, isa);
  const std::vector<runtime::NetLayer> layers = context.layers();
  // Other branches may have been taken meanwhile: what is not the layer it was has no time.
  for (size_t i = 0; i < std::min(layers.size(), account.layers.size()); ++i) {
    LayerAccount& layer = account.layers[i];
    if (layer.kernel.empty() || layer.path != layers[i].path) continue;
    layer.ms = median_of(timer.ms[{layers[i].path, layers[i].node.v}]);
    layer.roof_ms = account.roof->least_ms(layer.cost);
  }
  sum_regions(account.layers);
  return Status::ok();
}

}  // namespace

std::optional<double> LayerAccount::roof_share() const {
  if (!ms || *ms <= 0 || roof_ms <= 0) return std::nullopt;
  return roof_ms / *ms;
}

double NetworkAccount::layers_ms() const {
  double sum = 0;
  for (const LayerAccount& layer : layers)
    if (layer.path.empty()) sum += layer.ms.value_or(0);
  return sum;
}

NetworkAccount account_graph(const graph::Graph& graph, std::string reason) {
  NetworkAccount account{.layers = {}, .notes = {}, .not_run = std::move(reason), .roof = {}};
  for (const graph::NodeId id : graph.order()) {
    runtime::NetLayer layer{.path = {},
                            .graph = &graph,
                            .node = id,
                            .kernel = {},
                            .note = {},
                            .problem = {},
                            .tactic = {},
                            .inputs = {},
                            .outputs = {}};
    for (const graph::ValueId in : graph.node(id).inputs)
      layer.inputs.push_back(in.valid() ? graph.value(in).type : ops::TensorType{DType::f32, Shape::unranked()});
    for (const graph::ValueId out : graph.node(id).outputs) layer.outputs.push_back(graph.value(out).type);
    account.layers.push_back(account_layer(layer));
  }
  return account;
}

Result<NetworkAccount> account_network(const NetworkSession& session, ThreadPool& pool, const AccountOptions& options) {
  const graph::Graph& root = session.network.network->graph();
  NEREID_TRY(const std::unique_ptr<runtime::NetContext> context, session.context(pool));
  if (const Status ran = context->run(); !ran.is_ok()) {
    if (is_fatal(ran)) return ran;
    return account_graph(root, fmt::format("it did not run on random numbers: {}", ran.message()));
  }
  NetworkAccount account{.layers = {}, .notes = context->notes(), .not_run = {}, .roof = {}, .threads = pool.size()};
  for (const runtime::NetLayer& layer : context->layers()) {
    account.layers.push_back(account_layer(layer));
  }
  if (options.runs > 0)
    NEREID_RETURN_IF_ERROR(time_layers(*context, pool, session.network.network->kernels().isa, options, account));
  account.plan_bytes = context->memory_bytes();
  account.packed_bytes = session.network.network->packed_bytes();
  return account;
}

}  // namespace nereid::compile
