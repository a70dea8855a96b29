// SPDX-License-Identifier: Apache-2.0
// Requests that every instance runs before its model is ready (model_warmup): what is slow the first time is slow then.
#pragma once

#include <string>
#include <vector>

#include "server/core/backend.h"
#include "server/core/model_meter.h"

namespace nereid::server {

// A batch: as many requests of one item as its batch_size says, all alike.
struct WarmupBatch {
  std::string model, name;
  uint32_t count = 1;  // times that it runs
  uint32_t requests = 1;
  InferRequest request;
  std::vector<InferTensor> more_inputs;  // controls and states of sequences
};

// kInvalidArgument, kNotFound: a sample that no request could be, or a file that is not there. `folder`: of the model.
Result<std::vector<WarmupBatch>> prepare_warm_up(const ModelConfig& config, const std::string& folder);
// Counts what it runs, and says now and then how far it is. Errors: those that the model answered with, with the name
// of the sample; kCancelled: interrupted() (base/interrupt.h).
Status warm_up(const std::vector<WarmupBatch>& samples, BackendInstance& instance, ModelMeter& meter);

}  // namespace nereid::server
