// SPDX-License-Identifier: Apache-2.0
// Requests and responses between the protocol's messages and the server's own.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "grpc_service.pb.h"
#include "server/core/infer_model.h"
#include "server/core/shared_memory.h"

namespace nereid::server::kserve {

// What is kept of a request until it is answered.
struct GrpcAnswerShape {
  std::string id;
  std::vector<std::pair<std::string, uint64_t>> classes;  // outputs of which only so many greatest are wanted
  struct Place {
    std::string output, region;
    uint64_t offset = 0, bytes = 0;
  };
  std::vector<Place> places;  // of outputs in shared memory
  bool wants_empty_final = false;
};

// A raw output that is not in the message.
struct RawTensor {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

// Tensors point into the message, which `message` keeps alive. kInvalidArgument with the sentences that clients know.
Result<InferRequest> read_request(const std::shared_ptr<const inference::ModelInferRequest>& message,
                                  const SharedMemory& shared, GrpcAnswerShape* shape);
// Raw outputs are put into the message or, where `raw` is given, there, in order. kInvalidArgument: a classification of
// what has no order.
Status write_response(const InferModel& model, const GrpcAnswerShape& shape, const SharedMemory& shared,
                      InferResponse&& response, inference::ModelInferResponse* message,
                      std::vector<RawTensor>* raw = nullptr);
// -1 for "". kInvalidArgument: no number.
Result<int64_t> read_version(const std::string& text);
void write_statistics(const InferModel& model, inference::ModelStatistics* message);

}  // namespace nereid::server::kserve
