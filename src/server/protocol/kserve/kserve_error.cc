// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve/kserve_error.h"

#include "server/protocol/kserve/json_writer.h"

namespace nereid::server::kserve {

int http_status(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return 200;
    case StatusCode::kInvalidArgument:
    case StatusCode::kCancelled:
      return 400;
    case StatusCode::kNotFound:
      return 404;
    case StatusCode::kUnsupported:
      return 501;
    case StatusCode::kExhausted:
    case StatusCode::kUnavailable:
      return 503;
    case StatusCode::kInternal:
      break;
  }
  return 500;
}

net::Response error_response(int status, std::string_view message) {
  std::string body = "{\"error\":";
  append_text(&body, message);
  net::Response response = net::json_response(status, body + "}");
  if (status == 503) response.headers.add("Retry-After", "1");
  return response;
}

net::Response error_response(const Status& status) {
  return error_response(http_status(status.code()), status.message());
}

net::Response shape_error(const net::HttpError& error) {
  if (error.status == 404) return error_response(404, "Not Found");
  if (error.status == 405) return error_response(405, "Method Not Allowed");
  return error_response(error.status, error.message);
}

}  // namespace nereid::server::kserve
