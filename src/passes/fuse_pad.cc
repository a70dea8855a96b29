// SPDX-License-Identifier: Apache-2.0
// fuse_pad: zeros around an image that a convolution reads are its own padding.
#include <fmt/format.h>

#include <algorithm>

#include "passes/edit.h"
#include "passes/pass_list.h"

namespace nereid::passes {
namespace {

using graph::Node;
using graph::NodeId;
using graph::ValueId;

// The widths of zeros before and after each dimension; nothing if they are no zeros or not known.
std::optional<std::vector<int64_t>> zeros_around(const Edit& edit, const Node& pad) {
  if (pad.attrs.text("mode") != "constant" || !edit.is_ranked(pad.inputs[0])) return std::nullopt;
  if (pad.inputs[2].valid() && edit.scalar(pad.inputs[2]) != 0.0) return std::nullopt;
  const auto given = edit.integers(pad.inputs[1]);
  const auto rank = static_cast<size_t>(edit.rank(pad.inputs[0]));
  if (!given) return std::nullopt;
  std::vector<int64_t> axes;
  if (pad.inputs[3].valid()) {
    const auto known = edit.integers(pad.inputs[3]);
    if (!known) return std::nullopt;
    axes = *known;
  } else {
    for (size_t d = 0; d < rank; ++d) axes.push_back(static_cast<int64_t>(d));
  }
  if (given->size() != 2 * axes.size()) return std::nullopt;
  std::vector<int64_t> widths(2 * rank, 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto d = static_cast<size_t>(axes[i] < 0 ? axes[i] + static_cast<int64_t>(rank) : axes[i]);
    if (d >= rank) return std::nullopt;
    widths[d] = (*given)[i];
    widths[rank + d] = (*given)[axes.size() + i];
  }
  return widths;
}

}  // namespace

Status fuse_pad(graph::Graph& g, PassContext& context) {
  Edit edit(g, context);
  const std::vector<NodeId> order = g.order();
  for (NodeId id : order) {
    if (g.node(id).op == nullptr || g.node(id).op->name != "conv") continue;
    const Node conv = g.node(id);
    const Node* pad = edit.made_by(conv.inputs[0], "pad");
    if (pad == nullptr) continue;
    const std::string where = edit.where(id);
    const auto widths = zeros_around(edit, *pad);
    const std::string& mode = conv.attrs.text("auto_pad");
    if (!widths || (mode != "NOTSET" && mode != "VALID")) {
      edit.refused(where, widths ? fmt::format("auto_pad is {}", mode) : "the padding is no zeros, or not known");
      continue;
    }
    const size_t rank = widths->size() / 2, axes = rank - 2;
    const bool spatial = (*widths)[0] == 0 && (*widths)[1] == 0 && (*widths)[rank] == 0 && (*widths)[rank + 1] == 0;
    if (!spatial || std::ranges::any_of(*widths, [](int64_t w) { return w < 0; })) {
      edit.refused(where, "more than the spatial dimensions are padded, or less than nothing");
      continue;
    }
    std::vector<int64_t> pads = conv.attrs.integers("pads");
    if (pads.empty() || mode == "VALID") pads.assign(2 * axes, 0);
    for (size_t a = 0; a < axes; ++a) {
      pads[a] += (*widths)[2 + a];
      pads[axes + a] += (*widths)[rank + 2 + a];
    }
    ops::Attrs attrs = conv.attrs;
    attrs.set("auto_pad", std::string("NOTSET"));
    attrs.set("pads", pads);
    std::vector<ValueId> inputs = conv.inputs;
    inputs[0] = pad->inputs[0];
    const auto now = edit.insert(id, "conv", std::move(inputs), std::move(attrs));
    const Status done = now.is_ok() ? edit.replace(conv.outputs[0], *now) : now.status();
    edit.record(where, done, fmt::format("pads=[{}]", fmt::join(pads, ", ")));
  }
  return Status::ok();
}

}  // namespace nereid::passes
