// SPDX-License-Identifier: Apache-2.0
// A request that a model has taken, until its last response: what waits in queues and what backends answer.
#pragma once

#include <atomic>
#include <memory>

#include "server/core/backend.h"
#include "server/core/infer_statistics.h"

namespace nereid::server {

class Ticket final : public Execution {
 public:
  // Called once, when the last response has been given.
  using Ended = std::function<void(const Ticket& ticket, const Status& status)>;

  Ticket(InferRequest request, InferSink sink, int64_t batch, Ended ended);
  // Whoever lets go of it without a last response has failed it.
  ~Ticket() override;

  const InferRequest& request() const override { return request_; }
  int64_t batch() const override { return batch_; }
  const InferTensor* input(std::string_view name) const override;
  bool wants(std::string_view output) const override;
  void send(InferResponse response) override;

  void fail(Status status);
  // A hash of what must be equal in a batch: the inputs that are there and their shapes without the batch dimension.
  uint64_t shape_key(bool has_batch) const;

  uint64_t number = 0;
  int64_t begin_ns = 0;                           // of its execution
  InferFailure failure = InferFailure::kBackend;  // what it counts as if it fails

 private:
  InferRequest request_;
  InferSink sink_;
  const int64_t batch_;
  Ended ended_;
  std::atomic<bool> is_over_ = false;
};

}  // namespace nereid::server
