// SPDX-License-Identifier: Apache-2.0
// The open inference protocol (KServe v2) and its extensions over HTTP, as rows for a router.
#pragma once

#include <vector>

#include "server/net/endpoint.h"
#include "server/protocol/kserve/endpoints/service.h"

namespace nereid::server::kserve {

std::vector<net::Endpoint> make_endpoints(std::shared_ptr<const Service> service);

}  // namespace nereid::server::kserve
