// SPDX-License-Identifier: Apache-2.0
// The language models of a repository for protocols of texts, and several such lists as one.
#pragma once

#include <memory>

#include "server/core/infer_models.h"
#include "server/core/text_models.h"
#include "server/metrics/registry.h"

namespace nereid::server {

// By the names of the repository, each in its latest version that is ready.
std::shared_ptr<TextModels> repository_texts(std::shared_ptr<const InferModels> models);

// The same models, whose requests are measured on their way (metered_model.h). The registry outlives it.
std::shared_ptr<TextModels> metered_texts(std::shared_ptr<const TextModels> models, metrics::Registry& registry);

// A name that two of them have is the first one's.
std::shared_ptr<TextModels> joined_texts(std::shared_ptr<const TextModels> first,
                                         std::shared_ptr<const TextModels> second);

}  // namespace nereid::server
