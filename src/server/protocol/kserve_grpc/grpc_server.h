// SPDX-License-Identifier: Apache-2.0
// The open inference protocol (KServe v2) over gRPC.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/core/byte_pool.h"
#include "server/core/infer_models.h"
#include "server/core/log_control.h"
#include "server/core/shared_memory.h"
#include "server/core/tracer.h"
#include "server/net/transport.h"
#include "server/protocol/kserve/api_group.h"

namespace nereid::server::kserve {

struct GrpcOptions {
  std::string address = "127.0.0.1";
  int port = 8001;  // 0: any that is free
  std::shared_ptr<InferModels> models;
  std::shared_ptr<SharedMemory> shared;
  std::string server_name = "triton";
  std::string version;
  std::function<bool()> is_ready;
  std::shared_ptr<Tracer> tracer;
  std::shared_ptr<LogControl> log;
  RestrictedApis restricted;
  // What of a call's metadata the model is to know (forwarded_headers.h); nothing: none of it.
  std::function<Status(std::string_view name, std::string_view value, InferRequest* request)> forward_header;
  std::optional<net::TlsOptions> tls;                          // none: in the clear
  std::vector<std::pair<std::string, int>> channel_arguments;  // by gRPC's own names (channel_arguments.h)
  int compression_level = 0;                                   // of responses: 0 none to 3 high
  // A configuration's JSON as the bytes of the message ModelConfig.
  std::function<Result<std::string>(const std::string& json)> config_message;
  std::shared_ptr<BytePool> pool = std::make_shared<BytePool>();  // of long inputs
};

class GrpcServer {
 public:
  // kUnavailable: the port is taken. kNotFound, kInvalidArgument: what TLS needs cannot be read.
  static Result<std::unique_ptr<GrpcServer>> start(GrpcOptions options);
  // Ends at once what still runs.
  virtual ~GrpcServer() = default;
  virtual int port() const = 0;
  // Takes nothing more, lets what runs end for at most so long, then ends it.
  virtual void stop(int64_t timeout_ms) = 0;
};

}  // namespace nereid::server::kserve
