// SPDX-License-Identifier: Apache-2.0
#include "server/host/model_server.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/checksum.h"
#include "base/clock.h"
#include "base/log.h"
#include "server/backend/ensemble/ensemble_check.h"
#include "server/backend/ensemble/ensemble_model.h"
#include "server/backend/llm/infer/llm_opener.h"
#include "server/backend/table/backend_table.h"
#include "server/host/repository_texts.h"
#include "server/host/shared_backends.h"
#include "server/host/status_page.h"
#include "server/protocol/kserve/api_gate.h"
#include "server/protocol/kserve/endpoints/endpoint_table.h"
#include "server/protocol/kserve/forwarded_headers.h"
#include "server/repository/config_message.h"
#include "server/repository/layout.h"
#include "server/runner/sequence_states.h"
#include "server/runner/served_model.h"
#include "server/runner/warm_up.h"
#include "server/trace/trace_center.h"

namespace nereid::server {
namespace {

class TableLoader final : public ModelLoader {
 public:
  explicit TableLoader(LlmOpener::Resolve resolve) : llms_(std::move(resolve)) {}

  const InferModels* models = nullptr;  // that ensembles are made of

  std::string metrics_text() const { return llms_.metrics_text(); }

  Result<ConfigCompletion> complete(const ModelConfig& config, const ModelPlace& place) override {
    if (is_language_model(config, place)) return llms_.complete(config, place);
    NEREID_TRY(Backend * backend, table_.find(config));
    return backend->complete(config, place);
  }

  Scheduling scheduling;

  Result<std::shared_ptr<InferModel>> load(const LoadedConfig& loaded, const ModelPlace& place) override {
    NEREID_TRY(std::shared_ptr<InferModel> model, load_model(loaded, place));
    return scheduling.serve(std::move(model));
  }

  Status check(const LoadedConfig& loaded, const ModelPlace& place, const FindConfig& find) override {
    if (loaded.config.is_ensemble()) return check_ensemble(loaded.config, find);
    if (is_language_model(loaded.config, place)) return llms_.check(loaded.config, place);
    if (loaded.config.sequence_batching) NEREID_RETURN_IF_ERROR(SequenceStates::open(loaded.config, place.folder));
    return Status(prepare_warm_up(loaded.config, place.folder).status());
  }

 private:
  Result<std::shared_ptr<InferModel>> load_model(const LoadedConfig& loaded, const ModelPlace& place) {
    if (loaded.config.is_ensemble())
      return make_ensemble({.config = loaded.config,
                            .json = loaded.json,
                            .labels = loaded.labels,
                            .version = place.version,
                            .models = models});
    if (is_language_model(loaded.config, place)) return llms_.open(loaded.config, loaded.json, place);
    const int64_t begin_ns = now_ns();
    NEREID_TRY(Backend * backend, table_.find(loaded.config));
    NEREID_TRY(std::unique_ptr<BackendModel> opened, shared_.open(backend_key(loaded.json, place), loaded.config,
                                                                  [&] { return backend->open(loaded.config, place); }));
    return serve_model({.config = loaded.config,
                        .json = loaded.json,
                        .labels = loaded.labels,
                        .version = place.version,
                        .backend = std::move(opened),
                        .load_s = 1e-9 * static_cast<double>(now_ns() - begin_ns),
                        .folder = place.folder,
                        .content_mark = xxhash64(loaded.json, content_mark(place.version_folder)),
                        .rules = scheduling.rules});
  }

  BackendTable table_;
  SharedBackends shared_;
  LlmOpener llms_;
};

class RepositoryServer final : public ModelServer {
 public:
  explicit RepositoryServer(ModelServerOptions options)
      : options_(std::move(options)), loader_(options_.resolve_model) {}
  ~RepositoryServer() override {
    {
      const std::lock_guard lock(mutex_);
      is_stopping_ = true;
    }
    changed_.notify_all();
    if (poller_.joinable()) poller_.join();
    // Others may hold the repository for longer, but its models go before what has opened them.
    grpc_.reset();
    if (repository_ != nullptr) repository_->stop();
  }

  Status open() {
    NEREID_TRY(loader_.scheduling, Scheduling::open(options_.scheduling));
    NEREID_TRY(std::unique_ptr<Repository> opened, Repository::open(options_.repository, loader_));
    repository_ = std::move(opened);
    loader_.models = repository_.get();
    tracer_ = trace::make_tracer(options_.protocols.trace);
    metrics_ = std::make_shared<ModelMetrics>(
        ModelMetricsOptions{.config = options_.protocols.metrics,
                            .interval_ms = options_.protocols.metrics_interval_ms,
                            .models = [repository = repository_] { return repository->all_ready(); },
                            .cache = [cache = loader_.scheduling.cache]() -> std::optional<CacheFigures> {
                              return cache != nullptr ? cache->figures() : std::nullopt;
                            }});
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
        .is_stopping = [stopping = is_ending_] { return stopping->load(); },
        .is_ready = is_ready(),
        .tracer = tracer_,
        .log = options_.protocols.log,
        .forwarded = options_.protocols.http_forwarded,
        .restricted = options_.protocols.http_restricted,
    }));
  }

  std::shared_ptr<TextModels> text_models() override { return repository_texts(repository_); }
  std::string metrics_text() const override { return metrics_->text() + loader_.metrics_text(); }
  std::vector<net::Endpoint> metrics_endpoints() override {
    std::vector<net::Endpoint> out = status_endpoints(
        {.server_name = options_.server_name, .version = options_.version, .models = repository_, .metrics = metrics_});
    for (net::Endpoint& one : out)
      if (one.pattern != "/metrics")  // which Prometheus asks, as it always did
        one.handle = kserve::gated(options_.protocols.http_restricted, kserve::ApiGroup::kStatistics, net::plain_error,
                                   std::move(one.handle));
    return out;
  }
  std::vector<IndexRow> index() override { return repository_->index(false); }
  Result<int> listen_grpc(const std::string& address, int port) override {
    NEREID_TRY(grpc_, kserve::GrpcServer::start({.address = address,
                                                 .port = port,
                                                 .models = repository_,
                                                 .shared = shared_,
                                                 .server_name = options_.server_name,
                                                 .version = options_.version,
                                                 .is_ready = is_ready(),
                                                 .tracer = tracer_,
                                                 .log = options_.protocols.log,
                                                 .restricted = options_.protocols.grpc_restricted,
                                                 .forward_header = forwarding(options_.protocols.grpc_forwarded),
                                                 .tls = options_.protocols.grpc_tls,
                                                 .channel_arguments = options_.protocols.grpc_arguments,
                                                 .compression_level = options_.protocols.grpc_compression,
                                                 .config_message = config_message,
                                                 .pool = pool_}));
    return grpc_->port();
  }
  void give_back_memory() override { pool_->clear(); }
  void refuse() override { is_ending_->store(true); }
  void stop(int64_t timeout_ms) override {
    refuse();
    if (grpc_ != nullptr) grpc_->stop(timeout_ms);
    repository_->stop();
  }

 private:
  static std::function<Status(std::string_view, std::string_view, InferRequest*)> forwarding(
      const net::NamePattern& pattern) {
    if (pattern.is_none()) return nullptr;
    return [pattern](std::string_view name, std::string_view value, InferRequest* request) {
      return kserve::forward_header(pattern, name, value, request);
    };
  }

  std::function<bool()> is_ready() const {
    return [repository = repository_, ending = is_ending_] { return !ending->load() && repository->is_ready(); };
  }

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
  std::shared_ptr<Tracer> tracer_;
  std::shared_ptr<ModelMetrics> metrics_;
  const std::shared_ptr<BytePool> pool_ = std::make_shared<BytePool>();  // of gRPC's inputs
  std::unique_ptr<kserve::GrpcServer> grpc_;                             // goes before the models
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_stopping_ = false;  // of the poller
  const std::shared_ptr<std::atomic<bool>> is_ending_ = std::make_shared<std::atomic<bool>>(false);
  std::thread poller_;
};

}  // namespace

Result<std::unique_ptr<ModelServer>> ModelServer::open(ModelServerOptions options) {
  auto server = std::make_unique<RepositoryServer>(std::move(options));
  NEREID_RETURN_IF_ERROR(server->open());
  return std::unique_ptr<ModelServer>(std::move(server));
}

Result<std::vector<LintFinding>> check_repository(
    const std::string& folder, std::function<Result<std::string>(const std::string& name)> resolve_model) {
  TableLoader loader(std::move(resolve_model));
  return lint_repository(folder, loader);
}

}  // namespace nereid::server
