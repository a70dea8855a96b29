// SPDX-License-Identifier: Apache-2.0
// A handler behind the header of its group: the one place where a restricted API refuses over HTTP, whatever protocol
// the endpoint is of.
#pragma once

#include "server/net/endpoint.h"
#include "server/protocol/kserve/api_group.h"

namespace nereid::server::kserve {

// The handler itself where everybody may use the group; else one that answers 403, in the protocol's shape, to who
// does not send the header.
net::Handler gated(const RestrictedApis& restricted, ApiGroup group, net::ErrorShape shape, net::Handler handler);

}  // namespace nereid::server::kserve
