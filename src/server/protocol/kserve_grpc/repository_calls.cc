// SPDX-License-Identifier: Apache-2.0
// Calls about the repository: what is in it, and loads and unloads.
#include "grpc_service.pb.h"
#include "server/protocol/kserve_grpc/unary_answer.h"

namespace nereid::server::kserve {
namespace {

Status index(const GrpcOptions& options, const inference::RepositoryIndexRequest& request,
             inference::RepositoryIndexResponse* response) {
  if (!request.repository_name().empty()) return unsupported("'repository_name' specification is not supported");
  for (const IndexRow& row : options.models->index(request.ready())) {
    auto* model = response->add_models();
    model->set_name(row.name);
    model->set_version(row.version);
    if (!row.version.empty()) model->set_state(std::string(model_state_name(row.state)));
    model->set_reason(row.reason);
  }
  return Status::ok();
}

Status load(const GrpcOptions& options, const inference::RepositoryModelLoadRequest& request,
            inference::RepositoryModelLoadResponse*) {
  LoadOverride instead;
  for (const auto& [name, value] : request.parameters()) {
    if (name == "config" && value.has_string_param()) {
      instead.config = value.string_param();
    } else if (name.starts_with("file:") && value.has_bytes_param()) {
      instead.files[name.substr(5)] = value.bytes_param();
    } else {
      return invalid_argument("unrecognized load parameter '{}'; there are 'config' (string) and 'file:PATH' (bytes)",
                              name);
    }
  }
  return options.models->load(request.model_name(), instead);
}

Status unload(const GrpcOptions& options, const inference::RepositoryModelUnloadRequest& request,
              inference::RepositoryModelUnloadResponse*) {
  const auto flag = request.parameters().find("unload_dependents");
  const bool with_dependents = flag != request.parameters().end() && flag->second.bool_param();
  return options.models->unload(request.model_name(), with_dependents);
}

constexpr UnaryRow kRows[] = {
    {"/inference.GRPCInferenceService/RepositoryIndex", ApiGroup::kModelRepository, CallRuns::kOnWorker,
     UnaryAnswer<index>::of_bytes},
    {"/inference.GRPCInferenceService/RepositoryModelLoad", ApiGroup::kModelRepository, CallRuns::kAlone,
     UnaryAnswer<load>::of_bytes},
    {"/inference.GRPCInferenceService/RepositoryModelUnload", ApiGroup::kModelRepository, CallRuns::kAlone,
     UnaryAnswer<unload>::of_bytes},
};

}  // namespace

std::span<const UnaryRow> repository_calls() {
  return kRows;
}

}  // namespace nereid::server::kserve
