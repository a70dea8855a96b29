// SPDX-License-Identifier: Apache-2.0
#include "server/host/scheduling.h"

#include "server/cache/cache_options.h"
#include "server/cache/cached_model.h"

namespace nereid::server {

Result<Scheduling> Scheduling::open(const SchedulingOptions& options) {
  Scheduling out;
  NEREID_TRY(const CacheOptions cache, parse_cache_options(options.cache_config));
  NEREID_TRY(out.cache, open_cache(cache));
  auto rules = std::make_shared<RunnerRules>();
  NEREID_TRY(rules->policies, HostPolicies::parse(options.host_policies));
  std::vector<ResourceLimit> limits;
  for (const std::string& text : options.rate_resources) {
    NEREID_TRY(ResourceLimit limit, parse_resource_limit(text));
    limits.push_back(std::move(limit));
  }
  if (options.limits_rate) rules->gate = std::make_shared<RateGate>(std::move(limits));
  out.rules = std::move(rules);
  return out;
}

std::shared_ptr<InferModel> Scheduling::serve(std::shared_ptr<InferModel> model) const {
  return cache != nullptr && model->config().uses_cache ? make_cached_model(std::move(model), cache) : model;
}

}  // namespace nereid::server
