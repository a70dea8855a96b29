// SPDX-License-Identifier: Apache-2.0
// The pipeline. The reasons say why a pass is there and why it stands where it stands.
#include "passes/pipeline.h"

#include <algorithm>
#include <map>

#include "graph/verify.h"
#include "passes/pass_list.h"
#include "passes/rewrite.h"

namespace nereid::passes {
namespace {

constexpr Pass kPipeline[] = {
    {.name = "dead_code", .reason = "what nobody reads need not be looked at by the others", .run = dead_code},
    {.name = "fold_constants", .reason = "what is known now need not be computed in every run", .run = fold_constants},
    {.name = "fold_identity", .reason = "patterns need not see through nodes that do nothing", .run = fold_identity},
    {.name = "fuse_gated", .reason = "one spelling of gates, which fuse_gated_linear knows", .rewrites = fuse_gated},
    {.name = "fuse_gated_linear",
     .reason = "one pass over x for gate and up; before fuse_qkv, which would take any three linears",
     .rewrites = fuse_gated_linear},
    {.name = "fuse_qkv", .reason = "one pass over x and one stream of weights for q, k and v", .rewrites = fuse_qkv},
    {.name = "fuse_norm_linear",
     .reason = "the normalised row is never stored; after the fusions that leave a norm fewer users",
     .rewrites = fuse_norm_linear},
    {.name = "fuse_linear_residual",
     .reason = "the sum is made before the product is stored",
     .rewrites = fuse_linear_residual},
    {.name = "fuse_norm_residual",
     .reason = "the sum is made before the normalised row is stored",
     .rewrites = fuse_norm_residual},
    {.name = "fuse_rope_attention",
     .reason = "rotated queries and keys are never stored",
     .rewrites = fuse_rope_attention},
    {.name = "dead_code.last", .reason = "what the fusions left behind", .run = dead_code},
};

constexpr Pass kNetworkPipeline[] = {
    {.name = "dead_code", .reason = "what nobody reads need not be looked at by the others", .run = dead_code},
    {.name = "expand_quantized",
     .reason = "layers of quantised networks are layers between dequantising and quantising, which others know",
     .run = expand_quantized},
    {.name = "move_quantize",
     .reason = "layers see codes right before them; before fold_constants, which would dequantise weights that move",
     .run = move_quantize},
    {.name = "fold_constants", .reason = "what is known now need not be computed in every run", .run = fold_constants},
    {.name = "inline_if",
     .reason = "a branch that is always taken is no branch; its condition is folded by now",
     .run = inline_if},
    {.name = "fuse_pad",
     .reason = "convolutions pad for nothing; before fold_sizes, which sees that sizes stay",
     .run = fuse_pad},
    {.name = "fold_sizes",
     .reason = "arithmetic on sizes is told, not computed; patterns can rely on sizes that are surely equal",
     .run = fold_sizes},
    {.name = "fold_constants.sizes", .reason = "what the sizes decide", .run = fold_constants},
    {.name = "fold_identity", .reason = "patterns need not see through nodes that do nothing", .run = fold_identity},
    {.name = "fold_moves", .reason = "one spelling of reshapes and transpositions", .run = fold_moves},
    {.name = "merge_common",
     .reason = "x - mean(x) is written twice by exporters, patterns want it once",
     .run = merge_common},
    {.name = "dead_code.sizes",
     .reason = "values that were read for their sizes have one reader now",
     .run = dead_code},
    {.name = "fuse_activation", .reason = "one node an activation, which layers can take in", .run = fuse_activation},
    {.name = "fuse_normalization", .reason = "one pass over the row instead of five", .run = fuse_normalization},
    {.name = "fuse_softmax",
     .reason = "one pass over the row; before fuse_attention, which looks for it",
     .run = fuse_softmax},
    {.name = "lower_dense",
     .reason = "products with weights can be packed, and take in what follows",
     .run = lower_dense},
    {.name = "fold_affine", .reason = "a scale and a shift cost nothing inside the weights", .run = fold_affine},
    {.name = "fuse_attention",
     .reason = "scores are never stored; after fold_affine, which puts biases into q, k and v",
     .run = fuse_attention},
    {.name = "layout_last", .reason = "kernels read pixels, not planes", .run = layout_last},
    {.name = "fold_constants.layout", .reason = "constants change their layout once", .run = fold_constants},
    {.name = "fold_moves.layout", .reason = "what the new layout left of transpositions", .run = fold_moves},
    {.name = "fold_identity.layout", .reason = "and what these left", .run = fold_identity},
    {.name = "merge_common.layout", .reason = "one transposition of a value is enough", .run = merge_common},
    {.name = "dead_code.layout", .reason = "the old forms must not count as readers", .run = dead_code},
    {.name = "fold_affine.layout", .reason = "TensorFlow adds biases channels-last", .run = fold_affine},
    {.name = "fuse_epilogue",
     .reason = "sums and activations are done before a layer's result is stored",
     .run = fuse_epilogue},
    {.name = "fuse_one_hot",
     .reason = "a row of a table instead of a product with a one; after fuse_epilogue, whose layer the table holds",
     .run = fuse_one_hot},
    {.name = "move_quantize.layout",
     .reason = "transpositions that the layout made move bytes, not numbers",
     .run = move_quantize},
    {.name = "lower_quantized",
     .reason = "int8 kernels multiply codes; after fuse_epilogue, whose layers it takes as they are",
     .run = lower_quantized},
    {.name = "fold_dequantized",
     .reason = "codes that no int8 kernel takes are dequantised once",
     .run = fold_dequantized},
    {.name = "dead_code.quantized", .reason = "dequantised values that layers no longer read", .run = dead_code},
    {.name = "fuse_program",
     .reason = "what is left of elementwise work, one pass over memory a chain",
     .run = fuse_program},
    {.name = "dead_code.last", .reason = "what the fusions left behind", .run = dead_code},
};

}  // namespace

#ifdef NDEBUG
const bool kVerifyByDefault = false;
#else
const bool kVerifyByDefault = true;
#endif

std::span<const Pass> pipeline() {
  return kPipeline;
}

size_t PassReport::fired() const {
  return static_cast<size_t>(std::ranges::count(records, true, &Record::fired));
}

std::string Report::to_text() const {
  std::string out;
  for (const PassReport& pass : passes) {
    if (!pass.enabled) {
      out += fmt::format("{}: disabled\n", pass.name);
      continue;
    }
    out += fmt::format("{}: fired {} times, {} -> {} nodes\n", pass.name, pass.fired(), pass.nodes_before,
                       pass.nodes_after);
    for (const Record& r : pass.records) out += fmt::format("  {} {}: {}\n", r.fired ? "+" : "-", r.where, r.what);
  }
  return out;
}

Result<PassReport> run_pass(const Pass& pass, graph::Graph& graph, const Options& options) {
  PassReport report{
      .name = pass.name, .enabled = true, .nodes_before = graph.order().size(), .nodes_after = 0, .records = {}};
  PassContext context{options.capabilities, report.records};
  const Status done = pass.run != nullptr ? pass.run(graph, context) : sweep(graph, pass.rewrites(), context);
  NEREID_RETURN_IF_ERROR(done.with(fmt::format("pass {}", pass.name)));
  if (options.verify) NEREID_RETURN_IF_ERROR(graph::verify(graph).with(fmt::format("after pass {}", pass.name)));
  report.nodes_after = graph.order().size();
  return report;
}

namespace {

Result<Report> run_all(std::span<const Pass> passes, graph::Graph& graph, const Options& options) {
  for (const std::string& name : options.disabled)
    if (std::ranges::find(passes, name, &Pass::name) == passes.end()) {
      std::string known;
      for (const Pass& p : passes) known += (known.empty() ? "" : ", ") + std::string(p.name);
      return invalid_argument("there is no pass '{}' to disable; the passes are {}", name, known);
    }
  Report report;
  for (const Pass& pass : passes) {
    if (options.disabled.contains(pass.name)) {
      report.passes.push_back({.name = pass.name, .enabled = false, .records = {}});
      continue;
    }
    NEREID_TRY(PassReport one, run_pass(pass, graph, options));
    report.passes.push_back(std::move(one));
  }
  NEREID_RETURN_IF_ERROR(graph::verify(graph).with("after all passes"));
  return report;
}

// What a region takes from outside and is constant there is constant inside.
void bind_captures(const graph::Graph& outer, const graph::Node& node, graph::Graph& region) {
  const size_t captures = node.attrs.has("captures") ? static_cast<size_t>(node.attrs.integer("captures")) : 0;
  if (captures > node.inputs.size() || captures > region.inputs().size()) return;
  for (size_t i = 0; i < captures; ++i) {
    const graph::ValueId from = node.inputs[node.inputs.size() - captures + i];
    const graph::ValueId to = region.inputs()[region.inputs().size() - captures + i];
    if (!from.valid() || outer.value(from).kind != graph::Value::Kind::kConstant || region.is_output(to)) continue;
    const graph::Value& v = outer.value(from);
    if (v.data.parts.size() != 1) continue;
    region.replace_all_uses(to, region.add_constant(v.name, ops::Tensor::copy(v.data.parts[0])));
  }
}

Status optimise_regions(graph::Graph& graph, const Options& options, Report& report) {
  const std::vector<graph::NodeId> order = graph.order();
  for (graph::NodeId id : order) {
    for (size_t i = 0; i < graph.node(id).regions.size(); ++i) {
      auto region = std::make_shared<graph::Graph>(*graph.node(id).regions[i]);
      bind_captures(graph, graph.node(id), *region);
      const auto inside = run_network_pipeline(*region, options);
      NEREID_RETURN_IF_ERROR(inside.status().with(fmt::format("in region {} of {}", i, graph.node(id).op->name)));
      for (const PassReport& pass : inside->passes)
        for (size_t p = 0; p < report.passes.size(); ++p)
          if (report.passes[p].name == pass.name)
            report.passes[p].records.insert(report.passes[p].records.end(), pass.records.begin(), pass.records.end());
      graph.set_region(id, i, std::move(region));
    }
  }
  return Status::ok();
}

}  // namespace

Result<Report> run_pipeline(graph::Graph& graph, const Options& options) {
  return run_all(kPipeline, graph, options);
}

std::span<const Pass> network_pipeline() {
  return kNetworkPipeline;
}

Result<Report> run_network_pipeline(graph::Graph& graph, const Options& options) {
  NEREID_TRY(Report report, run_all(kNetworkPipeline, graph, options));
  NEREID_RETURN_IF_ERROR(optimise_regions(graph, options, report));
  return report;
}

}  // namespace nereid::passes
