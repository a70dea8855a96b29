// SPDX-License-Identifier: Apache-2.0
// What the system says of this process.
#pragma once

#include "server/metrics/registry.h"

namespace nereid::server::metrics {

// Processor time, memory, files, and when it began (now).
void add_process_metrics(Registry& registry);

}  // namespace nereid::server::metrics
