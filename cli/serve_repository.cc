// SPDX-License-Identifier: Apache-2.0
#include "cli/serve_repository.h"

#include <fmt/format.h>

#include "base/log.h"
#include "cli/model_path.h"
#include "cli/rest_watch.h"
#include "cli/version.h"

namespace nereid::cli {
namespace {

using server::ControlMode;

ControlMode mode_of(std::string_view name) {
  if (name == "poll") return ControlMode::kPoll;
  return name == "explicit" ? ControlMode::kExplicit : ControlMode::kNone;
}

}  // namespace

void declare_repository(CommandLine& app, RepositoryArguments& a, server::HostOptions& host) {
  app.add_texts("--model-repository,--model-store", a.folders,
                "a folder of models (MODEL/config.pbtxt, MODEL/1/model.onnx) to serve by the KServe protocol; "
                "repeatable");
  app.add_option("--model-control-mode", a.control_mode,
                 "which models of the repository are loaded: none (all, at the start), poll (all, and again when files "
                 "change) or explicit (--load-model, and what requests ask for)")
      ->check(Check::member({"none", "poll", "explicit"}))
      ->capture_default_str();
  app.add_texts("--load-model", a.load, "in explicit mode, a model to load at the start, or *; repeatable");
  app.add_option("--repository-poll-secs", a.poll_s, "in poll mode, seconds between two looks at the repository")
      ->check(Check::range(int64_t{1}, int64_t{86400}))
      ->capture_default_str();
  app.add_option("--strict-readiness", a.strict_readiness,
                 "true: the server is ready when every model is; false: when it answers at all")
      ->capture_default_str();
  app.add_option("--exit-on-error", a.exit_on_error, "true: end when a model fails to load at the start")
      ->capture_default_str();
  app.add_flag("--disable-auto-complete-config", a.no_completion,
               "take nothing from the models' files that their configurations leave out");
  app.add_option("--strict-model-config", a.strict_config, "true: the same as --disable-auto-complete-config");
  app.add_option("--id", a.name, "the server's name in its metadata")->capture_default_str();
  app.add_option("--http-address", host.host, "the same as --host");
  app.add_option("--http-port", host.port, "the same as --port")->check(Check::range(0, 65535));
  app.add_option("--allow-http", a.allow_http, "false: with a repository, no port for HTTP: gRPC and the metrics alone")
      ->capture_default_str();
  app.add_option("--allow-grpc", a.allow_grpc, "with a repository: the KServe protocol over gRPC as well")
      ->capture_default_str();
  app.add_option("--grpc-address", a.grpc_address, "address for gRPC (default: that of --host)");
  app.add_option("--grpc-port", a.grpc_port, "port for gRPC; 0: any that is free")
      ->check(Check::range(0, 65535))
      ->capture_default_str();
  app.add_option("--allow-client-shm", a.allow_shared_memory,
                 "true: clients of this machine may have tensors in shared memory")
      ->capture_default_str();
  app.add_texts(
      "--cache-config", a.scheduling.cache_config,
      "where answers of models with response_cache are kept: local,size=BYTES, or redis,host=NAME and further "
      "settings (port, user, password, db, connect_timeout, socket_timeout, pool_size, wait_timeout); "
      "repeatable, a setting each");
  app.add_option("--response-cache-byte-size", a.cache_bytes, "the same as --cache-config local,size=BYTES")
      ->check(Check::range(int64_t{0}, int64_t{1} << 50));
  app.add_option(
         "--rate-limit", a.rate_limit,
         "execution_count: instances run when the resources of their rate_limiter are free, those that have run "
         "least first; off: whenever they can")
      ->check(Check::member({"off", "execution_count"}))
      ->capture_default_str();
  app.add_texts(
      "--rate-limit-resource", a.scheduling.rate_resources,
      "how much there is of a resource: NAME:COUNT, or NAME:COUNT:DEVICE; default: what the greediest instance "
      "takes; repeatable");
  app.add_texts("--host-policy", a.scheduling.host_policies,
                "the processors for instances of a policy (cpu, model, gpu_0, or what host_policy names): "
                "POLICY,cpu-cores=A-B or POLICY,numa-node=N; repeatable");
  app.add_option("--allow-metrics", a.allow_metrics, "with a repository: metrics on a port of their own as well")
      ->capture_default_str();
  app.add_option("--metrics-address", a.metrics_address, "address of that port (default: that of --host)");
  app.add_option("--metrics-port", a.metrics_port, "that port; 0: any that is free")
      ->check(Check::range(0, 65535))
      ->capture_default_str();
  declare_protocols(app, a.protocols);
}

Result<std::unique_ptr<ServedRepository>> ServedRepository::open(const RepositoryArguments& a,
                                                                 server::HostOptions* host) {
  NEREID_TRY(server::ProtocolOptions protocols, read_protocols(a.protocols));
  host->log = protocols.log;
  if (a.folders.empty()) {
    if (!a.load.empty()) return invalid_argument("--load-model needs --model-repository");
    NEREID_TRY(const bool has_http, read_switch("--allow-http", a.allow_http));
    if (!has_http) return invalid_argument("--allow-http=false needs --model-repository: MODELs are served over HTTP");
    if (!a.protocols.trace.empty()) return invalid_argument("--trace-config needs --model-repository");
    return std::unique_ptr<ServedRepository>();
  }
  if (!a.load.empty() && a.control_mode != "explicit")
    return invalid_argument("--load-model needs --model-control-mode=explicit; in mode {} all models are loaded",
                            a.control_mode);
  NEREID_TRY(const bool strict, read_switch("--strict-readiness", a.strict_readiness));
  NEREID_TRY(const bool strict_config, read_switch("--strict-model-config", a.strict_config));
  NEREID_RETURN_IF_ERROR(read_switch("--exit-on-error", a.exit_on_error));
  NEREID_RETURN_IF_ERROR(read_switch("--allow-metrics", a.allow_metrics));
  NEREID_TRY(const bool has_grpc, read_switch("--allow-grpc", a.allow_grpc));
  NEREID_TRY(host->listens, read_switch("--allow-http", a.allow_http));
  if (!host->listens && !has_grpc)
    return invalid_argument("--allow-http=false and --allow-grpc=false leave nothing that clients could ask");
  NEREID_TRY(const bool shares_memory, read_switch("--allow-client-shm", a.allow_shared_memory));
  server::SchedulingOptions scheduling = a.scheduling;
  scheduling.limits_rate = a.rate_limit == "execution_count";
  if (a.cache_bytes > 0) {
    if (!scheduling.cache_config.empty())
      return invalid_argument(
          "--response-cache-byte-size and --cache-config say the same in two ways; give one of them");
    scheduling.cache_config = {fmt::format("local,size={}", a.cache_bytes)};
  }
  host->restricted = protocols.http_restricted;
  keep_freed_memory();
  auto served = std::make_unique<ServedRepository>();
  served->arguments_ = a;
  NEREID_TRY(served->models_,
             server::ModelServer::open({.repository = {.folders = a.folders,
                                                       .mode = mode_of(a.control_mode),
                                                       .load = a.load,
                                                       .strict_readiness = strict,
                                                       .completes_configs = !a.no_completion && !strict_config},
                                        .poll_s = a.poll_s,
                                        .server_name = a.name,
                                        .version = std::string(kVersion),
                                        .shares_memory = shares_memory,
                                        .protocols = std::move(protocols),
                                        .scheduling = std::move(scheduling),
                                        .resolve_model = [](const std::string& name) { return resolve_model(name); }}));
  host->endpoints = served->models_->endpoints();
  host->more_models = served->models_->text_models();
  host->more_metrics = [models = served->models_.get()] { return models->metrics_text(); };
  // Tensors are longer than texts; JSON has a limit of its own.
  if (host->settings.max_body_bytes == server::net::Settings{}.max_body_bytes)
    host->settings.max_body_bytes = int64_t{1} << 30;
  served->address_ = host->host;
  served->settings_ = host->settings;
  return served;
}

Status ServedRepository::start() {
  const auto address = [this](const std::string& given) { return given.empty() ? address_ : given; };
  const bool has_address = !address_.starts_with("unix:");
  if (*read_switch("", arguments_.allow_grpc) && (has_address || !arguments_.grpc_address.empty())) {
    NEREID_TRY(grpc_port_, models_->listen_grpc(address(arguments_.grpc_address), arguments_.grpc_port));
  }
  if (*read_switch("", arguments_.allow_metrics) && (has_address || !arguments_.metrics_address.empty())) {
    server::net::ServerOptions options{.host = address(arguments_.metrics_address),
                                       .port = arguments_.metrics_port,
                                       .settings = settings_,
                                       .tls = nullptr,
                                       .router = {},
                                       .on_done = nullptr};
    options.router.add(models_->metrics_endpoints());
    NEREID_TRY(metrics_, server::net::Server::start(std::move(options)).with("--metrics-port"));
  }
  const Status status = models_->start();
  if (status.code() == StatusCode::kCancelled) return status;
  if (status.is_ok() || !*read_switch("", arguments_.exit_on_error)) return Status::ok();
  return std::move(status).with("creating server");
}

void ServedRepository::print() const {
  for (const server::IndexRow& row : models_->index())
    fmt::print("{} {} {}{}{}\n", row.name, row.version.empty() ? "-" : row.version,
               row.version.empty() ? "not loaded" : server::model_state_name(row.state), row.reason.empty() ? "" : ": ",
               row.reason);
  if (grpc_port_ != 0)
    fmt::print("gRPC at {}:{}\n", arguments_.grpc_address.empty() ? address_ : arguments_.grpc_address, grpc_port_);
  if (metrics_ != nullptr) fmt::print("metrics at {}/metrics\n", metrics_->url());
}

void ServedRepository::give_back_memory() {
  models_->give_back_memory();
}

void ServedRepository::refuse() {
  models_->refuse();
}

void ServedRepository::stop(int64_t timeout_ms) {
  models_->stop(timeout_ms);
}

}  // namespace nereid::cli
