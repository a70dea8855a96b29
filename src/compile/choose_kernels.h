// SPDX-License-Identifier: Apache-2.0
// From an opened network to one whose kernels are chosen and whose weights are packed for the sizes it has: a plan is
// made, its problems are solved by the tuner, and a plan with the choices is made.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "compile/network.h"
#include "tune/choice.h"

namespace nereid::compile {

struct KernelChoices {
  std::vector<tune::LayerChoice> layers;  // those that can be done in several ways, in the order in which they run
  std::string machine;                    // that it was measured on (tune/device_key.h)
  int level = 0, threads = 1;
  int64_t problems = 0, from_cache = 0;
  double tune_ms = 0;
  // What an engine keeps: the machine, and for each problem the tactic that is not the rule's. Null if there is none.
  Json engine_info() const;
  // One line a problem: what was chosen, why, and the times of all candidates.
  std::string to_text() const;
};

struct ChooseOptions {
  int level = 0;
  std::string timing_cache;  // a file; empty: none
  BuildProgress progress;
  std::function<bool()> stop;  // asked between problems; true: kCancelled
};

// Replaces opened.network. `notes`: what runs on reference evaluators. What a run on zeros refuses is no error here.
// Errors: those of the timing cache's file; kCancelled, kExhausted.
Result<KernelChoices> choose_kernels(OpenedNetwork& opened, ThreadPool& pool, const ChooseOptions& options,
                                     std::vector<std::string>& notes);

// For a network that runs without an engine: as choose_kernels at options.level, or at level 0 with what the timing
// cache knows. Remarks on the cache are added to the warnings.
Status tune_opened(OpenedNetwork& opened, const NetworkOptions& options, ThreadPool& pool);

// The choices that an engine holds, if they are for this machine; else empty, and a warning says so.
runtime::NetChoices choices_of_engine(const Json& info, Isa isa, std::vector<std::string>& warnings);

}  // namespace nereid::compile
