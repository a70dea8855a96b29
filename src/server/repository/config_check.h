// SPDX-License-Identifier: Apache-2.0
// Whether what a configuration says about batches, sequences and states can be done.
#pragma once

#include "base/status.h"
#include "server/core/model_config.h"

namespace nereid::server {

// kInvalidArgument with the field at fault.
Status check_scheduling(const ModelConfig& config);

}  // namespace nereid::server
