// SPDX-License-Identifier: Apache-2.0
// The traced requests of one execution, whose parts are known when it is over.
#pragma once

#include <memory>
#include <vector>

#include "server/core/model_meter.h"
#include "server/core/request_trace.h"
#include "server/runner/ticket.h"

namespace nereid::server {

class ComputeTraces {
 public:
  // Before the execution.
  void add(const Ticket& ticket) {
    const std::shared_ptr<RequestTrace>& trace = ticket.request().trace;
    if (trace == nullptr) return;
    if (trace->wants_tensors())
      for (const InferTensor& input : ticket.request().inputs) trace->tensor(TraceTensor::kBackendInput, input);
    traces_.push_back(trace);
  }
  void mark(const ModelMeter::Spans& spans) const {
    for (const auto& trace : traces_) {
      trace->mark(TraceMark::kComputeStart, spans.begin_ns);
      trace->mark(TraceMark::kComputeInputEnd, spans.input_end_ns);
      trace->mark(TraceMark::kComputeOutputStart, spans.infer_end_ns);
      trace->mark(TraceMark::kComputeEnd, spans.end_ns);
    }
  }

 private:
  std::vector<std::shared_ptr<RequestTrace>> traces_;
};

}  // namespace nereid::server
