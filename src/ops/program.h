// SPDX-License-Identifier: Apache-2.0
// The steps of op `program`: one elementwise operation after the other on values that never leave the cache.
//
// A step is a text: the primitive's name, then what it takes, no more: indices of earlier values (the program's inputs
// first, then one a step) and numbers.
//   "add 0 1"   "mul_constant 2 0.5"   "act:clip 3 0.0 6.0"   "select 4 0 1"   "constant 1.5"
// Primitives are those of kernels/cpu/elementwise_program.h in the same order, so an index here is one there.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ops/epilogue.h"

namespace nereid::ops {

struct Primitive {
  std::string_view name;
  int operands = 1;   // values it takes: 0 to 3
  int constants = 0;  // numbers it takes: 0 to 2
  double flops = 1;
  // act is null but for "act".
  double (*function)(double a, double b, double c, double alpha, double beta) = nullptr;
};

std::span<const Primitive> primitive_table();

struct ProgramStep {
  size_t primitive = 0;              // index in primitive_table()
  const EpilogueAct* act = nullptr;  // for "act"
  std::array<int, 3> operands = {0, 0, 0};
  double alpha = 0, beta = 0;
  const Primitive& rule() const { return primitive_table()[primitive]; }
};

// kInvalidArgument: a name that is unknown, too few or too many words, a value that is not there yet. `values` is how
// many there are before the step.
Result<ProgramStep> parse_program_step(std::string_view text, size_t values);
Result<std::vector<ProgramStep>> parse_program(std::span<const std::string> steps, size_t inputs);
// The text of a step; `primitive` is a name of the table, or "act:NAME".
std::string program_step_text(std::string_view primitive, std::span<const int> operands,
                              std::span<const double> constants = {});

}  // namespace nereid::ops
