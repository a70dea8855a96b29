// SPDX-License-Identifier: Apache-2.0
// A request that a model has taken, until its last response: what waits in queues and what backends answer.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

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
  bool run_again(std::vector<InferTensor> states) override;

  // Inputs beside those of the request, for its next execution.
  void set_more_inputs(std::vector<InferTensor> inputs) { more_inputs_ = std::move(inputs); }
  const std::vector<InferTensor>& more_inputs() const { return more_inputs_; }
  // Allows run_again; what it was called with is handed to `states` once, by take_again.
  void allow_again() { may_run_again_ = true; }
  // False: it is not to run once more.
  bool take_again(std::vector<InferTensor>* states);

  void fail(Status status);
  uint64_t number = 0;
  int slot = 0;                                   // of its sequence
  int64_t begin_ns = 0;                           // of its execution
  int64_t first_ns = 0;                           // of the first response, if others follow
  InferFailure failure = InferFailure::kBackend;  // what it counts as if it fails

 private:
  InferRequest request_;
  InferSink sink_;
  const int64_t batch_;
  Ended ended_;
  std::vector<InferTensor> more_inputs_, again_states_;
  bool may_run_again_ = false, is_again_ = false;
  std::atomic<bool> is_over_ = false;
};

// A hash of what must be equal in a batch: the inputs that are there and their shapes without the batch dimension; not
// of those that may be ragged.
uint64_t shape_key(const InferRequest& request, const ModelConfig& config);

}  // namespace nereid::server
