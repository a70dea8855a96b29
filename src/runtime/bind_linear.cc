// SPDX-License-Identifier: Apache-2.0
// linear and gated_linear on packed weights.
#include <algorithm>

#include "runtime/bind_rows.h"

namespace nereid::runtime {
namespace {

using kernels::LinearParams;

// A product, and before it what adapters add for the rows that carry one.
class LinearStep final : public Step {
 public:
  LinearStep(const kernels::IsaKernels& kernels, LinearParams params, Count tokens, const AdapterGroups& adapters,
             std::vector<graph::ValueId> weights)
      : kernels_(kernels), params_(params), tokens_(tokens), adapters_(adapters), weights_(std::move(weights)) {
    low_rank_.x_stride = params.x_stride;
    low_rank_.cols = params.weight.layout.cols;
    low_rank_.norm_weight = params.norm_weight;
    low_rank_.norm_eps = params.norm_eps;
    low_rank_.tiles = params.weight.layout.tiles();
    low_rank_.matrices = static_cast<int64_t>(weights_.size());
  }

  // Scratch: linear's, then low_rank's, then the addends. Rows that carry no adapter never touch the last two.
  int64_t scratch_bytes(int64_t most_tokens, int workers) const {
    const int64_t ranks = Adapter::kMaxRanks * low_rank_.matrices;
    return linear_bytes(most_tokens, workers) + low_rank_bytes(most_tokens, ranks, workers) +
           most_tokens * addend_width() * 4;
  }
  void set_bounds(int64_t most_tokens, int workers) {
    most_tokens_ = most_tokens;
    workers_ = workers;
    pointers_.resize(static_cast<size_t>(most_tokens));
  }
  std::byte** scratch() { return &params_.scratch; }

  void resize(const Sizes& sizes) override {
    params_.tokens = sizes.of(tokens_);
    params_.addend = nullptr;
    low_rank_.tokens = 0;
    if (!adapters_.empty()) gather();
  }

  void run(Worker& worker) override {
    if (low_rank_.tokens > 0) kernels_.low_rank(low_rank_, worker);
    kernels_.linear(params_, worker);
  }

 private:
  int64_t addend_width() const { return low_rank_.matrices * low_rank_.tiles * kernels::kTileRows; }
  int64_t linear_bytes(int64_t tokens, int workers) const {
    return (kernels::linear_scratch_bytes(tokens, low_rank_.cols, workers) + 63) / 64 * 64;
  }
  int64_t low_rank_bytes(int64_t tokens, int64_t ranks, int workers) const {
    return (kernels::low_rank_scratch_bytes(tokens, low_rank_.cols, ranks, workers) + 63) / 64 * 64;
  }

  // The groups whose adapters have something for these weights.
  void gather() {
    parts_.clear();
    groups_.clear();
    low_rank_.ranks = 0;
    for (const AdapterRows& rows : adapters_) {
      int64_t ranks = 0;
      const size_t first = parts_.size();
      for (size_t m = 0; m < weights_.size(); ++m)
        for (kernels::LowRankPart part : rows.adapter->parts(weights_[m])) {
          part.first_tile += static_cast<int64_t>(m) * low_rank_.tiles;
          parts_.push_back(part);
          ranks += part.rank;
        }
      if (parts_.size() == first) continue;
      groups_.push_back({.tokens = rows.rows.data(),
                         .count = static_cast<int64_t>(rows.rows.size()),
                         .part_count = static_cast<int64_t>(parts_.size() - first)});
      low_rank_.ranks = std::max(low_rank_.ranks, ranks);
      low_rank_.tokens += groups_.back().count;
    }
    if (groups_.empty()) return;
    std::byte* behind_linear = params_.scratch + linear_bytes(most_tokens_, workers_);
    low_rank_.x = params_.x;
    low_rank_.scratch = behind_linear;
    low_rank_.addend = reinterpret_cast<float*>(
        behind_linear + low_rank_bytes(most_tokens_, Adapter::kMaxRanks * low_rank_.matrices, workers_));
    std::fill_n(pointers_.begin(), static_cast<size_t>(params_.tokens), nullptr);
    const kernels::LowRankPart* part = parts_.data();
    const float* addend = low_rank_.addend;
    for (kernels::LowRankGroup& group : groups_) {
      group.parts = part;
      part += group.part_count;
      for (int64_t i = 0; i < group.count; ++i, addend += addend_width())
        pointers_[static_cast<size_t>(group.tokens[i])] = addend;
    }
    low_rank_.groups = groups_.data();
    low_rank_.group_count = static_cast<int64_t>(groups_.size());
    params_.addend = pointers_.data();
  }

  const kernels::IsaKernels& kernels_;
  LinearParams params_;
  Count tokens_;
  const AdapterGroups& adapters_;
  std::vector<graph::ValueId> weights_;  // one, or gate and up
  int64_t most_tokens_ = 0;
  int workers_ = 1;
  kernels::LowRankParams low_rank_;
  // Of the run at hand; all keep their memory.
  std::vector<kernels::LowRankPart> parts_;
  std::vector<kernels::LowRankGroup> groups_;
  std::vector<const float*> pointers_;
};

Result<kernels::PackedWeight> packed(BindContext& c, graph::ValueId id) {
  const Weight* w = c.program().weight(id);
  if (!w || !w->is_packed) return unsupported("weight '{}' is not packed", c.value(id).name);
  return w->packed;
}

// A vector of f32 constants of `n` elements, null if the argument is absent.
Result<const float*> vector(BindContext& c, graph::ValueId id, int64_t n) {
  if (!id.valid()) return static_cast<const float*>(nullptr);
  const float* p = c.program().f32_constant(id);
  if (!p) return unsupported("'{}' is no f32 constant", c.value(id).name);
  if (c.value(id).type.shape.elements() != n)
    return unsupported("'{}' has another size than the matrix", c.value(id).name);
  return p;
}

Result<std::unique_ptr<Step>> finish(BindContext& c, LinearParams p, const Slot& x, const Slot& y,
                                     std::vector<graph::ValueId> weights) {
  if (x.dtype != DType::f32 || y.dtype != DType::f32) return unsupported("activations are not f32");
  if (x.cols != p.weight.layout.cols || y.cols != p.weight.layout.rows)
    return unsupported("the packed weight is {} x {}, the activations want {} x {}", p.weight.layout.rows,
                       p.weight.layout.cols, y.cols, x.cols);
  // Encoders, which keep nothing between steps and take no adapters.
  if (p.weight.layout.codes == kernels::Codes::kF32 && c.graph().states().empty() && p.norm_weight == nullptr &&
      p.weight_up.data == nullptr)
    return bind_f32_product(c, p, x, y);
  p.x = x.f32();
  p.x_stride = x.stride;
  p.y = y.f32();
  p.y_stride = y.stride;
  const AdapterGroups& adapters = c.adapters(x.rows, weights);
  auto step = std::make_unique<LinearStep>(c.program().kernels(), p, x.rows, adapters, std::move(weights));
  step->set_bounds(c.bound(x.rows), c.workers());
  c.want_scratch(step->scratch_bytes(c.bound(x.rows), c.workers()), step->scratch());
  return std::unique_ptr<Step>(std::move(step));
}

}  // namespace

Result<std::unique_ptr<Step>> bind_linear(BindContext& c, const graph::Node& node) {
  LinearParams p;
  NEREID_TRY(p.weight, packed(c, node.inputs[1]));
  NEREID_TRY(p.bias, vector(c, node.inputs[2], p.weight.layout.rows));
  NEREID_TRY(p.norm_weight, vector(c, node.inputs[4], p.weight.layout.cols));
  p.norm_eps = static_cast<float>(node.attrs.real("norm_eps"));
  if (const std::string& activation = node.attrs.text("activation"); activation != "none") {
    NEREID_TRY(p.activation, activation_of(activation));
  }
  if (node.inputs[3].valid()) {
    const Slot& residual = c.slot(node.inputs[3]);
    p.residual = residual.f32();
    p.residual_stride = residual.stride;
  }
  return finish(c, p, c.slot(node.inputs[0]), c.slot(node.outputs[0]), {node.inputs[1]});
}

Result<std::unique_ptr<Step>> bind_gated_linear(BindContext& c, const graph::Node& node) {
  LinearParams p;
  NEREID_TRY(p.weight, packed(c, node.inputs[1]));
  NEREID_TRY(p.weight_up, packed(c, node.inputs[2]));
  if (!(p.weight.layout == p.weight_up.layout)) return unsupported("gate and up are packed in different formats");
  NEREID_TRY(p.norm_weight, vector(c, node.inputs[3], p.weight.layout.cols));
  p.norm_eps = static_cast<float>(node.attrs.real("norm_eps"));
  NEREID_TRY(p.activation, activation_of(node.attrs.text("activation")));
  return finish(c, p, c.slot(node.inputs[0]), c.slot(node.outputs[0]), {node.inputs[1], node.inputs[2]});
}

}  // namespace nereid::runtime
