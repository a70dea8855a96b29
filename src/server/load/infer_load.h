// SPDX-License-Identifier: Apache-2.0
// Inferences over HTTP or gRPC, each client sending its next when it has the answer: as lean as it can be, one thread,
// the same bytes again and again, so that little of what is measured is the client.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "server/load/infer_request_text.h"
#include "server/load/load_client.h"

namespace nereid::server::load {

struct InferLoadOptions {
  LoadTarget target;
  bool is_grpc = false;
  std::string model, api_key;
  std::vector<InferInput> inputs;
  int64_t timeout_ms = 600'000;
};

// `concurrency` connections, one request at a time each. An answer that is no success, or not as long as the first one,
// is a failure. kCancelled: Ctrl-C.
Result<std::vector<RequestFigures>> run_infer_load(const InferLoadOptions& options, int64_t concurrency,
                                                   int64_t requests, const std::function<void()>& done);

// What a model takes, as the server says over HTTP.
Result<std::vector<InferInput>> ask_inputs(const LoadTarget& target, const std::string& model,
                                           const std::string& api_key);

}  // namespace nereid::server::load
