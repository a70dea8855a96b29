// SPDX-License-Identifier: Apache-2.0
#include "server/runner/ordered_sinks.h"

namespace nereid::server {

InferSink OrderedSinks::wrap(uint64_t ticket, InferSink sink) {
  return [self = shared_from_this(), ticket, sink = std::move(sink)](InferResponse&& response) {
    self->take(ticket, sink, std::move(response));
  };
}

void OrderedSinks::begin(uint64_t ticket) {
  const std::lock_guard lock(mutex_);
  if (held_.try_emplace(ticket).second) order_.add(ticket);
}

void OrderedSinks::take(uint64_t ticket, const InferSink& sink, InferResponse&& response) {
  std::unique_lock lock(mutex_);
  const auto it = held_.find(ticket);
  if (it == held_.end()) {
    lock.unlock();
    sink(std::move(response));
    return;
  }
  const bool is_final = response.is_final, is_turn = order_.is_turn(ticket);
  (is_turn ? outgoing_ : it->second).push_back({sink, std::move(response)});
  if (is_final) {
    const std::vector<uint64_t> released = order_.end(ticket);
    if (is_turn) held_.erase(it);
    for (const uint64_t next : released) {
      const auto held = held_.find(next);
      const bool has_ended = !held->second.empty() && held->second.back().response.is_final;
      for (Outgoing& one : held->second) outgoing_.push_back(std::move(one));
      held->second.clear();
      if (has_ended) held_.erase(held);
    }
  }
  send_all(lock);
}

void OrderedSinks::send_all(std::unique_lock<std::mutex>& lock) {
  if (is_sending_) return;
  is_sending_ = true;
  while (!outgoing_.empty()) {
    Outgoing one = std::move(outgoing_.front());
    outgoing_.pop_front();
    lock.unlock();
    one.sink(std::move(one.response));
    one = {};
    lock.lock();
  }
  is_sending_ = false;
}

}  // namespace nereid::server
