// SPDX-License-Identifier: Apache-2.0
// The roof of f32 arithmetic: multiply-adds on registers alone, nothing loaded. What benchmarks call 100 %.
#pragma once

#include <cstdint>

#include "base/thread_pool.h"

namespace nereid::kernels {

// Multiply-adds of one round of one worker: 12 vectors of 16 lanes.
inline constexpr int kPeakChains = 12;
inline constexpr int64_t kPeakRound = kPeakChains * 16;

struct PeakParams {
  int64_t rounds = 0;
  float* sink = nullptr;  // [16 * workers]: keeps the sums alive
};

}  // namespace nereid::kernels
