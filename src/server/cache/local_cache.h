// SPDX-License-Identifier: Apache-2.0
// Answers in this process, within a number of bytes; what was not asked for the longest goes first.
#pragma once

#include "server/cache/response_cache.h"

namespace nereid::server {

std::shared_ptr<ResponseCache> make_local_cache(size_t capacity_bytes);

}  // namespace nereid::server
