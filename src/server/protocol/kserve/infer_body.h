// SPDX-License-Identifier: Apache-2.0
// The body of an inference request: JSON, with raw tensors behind it where a header says how long the JSON is, or
// nothing but the one input's raw bytes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/core/infer_request.h"
#include "server/core/model_config.h"
#include "server/core/shared_memory.h"

namespace nereid::server::kserve {

struct WantedOutput {
  std::string name;
  bool is_binary = false;
  uint64_t classes = 0;            // 0: the tensor itself
  std::string region;              // of shared memory that it goes to; "": the response
  uint64_t offset = 0, bytes = 0;  // of the place there
};

struct InferBody {
  InferRequest request;
  std::vector<WantedOutput> outputs;  // none: all
  bool binary_by_default = false;
};

// `json_bytes` is what the header Inference-Header-Content-Length says, if it is there. Tensors point into `body`.
// The errors' codes are those of the statuses that clients know: kInternal for JSON that cannot be read.
Result<InferBody> read_infer_body(std::shared_ptr<const std::string> body, std::optional<std::string_view> json_bytes,
                                  const ModelConfig& config, const SharedMemory& shared);

}  // namespace nereid::server::kserve
