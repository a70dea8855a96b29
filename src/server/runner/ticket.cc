// SPDX-License-Identifier: Apache-2.0
#include "server/runner/ticket.h"

#include <algorithm>

namespace nereid::server {

Ticket::Ticket(InferRequest request, InferSink sink, int64_t batch, Ended ended)
    : request_(std::move(request)), sink_(std::move(sink)), batch_(batch), ended_(std::move(ended)) {}

Ticket::~Ticket() {
  if (!is_over_.load(std::memory_order_acquire)) fail(internal("the model let go of the request without an answer"));
}

const InferTensor* Ticket::input(std::string_view name) const {
  for (const InferTensor& input : request_.inputs)
    if (input.name == name) return &input;
  return nullptr;
}

bool Ticket::wants(std::string_view output) const {
  return request_.outputs.empty() ||
         std::find(request_.outputs.begin(), request_.outputs.end(), output) != request_.outputs.end();
}

void Ticket::send(InferResponse response) {
  const bool is_final = response.is_final;
  if (is_final && is_over_.exchange(true, std::memory_order_acq_rel)) return;
  const Status status = response.status;
  if (sink_ != nullptr) sink_(std::move(response));
  if (!is_final) return;
  // The sink may be the last to hold the model, whose end waits for this request's: it goes when that is told.
  const InferSink sink = std::move(sink_);
  const Ended ended = std::move(ended_);
  ended(*this, status);
}

void Ticket::fail(Status status) {
  send({.status = std::move(status), .outputs = {}, .parameters = {}, .is_final = true, .is_empty = true});
}

uint64_t Ticket::shape_key(bool has_batch) const {
  uint64_t key = request_.inputs.size();
  for (const InferTensor& input : request_.inputs) {
    key = key * 31 + std::hash<std::string>{}(input.name);
    for (size_t i = has_batch ? 1 : 0; i < input.shape.size(); ++i)
      key = (key ^ static_cast<uint64_t>(input.shape[i])) * 0x9e3779b97f4a7c15u;
  }
  return key;
}

}  // namespace nereid::server
