// SPDX-License-Identifier: Apache-2.0
// Whether the steps of an ensemble fit together.
#pragma once

#include "server/core/infer_models.h"

namespace nereid::server {

Status check_ensemble(const ModelConfig& config, const InferModels& models);

}  // namespace nereid::server
