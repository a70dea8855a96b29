// SPDX-License-Identifier: Apache-2.0
// Calls about the server and its models: health, metadata, configurations, statistics, settings.
#include <algorithm>

#include "grpc_service.pb.h"
#include "health.pb.h"
#include "server/protocol/kserve/extensions.h"
#include "server/protocol/kserve_grpc/grpc_messages.h"
#include "server/protocol/kserve_grpc/grpc_settings.h"
#include "server/protocol/kserve_grpc/unary_answer.h"

namespace nereid::server::kserve {
namespace {

Result<std::shared_ptr<InferModel>> find(const GrpcOptions& options, const std::string& name,
                                         const std::string& version_text) {
  NEREID_TRY(const int64_t version, read_version(version_text));
  return options.models->find(name, version);
}

Status server_live(const GrpcOptions&, const inference::ServerLiveRequest&, inference::ServerLiveResponse* response) {
  response->set_live(true);
  return Status::ok();
}

Status server_ready(const GrpcOptions& options, const inference::ServerReadyRequest&,
                    inference::ServerReadyResponse* response) {
  response->set_ready(options.is_ready());
  return Status::ok();
}

Status health_check(const GrpcOptions& options, const grpc::health::v1::HealthCheckRequest&,
                    grpc::health::v1::HealthCheckResponse* response) {
  using Response = grpc::health::v1::HealthCheckResponse;
  response->set_status(options.is_ready() ? Response::SERVING : Response::NOT_SERVING);
  return Status::ok();
}

Status model_ready(const GrpcOptions& options, const inference::ModelReadyRequest& request,
                   inference::ModelReadyResponse* response) {
  NEREID_TRY(const int64_t version, read_version(request.version()));
  const auto model = options.models->find(request.name(), version);
  response->set_ready(model.is_ok() && (*model)->is_ready());
  return Status::ok();
}

Status server_metadata(const GrpcOptions& options, const inference::ServerMetadataRequest&,
                       inference::ServerMetadataResponse* response) {
  response->set_name(options.server_name);
  response->set_version(options.version);
  for (const std::string_view one : extensions()) response->add_extensions(std::string(one));
  return Status::ok();
}

Status model_metadata(const GrpcOptions& options, const inference::ModelMetadataRequest& request,
                      inference::ModelMetadataResponse* response) {
  NEREID_TRY(const std::shared_ptr<InferModel> model, find(options, request.name(), request.version()));
  const server::ModelConfig& config = model->config();
  response->set_name(config.name);
  if (!request.version().empty()) {
    response->add_versions(std::to_string(model->version()));
  } else {
    for (const auto& one : options.models->ready(config.name)) response->add_versions(std::to_string(one->version()));
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
  return Status::ok();
}

Status model_config(const GrpcOptions& options, const inference::ModelConfigRequest& request,
                    inference::ModelConfigResponse* response) {
  NEREID_TRY(const std::shared_ptr<InferModel> model, find(options, request.name(), request.version()));
  NEREID_TRY(std::string config, options.config_message(model->config_json()));
  response->set_config(std::move(config));
  return Status::ok();
}

Status model_statistics(const GrpcOptions& options, const inference::ModelStatisticsRequest& request,
                        inference::ModelStatisticsResponse* response) {
  NEREID_TRY(const int64_t version, read_version(request.version()));
  const auto models = request.name().empty() ? options.models->all_ready() : options.models->ready(request.name());
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

constexpr UnaryRow kRows[] = {
    {"/inference.GRPCInferenceService/ServerLive", ApiGroup::kHealth, CallRuns::kOnLoop,
     UnaryAnswer<server_live>::of_bytes},
    {"/inference.GRPCInferenceService/ServerReady", ApiGroup::kHealth, CallRuns::kOnLoop,
     UnaryAnswer<server_ready>::of_bytes},
    {"/inference.GRPCInferenceService/ModelReady", ApiGroup::kHealth, CallRuns::kOnLoop,
     UnaryAnswer<model_ready>::of_bytes},
    {"/grpc.health.v1.Health/Check", ApiGroup::kHealth, CallRuns::kOnLoop, UnaryAnswer<health_check>::of_bytes},
    {"/inference.GRPCInferenceService/ServerMetadata", ApiGroup::kMetadata, CallRuns::kOnLoop,
     UnaryAnswer<server_metadata>::of_bytes},
    {"/inference.GRPCInferenceService/ModelMetadata", ApiGroup::kMetadata, CallRuns::kOnWorker,
     UnaryAnswer<model_metadata>::of_bytes},
    {"/inference.GRPCInferenceService/ModelConfig", ApiGroup::kModelConfig, CallRuns::kOnWorker,
     UnaryAnswer<model_config>::of_bytes},
    {"/inference.GRPCInferenceService/ModelStatistics", ApiGroup::kStatistics, CallRuns::kOnWorker,
     UnaryAnswer<model_statistics>::of_bytes},
    {"/inference.GRPCInferenceService/TraceSetting", ApiGroup::kTrace, CallRuns::kOnWorker,
     UnaryAnswer<exchange_trace_settings>::of_bytes},
    {"/inference.GRPCInferenceService/LogSettings", ApiGroup::kLogging, CallRuns::kOnWorker,
     UnaryAnswer<exchange_log_settings>::of_bytes},
};

}  // namespace

std::span<const UnaryRow> server_calls() {
  return kRows;
}

}  // namespace nereid::server::kserve
