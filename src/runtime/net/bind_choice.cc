// SPDX-License-Identifier: Apache-2.0
// Which of several ways a product or a convolution takes: what the network was
// told (it was timed, on this kind of machine), else what the kernels' rules
// say.
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
  // An engine's text may hold anything: what cannot be done is as if it were
  // not there.
  if (const Result<Tactic> tactic = kernels::parse_tactic(told); tactic.is_ok() && kernels::solves(*tactic, problem))
    chosen.tactic = *tactic;
  return chosen;
}

}  // namespace

Chosen choose_conv(const NetBinder& binder, const graph::Node&, const kernels::ConvShape& s) {
  Problem problem;
  problem.is_conv = true;
  problem.conv = s;
  // Depthwise convolutions are bound by memory: bf16 has nothing to give them.
  problem.may_be_bf16 = binder.network().precision() == NetPrecision::kBF16 && !kernels::low_conv_is_depthwise(s);
  Tactic rule{.way = kernels::way_of(kernels::choose_conv_algorithm(s)), .blocking = {}};
  if (problem.may_be_bf16 && pays_in_bf16(binder, s.batch * s.out_h * s.out_w)) rule.way = Way::kBF16;
  return choose(binder, problem, rule);
}

Chosen choose_gemm(const NetBinder& binder, const graph::Node&, const ProductSizes& sizes) {
  Problem problem;
  problem.may_be_bf16 = binder.network().precision() == NetPrecision::kBF16;
  problem.m = sizes.m;
  problem.n = sizes.n;
  problem.k = sizes.k;
  Tactic rule;
  if (problem.may_be_bf16 && pays_in_bf16(binder, sizes.m)) rule.way = Way::kBF16;
  return choose(binder, problem, rule);
}

}  // namespace nereid::runtime
