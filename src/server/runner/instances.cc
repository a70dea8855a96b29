// SPDX-License-Identifier: Apache-2.0
#include "server/runner/instances.h"

#include "server/runner/warm_up.h"

namespace nereid::server {
namespace {

Result<std::unique_ptr<ServedInstance>> make_instance(const ServedParts& parts, const InstanceGroup& group,
                                                      const std::string& name) {
  auto out = std::make_unique<ServedInstance>();
  if (parts.rules != nullptr) {
    out->cpus = parts.rules->policies.find(host_policy_of(group));
    if (parts.rules->gate != nullptr) {
      NEREID_TRY(out->pass, parts.rules->gate->add({.takes = group.resources,
                                                    .device = group.gpus.empty() ? 0 : group.gpus[0],
                                                    .priority = group.priority}));
    }
  }
  // The threads that it starts stay where this one is.
  ThreadPlace place;
  place.move_to(out->cpus);
  NEREID_TRY(out->backend, parts.backend->make_instance(name));
  return out;
}

}  // namespace

Result<std::vector<std::unique_ptr<ServedInstance>>> make_instances(const ServedParts& parts, ModelMeter& meter) {
  NEREID_TRY(const std::vector<WarmupBatch> samples, prepare_warm_up(parts.config, parts.folder));
  std::vector<std::unique_ptr<ServedInstance>> out;
  for (const InstanceGroup& group : parts.config.instances) {
    if (group.is_passive) continue;
    for (int i = 0; i < group.count; ++i) {
      NEREID_TRY(std::unique_ptr<ServedInstance> made,
                 make_instance(parts, group, fmt::format("{}_{}", group.name, i)));
      NEREID_RETURN_IF_ERROR(warm_up(samples, *made->backend, meter));
      out.push_back(std::move(made));
    }
  }
  if (out.empty())
    return invalid_argument("model '{}' has no instance that may run; give an instance group that is not passive",
                            parts.config.name);
  return out;
}

}  // namespace nereid::server
