// SPDX-License-Identifier: Apache-2.0
// What a language model of a repository has done and is doing, whatever protocol asked: one count, and the model as
// protocols of texts see it, counting there.
#pragma once

#include <memory>

#include "server/core/model_meter.h"
#include "server/core/running_count.h"
#include "server/core/text_model.h"

namespace nereid::server {

struct ModelCount {
  struct Request {
    int64_t items = 1, arrival_ns = 0, begin_ns = 0, first_ns = 0;  // first_ns 0: there was no token
  };
  // Of one request that has ended now.
  void end(const Status& status, const Request& request);

  ModelMeter meter;
  RunningCount running;
};

std::shared_ptr<TextModel> counted_text_model(std::shared_ptr<TextModel> model, std::shared_ptr<ModelCount> count);

}  // namespace nereid::server
