// SPDX-License-Identifier: Apache-2.0
// Calls about memory that clients share with the server.
#include "grpc_service.pb.h"
#include "server/protocol/kserve_grpc/unary_answer.h"

namespace nereid::server::kserve {
namespace {

using net::grpc::RpcCode;
using net::grpc::RpcStatus;

Status system_status(const GrpcOptions& options, const inference::SystemSharedMemoryStatusRequest& request,
                     inference::SystemSharedMemoryStatusResponse* response) {
  NEREID_TRY(const auto regions, options.shared->list(request.name()));
  for (const SharedRegion& region : regions) {
    auto& message = (*response->mutable_regions())[region.name];
    message.set_name(region.name);
    message.set_key(region.key);
    message.set_offset(region.offset);
    message.set_byte_size(region.bytes);
  }
  return Status::ok();
}

RpcStatus system_register(const GrpcOptions& options, const inference::SystemSharedMemoryRegisterRequest& request,
                          inference::SystemSharedMemoryRegisterResponse*) {
  const Status status = options.shared->add(
      {.name = request.name(), .key = request.key(), .offset = request.offset(), .bytes = request.byte_size()});
  // A code that only this protocol tells apart.
  if (status.code() == StatusCode::kInvalidArgument && options.shared->list(request.name()).is_ok())
    return {RpcCode::kAlreadyExists, std::string(status.message())};
  return net::grpc::rpc_status(status);
}

Status system_unregister(const GrpcOptions& options, const inference::SystemSharedMemoryUnregisterRequest& request,
                         inference::SystemSharedMemoryUnregisterResponse*) {
  return request.name().empty() ? options.shared->remove_all() : options.shared->remove(request.name());
}

Status cuda_status(const GrpcOptions&, const inference::CudaSharedMemoryStatusRequest& request,
                   inference::CudaSharedMemoryStatusResponse*) {
  if (request.name().empty()) return Status::ok();
  return not_found("Unable to find cuda shared memory region: '{}'", request.name());
}

Status cuda_register(const GrpcOptions&, const inference::CudaSharedMemoryRegisterRequest&,
                     inference::CudaSharedMemoryRegisterResponse*) {
  return unsupported("models run on the processors: memory of a GPU cannot be shared with them");
}

Status cuda_unregister(const GrpcOptions&, const inference::CudaSharedMemoryUnregisterRequest&,
                       inference::CudaSharedMemoryUnregisterResponse*) {
  return Status::ok();
}

constexpr ApiGroup kGroup = ApiGroup::kSharedMemory;
constexpr UnaryRow kRows[] = {
    {"/inference.GRPCInferenceService/SystemSharedMemoryStatus", kGroup, CallRuns::kOnWorker,
     UnaryAnswer<system_status>::of_bytes},
    {"/inference.GRPCInferenceService/SystemSharedMemoryRegister", kGroup, CallRuns::kOnWorker,
     UnaryAnswer<system_register>::of_bytes},
    {"/inference.GRPCInferenceService/SystemSharedMemoryUnregister", kGroup, CallRuns::kOnWorker,
     UnaryAnswer<system_unregister>::of_bytes},
    {"/inference.GRPCInferenceService/CudaSharedMemoryStatus", kGroup, CallRuns::kOnWorker,
     UnaryAnswer<cuda_status>::of_bytes},
    {"/inference.GRPCInferenceService/CudaSharedMemoryRegister", kGroup, CallRuns::kOnWorker,
     UnaryAnswer<cuda_register>::of_bytes},
    {"/inference.GRPCInferenceService/CudaSharedMemoryUnregister", kGroup, CallRuns::kOnWorker,
     UnaryAnswer<cuda_unregister>::of_bytes},
};

}  // namespace

std::span<const UnaryRow> memory_calls() {
  return kRows;
}

}  // namespace nereid::server::kserve
