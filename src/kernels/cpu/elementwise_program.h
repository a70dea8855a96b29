// SPDX-License-Identifier: Apache-2.0
// A chain of elementwise operations as one pass: a short program of vector primitives run over tiles that stay in L1.
//
// Every value of the program is a tile of up to kProgramTile numbers; step i makes value inputs + i from earlier
// values. Value v < inputs is input v, read with strides (0: broadcast) over up to 6 dims, the last one innermost. Each
// output names the value it stores. Arithmetic is f32. Steps that compare give 1 or 0; kSelect takes b where a != 0,
// else c. Inputs may be 8-bit codes, which are read as the numbers they are; outputs too, which
// are rounded to the nearest even one and saturate (NaN becomes the lowest code or 0).
//
// Accuracy (relative unless said): exp and log 2e-7, sigmoid and tanh 4e-7, erf 2e-7 absolute (relative below 0.85),
// softplus 4e-7; add ... sqrt are exact roundings; sin, cos, pow, mod and fmod are the C library's, a lane at a time.
// exp below 2^-126 is zero.
//
// Cost: inputs and outputs move once; a cheap step is about 1/8 ns for 16 numbers on AVX-512. Bound: memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/cpu/epilogue.h"
#include "kernels/cpu/low_precision.h"

namespace nereid::kernels {

inline constexpr int kProgramDims = 6;
inline constexpr int kProgramValues = 64;  // inputs and steps of one program
inline constexpr int64_t kProgramTile = 512;

enum class Primitive : uint8_t {
  // value
  kConstant,  // alpha
  // of a
  kCopy,
  kNeg,
  kAbs,
  kSign,
  kSqrt,
  kReciprocal,
  kExp,
  kLog,
  kSin,
  kCos,
  kErf,
  kFloor,
  kCeil,
  kRound,
  kNot,
  kIsNan,
  kSoftplus,
  kAct,          // act(a) with alpha, beta: see epilogue.h
  kAddConstant,  // a + alpha
  kMulConstant,  // a * alpha
  kPowConstant,  // a ^ alpha; 2, 3, 0.5, -0.5, -1 by multiplying, square root and division
  // of a and b
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMin,
  kMax,
  kPow,
  kMod,
  kFmod,
  kPRelu,
  kEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kAnd,
  kOr,
  kXor,
  // of a, b and c
  kMulAdd,  // a * b + c
  kSelect,  // a != 0 ? b : c
};

struct ProgramStep {
  Primitive op = Primitive::kCopy;
  uint8_t a = 0, b = 0, c = 0;  // values
  Act act = Act::kNone;
  float alpha = 0, beta = 0;
};

struct ProgramInput {
  const void* data = nullptr;
  int64_t strides[kProgramDims] = {};  // elements, by dim of the result; 0 repeats
  LowType type = LowType::kF32;        // or kU8, kS8
};
struct ProgramOutput {
  void* data = nullptr;
  int64_t strides[kProgramDims] = {};
  uint8_t value = 0;
  LowType type = LowType::kF32;  // or kU8, kS8
};

struct ProgramParams {
  const ProgramStep* steps = nullptr;
  int step_count = 0;
  const ProgramInput* inputs = nullptr;
  int input_count = 0;
  const ProgramOutput* outputs = nullptr;  // may be inputs' memory where strides agree
  int output_count = 0;
  int rank = 1;  // at most kProgramDims
  int64_t dims[kProgramDims] = {};
  std::byte* scratch = nullptr;  // program_scratch_bytes(...), 64-byte aligned
};

int64_t program_scratch_bytes(int input_count, int step_count, int workers);

}  // namespace nereid::kernels
