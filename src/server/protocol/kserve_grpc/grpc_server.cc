// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve_grpc/grpc_server.h"

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "grpc_service.grpc.pb.h"
#include "health.grpc.pb.h"
#include "server/core/running_count.h"
#include "server/protocol/kserve/extensions.h"
#include "server/protocol/kserve_grpc/grpc_call.h"
#include "server/protocol/kserve_grpc/grpc_messages.h"
#include "server/protocol/kserve_grpc/grpc_settings.h"
#include "server/protocol/kserve_grpc/grpc_status.h"
#include "server/protocol/kserve_grpc/infer_call.h"
#include "server/protocol/kserve_grpc/stream_reactor.h"

namespace nereid::server::kserve {
namespace {

using Context = grpc::CallbackServerContext;
using Unary = grpc::ServerUnaryReactor;

constexpr int kWindowBytes = 1 << 20;

Unary* finish(Context* context, const Status& status) {
  Unary* reactor = context->DefaultReactor();
  reactor->Finish(grpc_status(status));
  return reactor;
}

// Threads for what may block: loads.
class Blocking {
 public:
  ~Blocking() {
    for (One& one : all_) one.thread.join();
  }
  void run(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    // Those that have ended leave their memory when they are joined.
    std::erase_if(all_, [](One& one) {
      if (one.is_over->load()) one.thread.join();
      return !one.thread.joinable();
    });
    auto is_over = std::make_shared<std::atomic<bool>>(false);
    std::thread thread([work = std::move(work), is_over] {
      work();
      is_over->store(true);
    });
    all_.push_back({.thread = std::move(thread), .is_over = std::move(is_over)});
  }

 private:
  struct One {
    std::thread thread;
    std::shared_ptr<std::atomic<bool>> is_over;
  };
  std::mutex mutex_;
  std::vector<One> all_;
};

// Inferences come and go as bytes (infer_call.h), other calls as messages.
using Calls =
    inference::GRPCInferenceService::WithRawCallbackMethod_ModelInfer<inference::GRPCInferenceService::CallbackService>;

class InferenceService final : public Calls {
 public:
  InferenceService(const GrpcOptions& options, std::shared_ptr<RunningCount> calls)
      : options_(options), calls_(std::move(calls)) {}

  Unary* ServerLive(Context* context, const inference::ServerLiveRequest*,
                    inference::ServerLiveResponse* response) override {
    if (Unary* no = refuse(context, ApiGroup::kHealth)) return no;
    response->set_live(true);
    return finish(context, Status::ok());
  }

  Unary* ServerReady(Context* context, const inference::ServerReadyRequest*,
                     inference::ServerReadyResponse* response) override {
    if (Unary* no = refuse(context, ApiGroup::kHealth)) return no;
    response->set_ready(options_.is_ready());
    return finish(context, Status::ok());
  }

  Unary* ModelReady(Context* context, const inference::ModelReadyRequest* request,
                    inference::ModelReadyResponse* response) override {
    if (Unary* no = refuse(context, ApiGroup::kHealth)) return no;
    const Result<int64_t> version = read_version(request->version());
    if (!version.is_ok()) return finish(context, version.status());
    const auto model = options_.models->find(request->name(), *version);
    response->set_ready(model.is_ok() && (*model)->is_ready());
    return finish(context, Status::ok());
  }

  Unary* ServerMetadata(Context* context, const inference::ServerMetadataRequest*,
                        inference::ServerMetadataResponse* response) override {
    if (Unary* no = refuse(context, ApiGroup::kMetadata)) return no;
    response->set_name(options_.server_name);
    response->set_version(options_.version);
    for (const std::string_view one : extensions()) response->add_extensions(std::string(one));
    return finish(context, Status::ok());
  }

  Unary* ModelMetadata(Context* context, const inference::ModelMetadataRequest* request,
                       inference::ModelMetadataResponse* response) override {
    if (Unary* no = refuse(context, ApiGroup::kMetadata)) return no;
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
    if (Unary* no = refuse(context, ApiGroup::kModelConfig)) return no;
    const auto model = find(request->name(), request->version());
    if (!model.is_ok()) return finish(context, model.status());
    Result<std::string> config = options_.config_message((*model)->config_json());
    if (!config.is_ok()) return finish(context, config.status());
    response->set_config(std::move(*config));
    return finish(context, Status::ok());
  }

  Unary* ModelStatistics(Context* context, const inference::ModelStatisticsRequest* request,
                         inference::ModelStatisticsResponse* response) override {
    if (Unary* no = refuse(context, ApiGroup::kStatistics)) return no;
    return finish(context, statistics(*request, response));
  }

  Unary* RepositoryIndex(Context* context, const inference::RepositoryIndexRequest* request,
                         inference::RepositoryIndexResponse* response) override {
    if (Unary* no = refuse(context, ApiGroup::kModelRepository)) return no;
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
    if (Unary* no = refuse(context, ApiGroup::kModelRepository)) return no;
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
    if (Unary* no = refuse(context, ApiGroup::kModelRepository)) return no;
    const auto flag = request->parameters().find("unload_dependents");
    const bool with_dependents = flag != request->parameters().end() && flag->second.bool_param();
    Unary* reactor = context->DefaultReactor();
    blocking_.run([this, reactor, model = request->model_name(), with_dependents] {
      reactor->Finish(grpc_status(options_.models->unload(model, with_dependents)));
    });
    return reactor;
  }

  Unary* TraceSetting(Context* context, const inference::TraceSettingRequest* request,
                      inference::TraceSettingResponse* response) override {
    if (Unary* no = refuse(context, ApiGroup::kTrace)) return no;
    return finish(context, exchange_trace_settings(options_, *request, response));
  }

  Unary* LogSettings(Context* context, const inference::LogSettingsRequest* request,
                     inference::LogSettingsResponse* response) override {
    if (Unary* no = refuse(context, ApiGroup::kLogging)) return no;
    return finish(context, exchange_log_settings(options_, *request, response));
  }

  Unary* SystemSharedMemoryStatus(Context* context, const inference::SystemSharedMemoryStatusRequest* request,
                                  inference::SystemSharedMemoryStatusResponse* response) override {
    if (Unary* no = refuse(context, ApiGroup::kSharedMemory)) return no;
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
    if (Unary* no = refuse(context, ApiGroup::kSharedMemory)) return no;
    const Status status = options_.shared->add(
        {.name = request->name(), .key = request->key(), .offset = request->offset(), .bytes = request->byte_size()});
    // A code that only this protocol tells apart.
    if (status.code() == StatusCode::kInvalidArgument && options_.shared->list(request->name()).is_ok()) {
      Unary* reactor = context->DefaultReactor();
      reactor->Finish({grpc::StatusCode::ALREADY_EXISTS, status.message()});
      return reactor;
    }
    return finish(context, status);
  }

  Unary* SystemSharedMemoryUnregister(Context* context, const inference::SystemSharedMemoryUnregisterRequest* request,
                                      inference::SystemSharedMemoryUnregisterResponse*) override {
    if (Unary* no = refuse(context, ApiGroup::kSharedMemory)) return no;
    return finish(context,
                  request->name().empty() ? options_.shared->remove_all() : options_.shared->remove(request->name()));
  }

  Unary* CudaSharedMemoryStatus(Context* context, const inference::CudaSharedMemoryStatusRequest* request,
                                inference::CudaSharedMemoryStatusResponse*) override {
    if (Unary* no = refuse(context, ApiGroup::kSharedMemory)) return no;
    if (request->name().empty()) return finish(context, Status::ok());
    return finish(context, not_found("Unable to find cuda shared memory region: '{}'", request->name()));
  }

  Unary* CudaSharedMemoryRegister(Context* context, const inference::CudaSharedMemoryRegisterRequest*,
                                  inference::CudaSharedMemoryRegisterResponse*) override {
    if (Unary* no = refuse(context, ApiGroup::kSharedMemory)) return no;
    return finish(context, unsupported("models run on the processors: memory of a GPU cannot be shared with them"));
  }

  Unary* CudaSharedMemoryUnregister(Context* context, const inference::CudaSharedMemoryUnregisterRequest*,
                                    inference::CudaSharedMemoryUnregisterResponse*) override {
    if (Unary* no = refuse(context, ApiGroup::kSharedMemory)) return no;
    return finish(context, Status::ok());
  }

  Unary* ModelInfer(Context* context, const grpc::ByteBuffer* request, grpc::ByteBuffer* response) override {
    compress(context);
    return start_infer_call(options_, calls_, context->client_metadata(), *request, response);
  }

  StreamReactor* ModelStreamInfer(Context* context) override {
    const auto flag = context->client_metadata().find("triton_grpc_error");
    const bool ends = flag != context->client_metadata().end() && flag->second == "true";
    compress(context);
    return make_stream_reactor(options_, calls_, context->client_metadata(), ends);
  }

 private:
  void compress(Context* context) const {
    if (options_.compression_level > 0)
      context->set_compression_level(static_cast<grpc_compression_level>(options_.compression_level));
  }

  // Ends a call that may not be made; nullptr: it may.
  Unary* refuse(Context* context, ApiGroup group) const {
    const Status may = check_access(options_, context->client_metadata(), group);
    return may.is_ok() ? nullptr : finish(context, may);
  }

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
    if (const Status may = check_access(options_, context->client_metadata(), ApiGroup::kHealth); !may.is_ok())
      return finish(context, may);
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
    builder.AddListeningPort(where, credentials(), &port_);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    // Tensors come without waiting for a window every 64 KiB, in fewer frames.
    builder.AddChannelArgument(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kWindowBytes);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kWindowBytes);
    for (const auto& [name, value] : options_.channel_arguments) builder.AddChannelArgument(name, value);
    builder.SetMaxReceiveMessageSize(std::numeric_limits<int>::max());
    builder.SetMaxSendMessageSize(std::numeric_limits<int>::max());
    builder.RegisterService(&service_);
    builder.RegisterService(&health_);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr || port_ == 0)
      return unavailable("{} cannot be listened on for gRPC: is another program there, or is it no address here{}?",
                         where,
                         options_.tls.certificate.empty() ? "" : ", or do certificate and key not belong together");
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
  std::shared_ptr<grpc::ServerCredentials> credentials() const {
    const GrpcTls& tls = options_.tls;
    if (tls.certificate.empty()) return grpc::InsecureServerCredentials();
    grpc::SslServerCredentialsOptions ssl(tls.client_ca.empty()
                                              ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                                              : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
    ssl.pem_root_certs = tls.client_ca;
    ssl.pem_key_cert_pairs.push_back({tls.key, tls.certificate});
    return grpc::SslServerCredentials(ssl);
  }

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
