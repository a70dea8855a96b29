// SPDX-License-Identifier: Apache-2.0
// Chooses a way for each problem of a network: from the timing cache, by racing the candidates, or by rule.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/thread_pool.h"
#include "kernels/cpu/isa_kernels.h"
#include "tune/candidates.h"
#include "tune/choice.h"
#include "tune/race.h"
#include "tune/timing_cache.h"

namespace nereid::tune {

// A problem as the network's plan has it.
struct Task {
  std::string problem;
  std::string rule;   // what the plan does without a choice
  int64_t count = 1;  // layers that have it
};

struct TuneRequest {
  std::span<const Task> tasks;  // no problem twice
  int level = kDefaultLevel;
  DeviceKey device;
  std::function<bool()> stop;  // asked before each problem; true: kCancelled
  std::function<void(int64_t done, int64_t total)> progress;
};

// Races the candidates (the first is the rule's) for one problem. The seam for tests.
using RaceProblem =
    std::function<Result<RaceResult>(const kernels::Problem&, const std::vector<Candidate>&, const RaceRules&)>;

// Answers in the order of the tasks; `cache` gains what was decided here. The heaviest problems come first; those for
// which the level's time does not suffice keep the rule's way. kCancelled: Ctrl-C.
Result<std::vector<ProblemChoice>> choose(const TuneRequest& request, const RaceProblem& race, const Clock& clock,
                                          TimingCache& cache);

// The real thing.
RaceProblem race_on(const kernels::IsaKernels& kernels, ThreadPool& pool, int64_t cold_bytes, const Clock& clock);

}  // namespace nereid::tune
