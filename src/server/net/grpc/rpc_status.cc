// SPDX-License-Identifier: Apache-2.0
#include "server/net/grpc/rpc_status.h"

namespace nereid::server::net::grpc {

RpcStatus rpc_status(const Status& status) {
  RpcCode code = RpcCode::kInternal;
  switch (status.code()) {
    case StatusCode::kOk:
      return {};
    case StatusCode::kInvalidArgument:
      code = RpcCode::kInvalidArgument;
      break;
    case StatusCode::kNotFound:
      code = RpcCode::kNotFound;
      break;
    case StatusCode::kUnsupported:
      code = RpcCode::kUnimplemented;
      break;
    case StatusCode::kExhausted:
    case StatusCode::kUnavailable:
      code = RpcCode::kUnavailable;
      break;
    case StatusCode::kCancelled:
      code = RpcCode::kCancelled;
      break;
    case StatusCode::kInternal:
      break;
  }
  return {code, std::string(status.message())};
}

}  // namespace nereid::server::net::grpc
