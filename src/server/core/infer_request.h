// SPDX-License-Identifier: Apache-2.0
// One inference as protocols ask for it and backends answer it: named tensors in, named tensors out.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/status.h"
#include "server/core/infer_tensor.h"
#include "server/core/request_trace.h"

namespace nereid::server {

using InferParameter = std::variant<bool, int64_t, double, std::string>;
// In the order they came.
using InferParameters = std::vector<std::pair<std::string, InferParameter>>;

// The sequence that a request belongs to; id 0 and no text: none.
struct SequenceMark {
  uint64_t id = 0;
  std::string text_id;  // where the client uses texts
  bool is_start = false, is_end = false;
  bool is_none() const { return id == 0 && text_id.empty(); }
};

struct InferRequest {
  std::string id;
  std::vector<InferTensor> inputs;
  std::vector<std::string> outputs;  // those that are wanted; none named: all
  InferParameters parameters;        // those without a meaning of their own
  SequenceMark sequence;
  uint64_t priority = 0;                // 0: the model's default
  uint64_t timeout_us = 0;              // that it may wait; 0: the model's default
  int64_t arrival_ns = 0;               // now_ns() when it was there
  std::shared_ptr<RequestTrace> trace;  // nullptr: it is not traced, as most
  // Set by whoever does not want the answer any more; looked at now and then.
  std::shared_ptr<std::atomic<bool>> cancelled;

  bool is_cancelled() const { return cancelled != nullptr && cancelled->load(std::memory_order_relaxed); }
};

struct InferResponse {
  Status status;
  std::vector<InferTensor> outputs;
  InferParameters parameters;
  bool is_final = true;   // the last of its request
  bool is_empty = false;  // says only that it is the last
};

// Called on any thread, once with is_final set, for each response in order; must return soon.
using InferSink = std::function<void(InferResponse&&)>;

}  // namespace nereid::server
