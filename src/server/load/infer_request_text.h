// SPDX-License-Identifier: Apache-2.0
// An inference as the open inference protocol (KServe v2) sends it, over HTTP and over gRPC: the same tensors in both.
// Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/status.h"

namespace nereid::server::load {

struct InferInput {
  std::string name, type;  // "FP32", as the protocol names it
  std::vector<int64_t> shape;
};

// "INPUT0=FP32[1,16]".
Result<InferInput> parse_infer_input(std::string_view text);
// The inputs of a model's metadata; sizes of -1 become 1.
Result<std::vector<InferInput>> inputs_of_metadata(const Json& metadata);
// Its elements, one after the other: small numbers that are nothing special in any type. kInvalidArgument: no such
// type, or more than 1 GiB.
Result<std::string> input_bytes(const InferInput& input);

inline constexpr std::string_view kInferHeaderLength = "Inference-Header-Content-Length";
// JSON with the raw tensors behind it; `json_bytes` gets the length of the first. The answer's tensors are asked for
// raw.
Result<std::string> infer_http_body(const std::vector<InferInput>& inputs, size_t* json_bytes);
// The message ModelInferRequest.
Result<std::string> infer_grpc_message(const std::string& model, const std::vector<InferInput>& inputs);

}  // namespace nereid::server::load
