// SPDX-License-Identifier: Apache-2.0
// Errors as the open inference protocol writes them over HTTP: {"error":"..."} with the status of the error's code.
#pragma once

#include "base/status.h"
#include "server/net/endpoint.h"

namespace nereid::server::kserve {

int http_status(StatusCode code);
net::Response error_response(const Status& status);
net::Response error_response(int status, std::string_view message);
// What no handler got to answer (net::Router::shape_errors).
net::Response shape_error(const net::HttpError& error);

}  // namespace nereid::server::kserve
