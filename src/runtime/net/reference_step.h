// SPDX-License-Identifier: Apache-2.0
// The last resort: an op's reference evaluator as a step, on worker 0 alone.
#pragma once

#include "runtime/net/binder.h"

namespace nereid::runtime {

// What the evaluator finds wrong in the values goes to `error`, which outlives the step.
Result<std::unique_ptr<NetStep>> bind_net_reference(NetBinder& binder, const graph::Node& node, Status& error);

}  // namespace nereid::runtime
