// SPDX-License-Identifier: Apache-2.0
// What a configuration's message says, as plain values that know no protobuf.
#pragma once

#include "server/core/model_config.h"

namespace inference {
class ModelConfig;
}

namespace nereid::server {

ModelConfig config_values(const inference::ModelConfig& m);

}  // namespace nereid::server
