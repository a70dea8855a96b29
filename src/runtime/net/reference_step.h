// SPDX-License-Identifier: Apache-2.0
// The last resort: an op's reference evaluator as a step, on worker 0 alone.
#pragma once

#include "runtime/net/binder.h"

namespace nereid::runtime {

Result<std::unique_ptr<NetStep>> bind_net_reference(NetBinder& binder, const graph::Node& node);

}  // namespace nereid::runtime
