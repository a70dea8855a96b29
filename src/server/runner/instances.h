// SPDX-License-Identifier: Apache-2.0
// The instances of a model that run: made where they are to run, warmed up, and registered with the gate.
#pragma once

#include <memory>
#include <vector>

#include "server/core/backend.h"
#include "server/core/model_meter.h"
#include "server/runner/host_policy.h"
#include "server/runner/rate_gate.h"
#include "server/runner/served_model.h"

namespace nereid::server {

struct ServedInstance {
  std::unique_ptr<BackendInstance> backend;
  const CpuList* cpus = nullptr;  // nullptr: it runs anywhere
  GatePass pass;
};

// Those that the configuration asks for; what warms them up is counted. kInvalidArgument: none, or one that could never
// run; else the errors of the backend and of warm_up.
Result<std::vector<std::unique_ptr<ServedInstance>>> make_instances(const ServedParts& parts, ModelMeter& meter);

}  // namespace nereid::server
