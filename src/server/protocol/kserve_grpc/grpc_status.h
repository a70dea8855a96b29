// SPDX-License-Identifier: Apache-2.0
// Our errors as gRPC's. Only for files that have gRPC's headers already.
#pragma once

#include <grpcpp/support/status.h>

#include "base/status.h"

namespace nereid::server::kserve {

inline grpc::Status grpc_status(const Status& status) {
  grpc::StatusCode code = grpc::StatusCode::INTERNAL;
  switch (status.code()) {
    case StatusCode::kOk:
      return grpc::Status::OK;
    case StatusCode::kInvalidArgument:
      code = grpc::StatusCode::INVALID_ARGUMENT;
      break;
    case StatusCode::kNotFound:
      code = grpc::StatusCode::NOT_FOUND;
      break;
    case StatusCode::kUnsupported:
      code = grpc::StatusCode::UNIMPLEMENTED;
      break;
    case StatusCode::kExhausted:
    case StatusCode::kUnavailable:
      code = grpc::StatusCode::UNAVAILABLE;
      break;
    case StatusCode::kCancelled:
      code = grpc::StatusCode::CANCELLED;
      break;
    case StatusCode::kInternal:
      break;
  }
  return {code, status.message()};
}

}  // namespace nereid::server::kserve
