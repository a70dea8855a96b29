// SPDX-License-Identifier: Apache-2.0
// Whether the steps of an ensemble fit together.
#pragma once

#include <functional>

#include "base/status.h"
#include "server/core/model_config.h"

namespace nereid::server {

// The configuration of a step's model, as it would answer.
using FindConfig = std::function<Result<ModelConfig>(const std::string& model, int64_t version)>;

// kInvalidArgument, kUnsupported: they do not; errors of `find`.
Status check_ensemble(const ModelConfig& config, const FindConfig& find);

}  // namespace nereid::server
