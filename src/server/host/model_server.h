// SPDX-License-Identifier: Apache-2.0
// A model repository as a server offers it: its backends, its models, the protocol's endpoints and the metrics of both.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/net/endpoint.h"
#include "server/repository/lint.h"
#include "server/repository/repository.h"

namespace nereid::server {

struct ModelServerOptions {
  RepositoryOptions repository;
  int64_t poll_s = 15;  // in poll mode
  std::string server_name = "triton";
  std::string version;
  bool shares_memory = false;  // clients may have tensors in shared memory
};

class ModelServer {
 public:
  // kNotFound: a repository that cannot be read.
  static Result<std::unique_ptr<ModelServer>> open(ModelServerOptions options);
  virtual ~ModelServer() = default;
  // Loads what is to be there at the start; the error names what failed, and the rest is there all the same.
  virtual Status start() = 0;
  virtual std::vector<net::Endpoint> endpoints() = 0;
  // The same over gRPC, until it is stopped; gives the port. Errors: kserve::GrpcServer::start.
  virtual Result<int> listen_grpc(const std::string& address, int port) = 0;
  virtual std::string metrics_text() const = 0;
  virtual std::vector<IndexRow> index() = 0;
  // Says that it is not ready from now on, lets what gRPC has taken end for at most so long, and unloads everything.
  virtual void stop(int64_t timeout_ms) = 0;
};

// What is wrong with a repository's models, without loading any.
Result<std::vector<LintFinding>> check_repository(const std::string& folder);

}  // namespace nereid::server
