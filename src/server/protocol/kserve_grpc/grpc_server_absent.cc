// SPDX-License-Identifier: Apache-2.0
// In place of grpc_server.cc where gRPC is not installed.
#include "server/protocol/kserve_grpc/grpc_server.h"

namespace nereid::server::kserve {

Result<std::unique_ptr<GrpcServer>> GrpcServer::start(GrpcOptions) {
  return unsupported(
      "this program was built without gRPC; install libgrpc++-dev and protobuf-compiler-grpc and build it "
      "again, or serve without --grpc-port");
}

}  // namespace nereid::server::kserve
