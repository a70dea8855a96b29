// SPDX-License-Identifier: Apache-2.0
// The response to an inference: JSON, with raw tensors behind it for the outputs that are wanted so.
#pragma once

#include "server/core/infer_model.h"
#include "server/net/http.h"
#include "server/protocol/kserve/infer_body.h"

namespace nereid::server::kserve {

// What is kept of a request until it is answered.
struct AnswerShape {
  std::string id;
  std::vector<WantedOutput> outputs;
  bool binary_by_default = false;
};

// Outputs that go to shared memory are written there.
net::Response infer_response(const InferModel& model, const AnswerShape& shape, const SharedMemory& shared,
                             InferResponse&& response);

}  // namespace nereid::server::kserve
