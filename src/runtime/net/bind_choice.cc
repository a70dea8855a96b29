// SPDX-License-Identifier: Apache-2.0
// Which of several ways a product or a convolution takes: what the network was told (it was timed, on this kind of
// machine), else what the kernels' rules say.
#include "runtime/net/bind_rows.h"

namespace nereid::runtime {
namespace {

using kernels::Problem;
using kernels::Tactic;
using kernels::Way;

Chosen choose(const NetBinder& binder, const Problem& problem, const Tactic& rule) {
  Chosen chosen{.problem = problem.text(), .tactic = rule};
  const std::string_view told = binder.network().choice(chosen.problem);
  if (told.empty()) return chosen;
  // An engine's text may hold anything: what cannot be done is as if it were not there.
  if (const Result<Tactic> tactic = kernels::parse_tactic(told); tactic.is_ok() && kernels::solves(*tactic, problem))
    chosen.tactic = *tactic;
  return chosen;
}

// What a layer says for itself goes before what the network says.
bool may_be_bf16(const NetBinder& binder, const graph::Node& node) {
  if (scales_result(node)) return false;
  const std::string& own = node.attrs.text("precision");
  return own.empty() ? binder.network().precision() == NetPrecision::kBF16 : own == "bf16";
}
// A layer that says bf16 was found to be right and fast in it; a network's bf16 is a wish, and the rule knows better.
bool wants_bf16(const NetBinder& binder, const graph::Node& node, const ProductSizes& sizes) {
  return node.attrs.text("precision") == "bf16" || pays_in_bf16(binder, sizes);
}

// Windows over a few channels are gathered in pieces too short for vectors; f32 keeps images as they are. Three colours
// become four as they are rounded.
constexpr int64_t kFewChannels = 16, kColours = 3;

}  // namespace

Chosen choose_conv(const NetBinder& binder, const graph::Node& node, const kernels::ConvShape& s) {
  Problem problem;
  problem.is_conv = true;
  problem.conv = s;
  // Depthwise convolutions are bound by memory: bf16 has nothing to give them.
  problem.may_be_bf16 = may_be_bf16(binder, node) && !kernels::low_conv_is_depthwise(s);
  Tactic rule{.way = kernels::way_of(kernels::choose_conv_algorithm(s)), .blocking = {}};
  const int64_t channels = s.in_c / s.groups, taps = s.kernel_h * s.kernel_w;
  const ProductSizes sizes{.m = s.batch * s.out_h * s.out_w, .n = s.out_c / s.groups, .k = channels * taps};
  const bool in_vectors = taps == 1 || channels >= kFewChannels || channels == kColours;
  if (problem.may_be_bf16 && in_vectors && wants_bf16(binder, node, sizes)) rule.way = Way::kBF16;
  return choose(binder, problem, rule);
}

Chosen choose_gemm(const NetBinder& binder, const graph::Node& node, const ProductSizes& sizes) {
  Problem problem;
  problem.may_be_bf16 = may_be_bf16(binder, node);
  problem.m = sizes.m;
  problem.n = sizes.n;
  problem.k = sizes.k;
  Tactic rule;
  if (problem.may_be_bf16 && wants_bf16(binder, node, sizes)) rule.way = Way::kBF16;
  return choose(binder, problem, rule);
}

}  // namespace nereid::runtime
