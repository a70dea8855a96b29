// SPDX-License-Identifier: Apache-2.0
// Models that answer what they were given: for tests, and to measure a server without a model's work.
//
// The first output is the first input, and so on; types, sizes and bytes as they came, without a copy. Parameters:
// execute_delay_ms (of each execution).
#pragma once

#include <memory>

#include "server/core/backend.h"

namespace nereid::server {

std::unique_ptr<Backend> make_identity_backend();

}  // namespace nereid::server
