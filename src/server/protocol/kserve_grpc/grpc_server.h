// SPDX-License-Identifier: Apache-2.0
// The open inference protocol (KServe v2) over gRPC. gRPC's own headers stay in the .cc files: each costs 20 s to
// compile.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "server/core/infer_models.h"
#include "server/core/shared_memory.h"

namespace nereid::server::kserve {

struct GrpcOptions {
  std::string address = "127.0.0.1";
  int port = 8001;  // 0: any that is free
  std::shared_ptr<InferModels> models;
  std::shared_ptr<SharedMemory> shared;
  std::string server_name = "triton";
  std::string version;
  std::function<bool()> is_ready;
};

class GrpcServer {
 public:
  // kUnavailable: the port is taken; kUnsupported: the program was built without gRPC.
  static Result<std::unique_ptr<GrpcServer>> start(GrpcOptions options);
  // Ends at once what still runs.
  virtual ~GrpcServer() = default;
  virtual int port() const = 0;
  // Takes nothing more, lets what runs end for at most so long, then ends it.
  virtual void stop(int64_t timeout_ms) = 0;
};

}  // namespace nereid::server::kserve
