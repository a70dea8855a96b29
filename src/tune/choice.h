// SPDX-License-Identifier: Apache-2.0
// What was chosen for a layer, from what, and why: for reports, as plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nereid::tune {

// Problems and tactics are texts of kernels/cpu/tactic.h.
struct TimedTactic {
  std::string tactic;
  double us = 0;          // of one run, the least that was seen
  bool given_up = false;  // left the race before its end, because others were far ahead
};

// The answer for one problem, which all layers of the same shapes share.
struct ProblemChoice {
  std::string problem;
  std::string rule;                // the tactic that the kernels' rules would take
  std::string chosen;              // the same, or a faster one
  std::vector<TimedTactic> timed;  // the fastest first; empty if nothing was timed
  std::string reason;              // a phrase: "22.1 % faster than the rule's over 12 rounds"
  int level = 0;                   // at which it was decided
  bool from_cache = false;
};

struct LayerChoice {
  std::string layer;  // "conv_last %x"
  ProblemChoice choice;
};

}  // namespace nereid::tune
