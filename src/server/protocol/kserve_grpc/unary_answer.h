// SPDX-License-Identifier: Apache-2.0
// A row's answer of bytes out of one of messages.
#pragma once

#include <string>
#include <string_view>

#include "server/protocol/kserve_grpc/unary_calls.h"

namespace nereid::server::kserve {

inline net::grpc::RpcStatus as_rpc(const Status& status) {
  return net::grpc::rpc_status(status);
}
inline net::grpc::RpcStatus as_rpc(net::grpc::RpcStatus status) {
  return status;
}

template <auto kAnswer>
struct UnaryAnswer;

// `Outcome` is Status, or RpcStatus where a code is told that only this protocol has.
template <typename Request, typename Response, typename Outcome,
          Outcome (*kAnswer)(const GrpcOptions&, const Request&, Response*)>
struct UnaryAnswer<kAnswer> {
  static net::grpc::RpcStatus of_bytes(const GrpcOptions& options, std::string_view bytes, std::string* out) {
    Request request;
    if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
      return {net::grpc::RpcCode::kInternal, "the request is no message of its kind"};
    Response response;
    net::grpc::RpcStatus status = as_rpc(kAnswer(options, request, &response));
    if (status.is_ok()) response.SerializeToString(out);
    return status;
  }
};

}  // namespace nereid::server::kserve
