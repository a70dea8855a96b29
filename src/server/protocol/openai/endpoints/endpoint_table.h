// SPDX-License-Identifier: Apache-2.0
// What this protocol serves, for a Router.
#pragma once

#include <memory>
#include <vector>

#include "server/net/endpoint.h"
#include "server/protocol/openai/endpoints/service.h"

namespace nereid::server::openai {

std::vector<net::Endpoint> make_endpoints(std::shared_ptr<const Service> service);

// How errors that no endpoint got to see are written: for the Router's paths under "/v1/" and for ours outside of it.
net::Response shape_error(const net::HttpError& error);

}  // namespace nereid::server::openai
