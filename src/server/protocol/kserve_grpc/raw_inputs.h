// SPDX-License-Identifier: Apache-2.0
// A message ModelInferRequest without a copy of its tensors: what is raw stays where the message lies.
#pragma once

#include <string_view>
#include <vector>

#include "base/status.h"
#include "grpc_service.pb.h"

namespace nereid::server::kserve {

struct SplitRequest {
  inference::ModelInferRequest message;  // without raw_input_contents
  std::vector<std::string_view> raws;    // those, in order, in the bytes that were read
};

// kInternal: they are no such message.
Status split_request(std::string_view bytes, SplitRequest* out);

}  // namespace nereid::server::kserve
