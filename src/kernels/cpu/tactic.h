// SPDX-License-Identifier: Apache-2.0
// A problem that kernels can solve in several ways, and one of these ways (a tactic), as one line of text each.
//
//   conv f32 n=1 h=56 w=56 c=64 o=64 y=56x56 k=3x3 s=1x1 d=1x1 p=1x1 g=1      gemm rows=banded band=128 block=256
//   gemm f32 m=128 n=384 k=384                                                gemm panels=4 across=2
//   gemm f32|bf16 m=4 n=512 k=512                                             bf16
//
// A problem says everything on which the fastest way may hang but the machine and its threads; sizes are those of
// conv.h and gemm.h. "f32|bf16" means that the caller lets the multiplications be in either. What a tactic does not
// name is chosen by the kernels' rules. A tactic other than in its first word never changes a bit of the result.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "kernels/cpu/conv.h"

namespace nereid::kernels {

// To be raised when a kernel's speed or what a tactic means changes: what was timed before is then timed again.
inline constexpr int kKernelVersion = 1;

struct Problem {
  bool is_conv = false;
  bool may_be_bf16 = false;
  int64_t m = 0, n = 0, k = 0;  // of a product
  ConvShape conv;
  std::string text() const;
};

enum class Way : uint8_t { kGemm, kDepthwise, kWinograd2, kWinograd4, kBF16 };

struct Tactic {
  Way way = Way::kGemm;
  ConvBlocking blocking;  // of a product: its `gemm`
  std::string text() const;
  bool operator==(const Tactic&) const = default;
};

// kInvalidArgument: a sentence with what was found. Sizes are positive and their products stay below 2^60.
Result<Problem> parse_problem(std::string_view text);
Result<Tactic> parse_tactic(std::string_view text);
// Whether the way can solve the problem, and its blocking has a meaning there.
bool solves(const Tactic& tactic, const Problem& problem);

constexpr ConvAlgorithm conv_algorithm(Way way) {
  return way == Way::kDepthwise   ? ConvAlgorithm::kDepthwise
         : way == Way::kWinograd2 ? ConvAlgorithm::kWinograd2
         : way == Way::kWinograd4 ? ConvAlgorithm::kWinograd4
                                  : ConvAlgorithm::kGemm;
}
constexpr Way way_of(ConvAlgorithm algorithm) {
  return algorithm == ConvAlgorithm::kDepthwise   ? Way::kDepthwise
         : algorithm == ConvAlgorithm::kWinograd2 ? Way::kWinograd2
         : algorithm == ConvAlgorithm::kWinograd4 ? Way::kWinograd4
                                                  : Way::kGemm;
}

}  // namespace nereid::kernels
