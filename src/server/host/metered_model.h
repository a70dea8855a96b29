// SPDX-License-Identifier: Apache-2.0
// A text model whose requests are timed and counted on their way, whatever protocol they come by.
#pragma once

#include <memory>

#include "server/core/text_model.h"
#include "server/metrics/registry.h"

namespace nereid::server {

// The registry outlives it.
std::shared_ptr<TextModel> metered(std::shared_ptr<TextModel> model, metrics::Registry& registry);

}  // namespace nereid::server
