// SPDX-License-Identifier: Apache-2.0
// A model that answers from a cache what it has answered before.
#pragma once

#include <memory>

#include "server/cache/response_cache.h"
#include "server/core/infer_model.h"

namespace nereid::server {

std::shared_ptr<InferModel> make_cached_model(std::shared_ptr<InferModel> model, std::shared_ptr<ResponseCache> cache);

}  // namespace nereid::server
