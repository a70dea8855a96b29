// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve_grpc/grpc_server.h"

#include <google/protobuf/util/json_util.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "grpc_service.grpc.pb.h"
#include "health.grpc.pb.h"
#include "server/core/running_count.h"
#include "server/protocol/kserve/extensions.h"
#include "server/protocol/kserve_grpc/grpc_messages.h"
#include "server/protocol/kserve_grpc/grpc_status.h"
#include "server/protocol/kserve_grpc/stream_reactor.h"

namespace nereid::server::kserve {
namespace {

using Context = grpc::CallbackServerContext;
using Unary = grpc::ServerUnaryReactor;

Unary* finish(Context* context, const Status& status) {
  Unary* reactor = context->DefaultReactor();
  reactor->Finish(grpc_status(status));
  return reactor;
}

Status stopping() {
  return unavailable("the server is stopping and takes no more requests");
}

class InferReactor final : public Unary {
 public:
  explicit InferReactor(std::shared_ptr<RunningCount> calls) : calls_(std::move(calls)) {}
  void start(const GrpcOptions& options, std::shared_ptr<const inference::ModelInferRequest> message,
             inference::ModelInferResponse* response) {
    is_counted_ = calls_->begin();
    const Status status = is_counted_ ? begin(options, message, response) : stopping();
    if (!status.is_ok()) Finish(grpc_status(status));
  }
  void OnCancel() override { cancelled_->store(true, std::memory_order_relaxed); }
  void OnDone() override {
    if (is_counted_) calls_->end();
    delete this;
  }

 private:
  Status begin(const GrpcOptions& options, const std::shared_ptr<const inference::ModelInferRequest>& message,
               inference::ModelInferResponse* out) {
    NEREID_TRY(const int64_t version, read_version(message->model_version()));
    NEREID_TRY(const std::shared_ptr<InferModel> model, options.models->find(message->model_name(), version));
    if (model->config().is_decoupled)
      return unsupported("ModelInfer RPC doesn't support models with decoupled transaction policy");
    GrpcAnswerShape shape;
    NEREID_TRY(InferRequest request, read_request(message, *options.shared, &shape));
    request.cancelled = cancelled_;
    request.arrival_ns = now_ns();
    return model->infer(std::move(request), [this, model, out, shared = options.shared,
                                             shape = std::move(shape)](InferResponse&& response) {
      if (!response.is_final) return;
      Status status = response.status;
      if (status.is_ok()) status = write_response(*model, shape, *shared, std::move(response), out);
      Finish(grpc_status(status));
    });
  }

  const std::shared_ptr<RunningCount> calls_;
  const std::shared_ptr<std::atomic<bool>> cancelled_ = std::make_shared<std::atomic<bool>>(false);
  bool is_counted_ = false;
};

// Threads for what may block: loads.
class Blocking {
 public:
  ~Blocking() {
    for (std::thread& thread : threads_) thread.join();
  }
  void run(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    threads_.emplace_back(std::move(work));
  }

 private:
  std::mutex mutex_;
  std::vector<std::thread> threads_;
};

class InferenceService final : public inference::GRPCInferenceService::CallbackService {
 public:
  InferenceService(const GrpcOptions& options, std::shared_ptr<RunningCount> calls)
      : options_(options), calls_(std::move(calls)) {}

  Unary* ServerLive(Context* context, const inference::ServerLiveRequest*,
                    inference::ServerLiveResponse* response) override {
    response->set_live(true);
    return finish(context, Status::ok());
  }

  Unary* ServerReady(Context* context, const inference::ServerReadyRequest*,
                     inference::ServerReadyResponse* response) override {
    response->set_ready(options_.is_ready());
    return finish(context, Status::ok());
  }

  Unary* ModelReady(Context* context, const inference::ModelReadyRequest* request,
                    inference::ModelReadyResponse* response) override {
    const Result<int64_t> version = read_version(request->version());
    if (!version.is_ok()) return finish(context, version.status());
    const auto model = options_.models->find(request->name(), *version);
    response->set_ready(model.is_ok() && (*model)->is_ready());
    return finish(context, Status::ok());
  }

  Unary* ServerMetadata(Context* context, const inference::ServerMetadataRequest*,
                        inference::ServerMetadataResponse* response) override {
    response->set_name(options_.server_name);
    response->set_version(options_.version);
    for (const std::string_view one : extensions()) response->add_extensions(std::string(one));
    return finish(context, Status::ok());
  }

  Unary* ModelMetadata(Context* context, const inference::ModelMetadataRequest* request,
                       inference::ModelMetadataResponse* response) override {
    const auto model = find(request->name(), request->version());
    if (!model.is_ok()) return finish(context, model.status());
    const server::ModelConfig& config = (*model)->config();
    response->set_name(config.name);
    if (!request->version().empty()) {
      response->add_versions(std::to_string((*model)->version()));
    } else {
      for (const auto& one : options_.models->ready(config.name))
        response->add_versions(std::to_string(one->version()));
    }
    response->set_platform(config.platform.empty() ? config.backend : config.platform);
    const auto add = [&](const TensorConfig& tensor, auto* message) {
      message->set_name(tensor.name);
      message->set_datatype(std::string(infer_type_name(tensor.type)));
      if (config.max_batch_size > 0 && !tensor.is_shape_tensor) message->add_shape(-1);
      for (const int64_t size : tensor.dims) message->add_shape(size);
    };
    for (const TensorConfig& one : config.inputs) add(one, response->add_inputs());
    for (const TensorConfig& one : config.outputs) add(one, response->add_outputs());
    return finish(context, Status::ok());
  }

  Unary* ModelConfig(Context* context, const inference::ModelConfigRequest* request,
                     inference::ModelConfigResponse* response) override {
    const auto model = find(request->name(), request->version());
    if (!model.is_ok()) return finish(context, model.status());
    const auto read = google::protobuf::util::JsonStringToMessage((*model)->config_json(), response->mutable_config());
    if (!read.ok()) return finish(context, internal("the configuration cannot be sent: {}", read.ToString()));
    return finish(context, Status::ok());
  }

  Unary* ModelStatistics(Context* context, const inference::ModelStatisticsRequest* request,
                         inference::ModelStatisticsResponse* response) override {
    return finish(context, statistics(*request, response));
  }

  Unary* RepositoryIndex(Context* context, const inference::RepositoryIndexRequest* request,
                         inference::RepositoryIndexResponse* response) override {
    if (!request->repository_name().empty())
      return finish(context, unsupported("'repository_name' specification is not supported"));
    for (const IndexRow& row : options_.models->index(request->ready())) {
      auto* model = response->add_models();
      model->set_name(row.name);
      model->set_version(row.version);
      if (!row.version.empty()) model->set_state(std::string(model_state_name(row.state)));
      model->set_reason(row.reason);
    }
    return finish(context, Status::ok());
  }

  Unary* RepositoryModelLoad(Context* context, const inference::RepositoryModelLoadRequest* request,
                             inference::RepositoryModelLoadResponse*) override {
    LoadOverride instead;
    for (const auto& [name, value] : request->parameters()) {
      if (name == "config" && value.has_string_param()) {
        instead.config = value.string_param();
      } else if (name.starts_with("file:") && value.has_bytes_param()) {
        instead.files[name.substr(5)] = value.bytes_param();
      } else {
        return finish(context, invalid_argument("unrecognized load parameter '{}'; there are 'config' (string) and "
                                                "'file:PATH' (bytes)",
                                                name));
      }
    }
    Unary* reactor = context->DefaultReactor();
    blocking_.run([this, reactor, model = request->model_name(), instead = std::move(instead)] {
      reactor->Finish(grpc_status(options_.models->load(model, instead)));
    });
    return reactor;
  }

  Unary* RepositoryModelUnload(Context* context, const inference::RepositoryModelUnloadRequest* request,
                               inference::RepositoryModelUnloadResponse*) override {
    const auto flag = request->parameters().find("unload_dependents");
    const bool with_dependents = flag != request->parameters().end() && flag->second.bool_param();
    Unary* reactor = context->DefaultReactor();
    blocking_.run([this, reactor, model = request->model_name(), with_dependents] {
      reactor->Finish(grpc_status(options_.models->unload(model, with_dependents)));
    });
    return reactor;
  }

  Unary* SystemSharedMemoryStatus(Context* context, const inference::SystemSharedMemoryStatusRequest* request,
                                  inference::SystemSharedMemoryStatusResponse* response) override {
    const auto regions = options_.shared->list(request->name());
    if (!regions.is_ok()) return finish(context, regions.status());
    for (const SharedRegion& region : *regions) {
      auto& message = (*response->mutable_regions())[region.name];
      message.set_name(region.name);
      message.set_key(region.key);
      message.set_offset(region.offset);
      message.set_byte_size(region.bytes);
    }
    return finish(context, Status::ok());
  }

  Unary* SystemSharedMemoryRegister(Context* context, const inference::SystemSharedMemoryRegisterRequest* request,
                                    inference::SystemSharedMemoryRegisterResponse*) override {
    return finish(context, options_.shared->add({.name = request->name(),
                                                 .key = request->key(),
                                                 .offset = request->offset(),
                                                 .bytes = request->byte_size()}));
  }

  Unary* SystemSharedMemoryUnregister(Context* context, const inference::SystemSharedMemoryUnregisterRequest* request,
                                      inference::SystemSharedMemoryUnregisterResponse*) override {
    return finish(context,
                  request->name().empty() ? options_.shared->remove_all() : options_.shared->remove(request->name()));
  }

  Unary* CudaSharedMemoryStatus(Context* context, const inference::CudaSharedMemoryStatusRequest* request,
                                inference::CudaSharedMemoryStatusResponse*) override {
    if (request->name().empty()) return finish(context, Status::ok());
    return finish(context, not_found("Unable to find cuda shared memory region: '{}'", request->name()));
  }

  Unary* CudaSharedMemoryRegister(Context* context, const inference::CudaSharedMemoryRegisterRequest*,
                                  inference::CudaSharedMemoryRegisterResponse*) override {
    return finish(context, unsupported("models run on the processors: memory of a GPU cannot be shared with them"));
  }

  Unary* CudaSharedMemoryUnregister(Context* context, const inference::CudaSharedMemoryUnregisterRequest*,
                                    inference::CudaSharedMemoryUnregisterResponse*) override {
    return finish(context, Status::ok());
  }

  Unary* ModelInfer(Context*, const inference::ModelInferRequest* request,
                    inference::ModelInferResponse* response) override {
    // What still runs when the call is over may read its inputs: the message is taken along.
    auto message = std::make_shared<inference::ModelInferRequest>();
    message->Swap(const_cast<inference::ModelInferRequest*>(request));
    auto* reactor = new InferReactor(calls_);
    reactor->start(options_, std::move(message), response);
    return reactor;
  }

  StreamReactor* ModelStreamInfer(Context* context) override {
    const auto flag = context->client_metadata().find("triton_grpc_error");
    const bool ends = flag != context->client_metadata().end() && flag->second == "true";
    return make_stream_reactor(options_.models, options_.shared, calls_, ends);
  }

 private:
  Result<std::shared_ptr<InferModel>> find(const std::string& name, const std::string& version_text) const {
    NEREID_TRY(const int64_t version, read_version(version_text));
    return options_.models->find(name, version);
  }

  Status statistics(const inference::ModelStatisticsRequest& request, inference::ModelStatisticsResponse* response) {
    NEREID_TRY(const int64_t version, read_version(request.version()));
    const auto models = request.name().empty() ? options_.models->all_ready() : options_.models->ready(request.name());
    if (models.empty() && !request.name().empty())
      return invalid_argument("requested model '{}' is not available", request.name());
    bool is_found = version == -1;
    for (const auto& model : models) {
      if (version != -1 && model->version() != version) continue;
      is_found = true;
      write_statistics(*model, response->add_model_stats());
    }
    if (!is_found) return invalid_argument("requested model version is not available for model '{}'", request.name());
    return Status::ok();
  }

  const GrpcOptions& options_;
  const std::shared_ptr<RunningCount> calls_;
  Blocking blocking_;
};

class HealthService final : public grpc::health::v1::Health::CallbackService {
 public:
  explicit HealthService(const GrpcOptions& options) : options_(options) {}
  Unary* Check(Context* context, const grpc::health::v1::HealthCheckRequest*,
               grpc::health::v1::HealthCheckResponse* response) override {
    response->set_status(options_.is_ready() ? grpc::health::v1::HealthCheckResponse::SERVING
                                             : grpc::health::v1::HealthCheckResponse::NOT_SERVING);
    return finish(context, Status::ok());
  }

 private:
  const GrpcOptions& options_;
};

class RunningServer final : public GrpcServer {
 public:
  explicit RunningServer(GrpcOptions options) : options_(std::move(options)) {}
  ~RunningServer() override { stop(0); }

  Status start() {
    grpc::ServerBuilder builder;
    const std::string where = options_.address + ":" + std::to_string(options_.port);
    builder.AddListeningPort(where, grpc::InsecureServerCredentials(), &port_);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.SetMaxReceiveMessageSize(std::numeric_limits<int>::max());
    builder.SetMaxSendMessageSize(std::numeric_limits<int>::max());
    builder.RegisterService(&service_);
    builder.RegisterService(&health_);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr || port_ == 0)
      return unavailable("{} cannot be listened on for gRPC: is another program there, or is it no address here?",
                         where);
    return Status::ok();
  }

  int port() const override { return port_; }
  void stop(int64_t timeout_ms) override {
    if (server_ == nullptr) return;
    // gRPC's own shutdown also waits for idle streams and connections, which may never go.
    calls_->drain_for(timeout_ms);
    // What the last answers need to go out; idle streams are cut.
    server_->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(std::min<int64_t>(timeout_ms, 500)));
    server_->Wait();
    server_ = nullptr;
  }

 private:
  const GrpcOptions options_;
  const std::shared_ptr<RunningCount> calls_ = std::make_shared<RunningCount>();
  InferenceService service_{options_, calls_};
  HealthService health_{options_};
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace

Result<std::unique_ptr<GrpcServer>> GrpcServer::start(GrpcOptions options) {
  auto server = std::make_unique<RunningServer>(std::move(options));
  NEREID_RETURN_IF_ERROR(server->start());
  return std::unique_ptr<GrpcServer>(std::move(server));
}

}  // namespace nereid::server::kserve
