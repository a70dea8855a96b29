// SPDX-License-Identifier: Apache-2.0
// A model repository as a server offers it: its backends, its models, the protocol's endpoints and the metrics of both.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/core/text_models.h"
#include "server/host/scheduling.h"
#include "server/metrics/metrics_config.h"
#include "server/net/endpoint.h"
#include "server/net/name_pattern.h"
#include "server/protocol/kserve/api_group.h"
#include "server/protocol/kserve_grpc/grpc_server.h"
#include "server/repository/lint.h"
#include "server/repository/repository.h"
#include "server/trace/trace_options.h"

namespace nereid::server {

// What protocols do besides inference.
struct ProtocolOptions {
  trace::Options trace;
  std::shared_ptr<LogControl> log;
  metrics::MetricsConfig metrics;
  int64_t metrics_interval_ms = 2000;               // between two samples of what cannot be asked
  net::NamePattern http_forwarded, grpc_forwarded;  // headers that models are told as parameters
  kserve::RestrictedApis http_restricted, grpc_restricted;
  std::optional<net::TlsOptions> grpc_tls;                  // none: in the clear
  std::vector<std::pair<std::string, int>> grpc_arguments;  // gRPC's own, by their names
  int grpc_compression = 0;                                 // of responses: 0 none to 3 high
};

struct ModelServerOptions {
  RepositoryOptions repository;
  int64_t poll_s = 15;  // in poll mode
  std::string server_name = "triton";
  std::string version;
  bool shares_memory = false;  // clients may have tensors in shared memory
  ProtocolOptions protocols;
  SchedulingOptions scheduling{};
  // Where a language model lies that a configuration names by a name instead of a path; empty: nobody knows names.
  std::function<Result<std::string>(const std::string& name)> resolve_model;
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
  // Its language models, for protocols of texts.
  virtual std::shared_ptr<TextModels> text_models() = 0;
  virtual std::string metrics_text() const = 0;
  // What is kept for the next requests over gRPC.
  virtual void give_back_memory() = 0;
  // Of the port for metrics: /metrics, and a page that shows models and what they do.
  virtual std::vector<net::Endpoint> metrics_endpoints() = 0;
  virtual std::vector<IndexRow> index() = 0;
  // Says that it is stopping from now on, by every health check.
  virtual void refuse() = 0;
  // The same, lets what gRPC has taken end for at most so long, and unloads everything.
  virtual void stop(int64_t timeout_ms) = 0;
};

// What is wrong with a repository's models, without loading any; `resolve_model` as in the options.
Result<std::vector<LintFinding>> check_repository(
    const std::string& folder, std::function<Result<std::string>(const std::string& name)> resolve_model);

}  // namespace nereid::server
