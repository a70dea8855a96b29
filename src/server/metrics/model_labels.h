// SPDX-License-Identifier: Apache-2.0
// The labels by which the nv_* families tell models apart.
#pragma once

#include <string>
#include <string_view>

#include "server/core/infer_model.h"

namespace nereid::server::metrics {

// model="x",reason="y",version="1", with the tags of the configuration, sorted by name; no reason where it is "".
std::string model_labels(const InferModel& model, std::string_view reason = {});

}  // namespace nereid::server::metrics
