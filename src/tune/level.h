// SPDX-License-Identifier: Apache-2.0
// How much a build may try: the levels 0 to 5 of `nereid build --level`.
#pragma once

#include <cstdint>

namespace nereid::tune {

inline constexpr int kMostLevel = 5;
inline constexpr int kDefaultLevel = 3;

struct Level {
  bool algorithms;  // races between algorithms and precisions
  int blockings;    // 0: none; 1: the likely ones; 2: all of one setting; 3: pairs of settings too
  int rounds_most;
  double margin;       // what a winner must be faster by
  int64_t problem_ns;  // most time for one problem
  int64_t total_ns;    // most time for all of them
};

// 0 asks the kernels' rules alone. Times are those of timing; preparing memory comes on top, about a tenth.
inline constexpr Level kLevels[kMostLevel + 1] = {
    {.algorithms = false, .blockings = 0, .rounds_most = 0, .margin = 0, .problem_ns = 0, .total_ns = 0},
    {.algorithms = true,
     .blockings = 0,
     .rounds_most = 6,
     .margin = 0.05,
     .problem_ns = 200'000'000,
     .total_ns = 2'000'000'000},
    {.algorithms = true,
     .blockings = 0,
     .rounds_most = 12,
     .margin = 0.03,
     .problem_ns = 500'000'000,
     .total_ns = 6'000'000'000},
    {.algorithms = true,
     .blockings = 1,
     .rounds_most = 12,
     .margin = 0.03,
     .problem_ns = 1'000'000'000,
     .total_ns = 15'000'000'000},
    {.algorithms = true,
     .blockings = 2,
     .rounds_most = 16,
     .margin = 0.02,
     .problem_ns = 4'000'000'000,
     .total_ns = 60'000'000'000},
    {.algorithms = true,
     .blockings = 3,
     .rounds_most = 32,
     .margin = 0.02,
     .problem_ns = 30'000'000'000,
     .total_ns = 1'800'000'000'000},
};

}  // namespace nereid::tune
