// SPDX-License-Identifier: Apache-2.0
// Which restricted group (--http-restricted-api) the host's endpoints belong to: those of OpenAI's API, the pages, and
// what is asked about the process.
#pragma once

#include <string_view>

#include "server/protocol/kserve/api_group.h"

namespace nereid::server {

// By the endpoint's pattern.
kserve::ApiGroup api_group_of(std::string_view pattern);

}  // namespace nereid::server
