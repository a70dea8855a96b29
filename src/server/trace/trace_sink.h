// SPDX-License-Identifier: Apache-2.0
// A request that was traced, whole: itself first, then the requests to other models that answering it took; and where
// it goes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "server/core/request_trace.h"

namespace nereid::server::trace {

struct TracedTensor {
  TraceTensor where = TraceTensor::kQueueInput;
  std::string name, datatype, shape, data;  // as a trace file has them: "1,16"
};

struct TracedModel {
  uint64_t id = 0, parent_id = 0;  // 0: none
  std::string model, request_id;
  int64_t version = 1;
  std::array<int64_t, static_cast<size_t>(TraceMark::kCount)> marks{};  // ns by now_ns(); 0: did not come there
  std::vector<TracedTensor> tensors;

  int64_t at(TraceMark mark) const { return marks[static_cast<size_t>(mark)]; }
};

struct FinishedTrace {
  std::string traceparent;  // that came with the request
  std::vector<TracedModel> models;
};

class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void write(FinishedTrace trace) = 0;  // any thread
};

std::string_view mark_name(TraceMark mark);       // "HTTP_RECV_START"
std::string_view tensor_name(TraceTensor where);  // "TENSOR_QUEUE_INPUT"

}  // namespace nereid::server::trace
