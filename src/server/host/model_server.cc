// SPDX-License-Identifier: Apache-2.0
#include "server/host/model_server.h"

#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/log.h"
#include "server/backend/ensemble/ensemble_model.h"
#include "server/backend/table/backend_table.h"
#include "server/metrics/inference_metrics.h"
#include "server/protocol/kserve/endpoints/endpoint_table.h"
#include "server/protocol/kserve_grpc/grpc_server.h"
#include "server/runner/served_model.h"

namespace nereid::server {
namespace {

class TableLoader final : public ModelLoader {
 public:
  const InferModels* models = nullptr;  // that ensembles are made of

  Result<ConfigCompletion> complete(const ModelConfig& config, const ModelPlace& place) override {
    NEREID_TRY(Backend * backend, table_.find(config));
    return backend->complete(config, place);
  }

  Result<std::shared_ptr<InferModel>> load(const LoadedConfig& loaded, const ModelPlace& place) override {
    if (loaded.config.is_ensemble())
      return make_ensemble({.config = loaded.config,
                            .json = loaded.json,
                            .labels = loaded.labels,
                            .version = place.version,
                            .models = models});
    const int64_t begin_ns = now_ns();
    NEREID_TRY(Backend * backend, table_.find(loaded.config));
    NEREID_TRY(std::unique_ptr<BackendModel> opened, backend->open(loaded.config, place));
    return serve_model({.config = loaded.config,
                        .json = loaded.json,
                        .labels = loaded.labels,
                        .version = place.version,
                        .backend = std::move(opened),
                        .load_s = 1e-9 * static_cast<double>(now_ns() - begin_ns)});
  }

 private:
  BackendTable table_;
};

class RepositoryServer final : public ModelServer {
 public:
  explicit RepositoryServer(ModelServerOptions options) : options_(std::move(options)) {}
  ~RepositoryServer() override {
    {
      const std::lock_guard lock(mutex_);
      is_stopping_ = true;
    }
    changed_.notify_all();
    if (poller_.joinable()) poller_.join();
  }

  Status open() {
    NEREID_TRY(std::unique_ptr<Repository> opened, Repository::open(options_.repository, loader_));
    repository_ = std::move(opened);
    loader_.models = repository_.get();
    repository_->watch([](const std::shared_ptr<InferModel>& model, bool is_loaded) {
      log_info("model '{}' version {} is {}", model->config().name, model->version(),
               is_loaded ? "ready" : "being unloaded");
    });
    return Status::ok();
  }

  Status start() override {
    const Status status = repository_->start();
    if (options_.repository.mode == ControlMode::kPoll) poller_ = std::thread([this] { poll(); });
    return status;
  }

  std::vector<net::Endpoint> endpoints() override {
    return kserve::make_endpoints(std::make_shared<kserve::Service>(kserve::Service{
        .models = repository_,
        .shared = shared_,
        .server_name = options_.server_name,
        .version = options_.version,
        .is_live = [] { return true; },
        .is_ready = [repository = repository_] { return repository->is_ready(); },
    }));
  }

  std::string metrics_text() const override { return metrics::inference_metrics_text(repository_->all_ready()); }
  std::vector<IndexRow> index() override { return repository_->index(false); }
  Result<int> listen_grpc(const std::string& address, int port) override {
    NEREID_TRY(grpc_,
               kserve::GrpcServer::start({.address = address,
                                          .port = port,
                                          .models = repository_,
                                          .shared = shared_,
                                          .server_name = options_.server_name,
                                          .version = options_.version,
                                          .is_ready = [repository = repository_] { return repository->is_ready(); }}));
    return grpc_->port();
  }
  void stop(int64_t timeout_ms) override {
    if (grpc_ != nullptr) grpc_->stop(timeout_ms);
    repository_->stop();
  }

 private:
  void poll() {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, std::chrono::seconds(options_.poll_s), [this] { return is_stopping_; })) {
      lock.unlock();
      repository_->poll();
      lock.lock();
    }
  }

  const ModelServerOptions options_;
  const std::shared_ptr<SharedMemory> shared_ = std::make_shared<SharedMemory>(options_.shares_memory);
  TableLoader loader_;
  std::shared_ptr<Repository> repository_;
  std::unique_ptr<kserve::GrpcServer> grpc_;  // goes before the models
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_stopping_ = false;
  std::thread poller_;
};

}  // namespace

Result<std::unique_ptr<ModelServer>> ModelServer::open(ModelServerOptions options) {
  auto server = std::make_unique<RepositoryServer>(std::move(options));
  NEREID_RETURN_IF_ERROR(server->open());
  return std::unique_ptr<ModelServer>(std::move(server));
}

Result<std::vector<LintFinding>> check_repository(const std::string& folder) {
  TableLoader loader;
  return lint_repository(folder, loader);
}

}  // namespace nereid::server
