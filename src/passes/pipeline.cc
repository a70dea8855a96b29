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

Result<Report> run_pipeline(graph::Graph& graph, const Options& options) {
  for (const std::string& name : options.disabled)
    if (std::ranges::find(kPipeline, name, &Pass::name) == std::end(kPipeline)) {
      std::string known;
      for (const Pass& p : kPipeline) known += (known.empty() ? "" : ", ") + std::string(p.name);
      return invalid_argument("there is no pass '{}' to disable; the passes are {}", name, known);
    }
  Report report;
  for (const Pass& pass : kPipeline) {
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

}  // namespace nereid::passes
