// SPDX-License-Identifier: Apache-2.0
// Requests and responses between the protocol's messages and the server's own.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "server/core/infer_model.h"
#include "server/core/shared_memory.h"
#include "server/net/http2/stream.h"
#include "server/protocol/kserve_grpc/raw_inputs.h"

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

// Raw tensors point into the bytes that `split` was read from, which `owner` keeps. kInvalidArgument with the sentences
// that clients know.
Result<InferRequest> read_request(const SplitRequest& split, std::shared_ptr<const void> owner,
                                  const SharedMemory& shared, GrpcAnswerShape* shape);
// Raw outputs go to `raw`, in order. kInvalidArgument: a classification of what has no order.
Status write_response(const InferModel& model, const GrpcAnswerShape& shape, const SharedMemory& shared,
                      InferResponse&& response, inference::ModelInferResponse* message, std::vector<RawTensor>* raw);
// The message with its raw outputs, which stay where they lie; alone, or as a message of a stream.
std::vector<net::http2::BodyPiece> write_pieces(const inference::ModelInferResponse& message,
                                                std::vector<RawTensor> tensors);
std::vector<net::http2::BodyPiece> write_stream_pieces(const inference::ModelInferResponse& message,
                                                       std::vector<RawTensor> tensors);
// -1 for "". kInvalidArgument: no number.
Result<int64_t> read_version(const std::string& text);
void write_statistics(const InferModel& model, inference::ModelStatistics* message);

}  // namespace nereid::server::kserve
