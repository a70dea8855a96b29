// SPDX-License-Identifier: Apache-2.0
// The part of `nereid serve` that is about model repositories: its options, and the server round one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/serve_protocols.h"
#include "server/host/host.h"
#include "server/host/model_server.h"

namespace nereid::cli {

struct RepositoryArguments {
  std::vector<std::string> folders;
  std::string control_mode = "none";
  std::vector<std::string> load;
  std::string strict_readiness = "true", exit_on_error = "true", strict_config = "false", allow_metrics = "true",
              allow_http = "true";
  bool no_completion = false;
  int64_t poll_s = 15;
  std::string name = "triton";
  std::string metrics_address;
  int metrics_port = 8002;
  std::string allow_grpc = "true", grpc_address;
  int grpc_port = 8001;
  std::string allow_shared_memory = "false";
  server::SchedulingOptions scheduling;
  std::string rate_limit = "off";
  int64_t cache_bytes = 0;  // --response-cache-byte-size
  ProtocolArguments protocols;
};

void declare_repository(CommandLine& app, RepositoryArguments& a, server::HostOptions& host);

// What serves a repository besides the host.
class ServedRepository {
 public:
  // Adds the endpoints to the host's options. Nothing where no repository is named. kInvalidArgument, kNotFound.
  static Result<std::unique_ptr<ServedRepository>> open(const RepositoryArguments& a, server::HostOptions* host);
  // Loads the models. kUnavailable: the port of the metrics is taken; kInternal: a model failed that must not;
  // kCancelled: interrupted().
  Status start();
  // A table of models, versions and states.
  void print() const;
  // What is kept for the next requests.
  void give_back_memory();
  // Its health checks say that it stops.
  void refuse();
  void stop(int64_t timeout_ms);

 private:
  RepositoryArguments arguments_;
  std::unique_ptr<server::ModelServer> models_;
  std::unique_ptr<server::net::Server> metrics_;  // goes before the models
  server::net::Settings settings_;
  std::string address_;  // of the host
  int grpc_port_ = 0;    // 0: nothing listens
};

}  // namespace nereid::cli
