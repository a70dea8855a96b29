// SPDX-License-Identifier: Apache-2.0
// Holds answers of several instances back until those of earlier requests have left: batch/release_order.h with a lock.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "server/batch/release_order.h"
#include "server/core/infer_request.h"

namespace nereid::server {

// Any thread. Responses go out one after the other, on the thread of whichever of them made room.
class OrderedSinks : public std::enable_shared_from_this<OrderedSinks> {
 public:
  // What a request's responses are to be given to instead. Until begin() they pass.
  InferSink wrap(uint64_t ticket, InferSink sink);
  // It runs: its responses leave after those of all that began before.
  void begin(uint64_t ticket);

 private:
  struct Outgoing {
    InferSink sink;
    InferResponse response;
  };
  void take(uint64_t ticket, const InferSink& sink, InferResponse&& response);
  void send_all(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  ReleaseOrder order_;
  std::unordered_map<uint64_t, std::deque<Outgoing>> held_;  // of those that began
  std::deque<Outgoing> outgoing_;
  bool is_sending_ = false;
};

}  // namespace nereid::server
