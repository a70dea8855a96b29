// SPDX-License-Identifier: Apache-2.0
// What all models of a repository share beside the processors: a cache of responses, limits, places to run at.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/cache/response_cache.h"
#include "server/runner/served_model.h"

namespace nereid::server {

// As the command line has it.
struct SchedulingOptions {
  std::vector<std::string> cache_config;   // "local,size=1048576"
  std::vector<std::string> host_policies;  // "cpu,cpu-cores=0-3"
  bool limits_rate = false;
  std::vector<std::string> rate_resources;  // "R1:10:0"
};

struct Scheduling {
  std::shared_ptr<ResponseCache> cache;  // nullptr: none
  std::shared_ptr<const RunnerRules> rules;

  // kInvalidArgument with the option at fault; kUnsupported.
  static Result<Scheduling> open(const SchedulingOptions& options);
  // With the cache before it, where its configuration asks for that.
  std::shared_ptr<InferModel> serve(std::shared_ptr<InferModel> model) const;
};

}  // namespace nereid::server
