// SPDX-License-Identifier: Apache-2.0
// How a call ends: gRPC's codes, and a sentence.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"

namespace nereid::server::net::grpc {

enum class RpcCode : uint8_t {
  kOk,
  kCancelled,
  kUnknown,
  kInvalidArgument,
  kDeadlineExceeded,
  kNotFound,
  kAlreadyExists,
  kPermissionDenied,
  kResourceExhausted,
  kFailedPrecondition,
  kAborted,
  kOutOfRange,
  kUnimplemented,
  kInternal,
  kUnavailable,
  kDataLoss,
  kUnauthenticated,
};

struct RpcStatus {
  RpcCode code = RpcCode::kOk;
  std::string message;
  bool is_ok() const { return code == RpcCode::kOk; }
};

// Our errors as gRPC's.
RpcStatus rpc_status(const Status& status);

}  // namespace nereid::server::net::grpc
