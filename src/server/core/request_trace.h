// SPDX-License-Identifier: Apache-2.0
// What is noted of a request that is traced: when it came where, and on demand its tensors. Whoever has a part in the
// request holds it; when the last lets go, it is complete and written.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "server/core/infer_tensor.h"

namespace nereid::server {

// In the order in which a request meets them.
enum class TraceMark : uint8_t {
  kHttpRecvStart,
  kHttpRecvEnd,
  kGrpcWaitReadStart,
  kGrpcWaitReadEnd,
  kRequestStart,
  kQueueStart,
  kComputeStart,
  kComputeInputEnd,
  kComputeOutputStart,
  kComputeEnd,
  kResponseComplete,
  kRequestEnd,
  kHttpSendStart,
  kHttpSendEnd,
  kGrpcSendStart,
  kGrpcSendEnd,
  kCount,
};

enum class TraceTensor : uint8_t { kQueueInput, kBackendInput, kBackendOutput };

// Thread-safe.
class RequestTrace {
 public:
  virtual ~RequestTrace() = default;
  virtual void mark(TraceMark mark, int64_t at_ns) = 0;  // by now_ns()
  virtual bool wants_tensors() const = 0;
  virtual void tensor(TraceTensor where, const InferTensor& tensor) = 0;
  // Of a request to another model that answering this one takes.
  virtual std::shared_ptr<RequestTrace> child(std::string_view model, int64_t version, std::string_view request) = 0;
};

}  // namespace nereid::server
