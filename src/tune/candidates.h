// SPDX-License-Identifier: Apache-2.0
// Which ways to solve a problem are worth a race at a level.
#pragma once

#include <optional>
#include <vector>

#include "kernels/cpu/tactic.h"
#include "tune/level.h"

namespace nereid::tune {

struct Candidate {
  kernels::Tactic tactic;
  double handicap = 0;               // race.h
  std::optional<size_t> variant_of;  // in the list
};

struct CandidateQuery {
  const kernels::Problem& problem;
  kernels::Tactic rule;  // comes first
  int workers = 1;
};

// Each of them solves the problem; no two are the same.
std::vector<Candidate> candidates(const CandidateQuery& query, const Level& level);

}  // namespace nereid::tune
