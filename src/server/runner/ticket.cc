// SPDX-License-Identifier: Apache-2.0
#include "server/runner/ticket.h"

#include <algorithm>

#include "base/clock.h"

namespace nereid::server {

Ticket::Ticket(InferRequest request, InferSink sink, int64_t batch, Ended ended)
    : request_(std::move(request)), sink_(std::move(sink)), batch_(batch), ended_(std::move(ended)) {
  if (request_.trace == nullptr) return;
  const int64_t at_ns = now_ns();
  request_.trace->mark(TraceMark::kRequestStart, at_ns);
  request_.trace->mark(TraceMark::kQueueStart, at_ns);
  if (!request_.trace->wants_tensors()) return;
  for (const InferTensor& input : request_.inputs) request_.trace->tensor(TraceTensor::kQueueInput, input);
}

Ticket::~Ticket() {
  if (!is_over_.load(std::memory_order_acquire)) fail(internal("the model let go of the request without an answer"));
}

const InferTensor* Ticket::input(std::string_view name) const {
  for (const InferTensor& input : request_.inputs)
    if (input.name == name) return &input;
  for (const InferTensor& input : more_inputs_)
    if (input.name == name) return &input;
  return nullptr;
}

bool Ticket::run_again(std::vector<InferTensor> states) {
  if (!may_run_again_) return false;
  is_again_ = true;
  again_states_ = std::move(states);
  return true;
}

bool Ticket::take_again(std::vector<InferTensor>* states) {
  *states = std::move(again_states_);
  again_states_.clear();
  return std::exchange(is_again_, false);
}

bool Ticket::wants(std::string_view output) const {
  return request_.outputs.empty() ||
         std::find(request_.outputs.begin(), request_.outputs.end(), output) != request_.outputs.end();
}

void Ticket::send(InferResponse response) {
  const bool is_final = response.is_final;
  if (is_final && is_over_.exchange(true, std::memory_order_acq_rel)) return;
  if (!is_final && first_ns == 0) first_ns = now_ns();
  const std::shared_ptr<RequestTrace> trace = request_.trace;
  if (trace != nullptr) {
    if (trace->wants_tensors())
      for (const InferTensor& output : response.outputs) trace->tensor(TraceTensor::kBackendOutput, output);
    if (is_final) trace->mark(TraceMark::kResponseComplete, now_ns());
  }
  const Status status = response.status;
  if (sink_ != nullptr) sink_(std::move(response));
  if (!is_final) return;
  // The sink may be the last to hold the model, whose end waits for this request's: it goes when that is told.
  const InferSink sink = std::move(sink_);
  const Ended ended = std::move(ended_);
  ended(*this, status);
  if (trace != nullptr) trace->mark(TraceMark::kRequestEnd, now_ns());
}

void Ticket::fail(Status status) {
  send({.status = std::move(status), .outputs = {}, .parameters = {}, .is_final = true, .is_empty = true});
}

uint64_t shape_key(const InferRequest& request, const ModelConfig& config) {
  const size_t first = config.max_batch_size > 0 ? 1 : 0;
  const auto is_ragged = [&](const InferTensor& input) {
    return std::any_of(config.inputs.begin(), config.inputs.end(),
                       [&](const TensorConfig& one) { return one.is_ragged && one.name == input.name; });
  };
  uint64_t key = request.inputs.size();
  for (const InferTensor& input : request.inputs) {
    key = key * 31 + std::hash<std::string>{}(input.name);
    if (is_ragged(input)) continue;
    for (size_t i = first; i < input.shape.size(); ++i)
      key = (key ^ static_cast<uint64_t>(input.shape[i])) * 0x9e3779b97f4a7c15u;
  }
  return key;
}

}  // namespace nereid::server
