// SPDX-License-Identifier: Apache-2.0
// fuse_norm_linear: a norm moves into the linears that read it: the normalised row is never stored. Worth it only if
// nothing else needs the row: a norm that stays costs as much as before.
#include "graph/text.h"
#include "passes/pass_list.h"

namespace nereid::passes {
namespace {

// Every user takes the row as its x and has room for a norm.
Status all_users_are_linears(const graph::Graph& g, const Match& match) {
  const graph::ValueId row = match.value("h");
  if (g.is_output(row)) return unsupported("the norm's result %{} is an output of the graph", g.value(row).name);
  for (graph::NodeId user : g.users(row)) {
    const graph::Node& node = g.node(user);
    const bool linear = node.op->name == "linear" || node.op->name == "gated_linear";
    int reads = 0;
    for (graph::ValueId in : node.inputs) reads += in == row ? 1 : 0;
    if (!linear || node.inputs[0] != row || reads != 1 || node.inputs.back().valid())
      return unsupported("the norm's result %{} has a user that cannot take the norm in: {} %{}", g.value(row).name,
                         node.op->name, g.value(node.outputs[0]).name);
  }
  return Status::ok();
}

}  // namespace

std::vector<RewriteText> fuse_norm_linear() {
  return {{R"(graph pattern {
    input %x, %norm, %w
    optional %b, %residual
    shared %h = rms_norm(%x, %norm, _) {eps=$eps, group=0}
    %y = linear(%h, %w, %b, %residual, _) {norm_eps=$unused}
    output %y
  })",
           R"(graph replacement {
    %y = linear(%x, %w, %b, %residual, %norm) {norm_eps=$eps}
    output %y
  })",
           all_users_are_linears},
          {R"(graph pattern {
    input %x, %norm, %w_gate, %w_up
    shared %h = rms_norm(%x, %norm, _) {eps=$eps, group=0}
    %y = gated_linear(%h, %w_gate, %w_up, _) {norm_eps=$unused, ...rest}
    output %y
  })",
           R"(graph replacement {
    %y = gated_linear(%x, %w_gate, %w_up, %norm) {norm_eps=$eps, ...rest}
    output %y
  })",
           all_users_are_linears}};
}

}  // namespace nereid::passes
