// SPDX-License-Identifier: Apache-2.0
// Which waiting requests run together, and when: a policy over numbers, without threads, clock or tensors.
//
// Requests wait in a queue for each priority, 1 before 2. When an instance is free, the requests at the front that fit
// together make a batch: at most max_batch items, all of one shape. It runs at once when its size is a preferred one or
// can grow no more, or when its oldest request has waited max_delay; else it waits for more to come. A request is never
// split, and never overtaken within its priority (except when it is late and the policy delays it).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "server/core/model_config.h"

namespace nereid::server {

struct BatcherOptions {
  int64_t max_batch = 1;  // items; 1: every request runs alone
  bool joins = false;     // requests may share a batch at all
  DynamicBatching rules;  // preferred sizes, delay, priorities, queues
};

struct WaitingRequest {
  uint64_t ticket = 0;  // names it
  int64_t items = 1;
  uint64_t shape_key = 0;   // requests join only when theirs are equal
  uint64_t priority = 0;    // 0: the default
  uint64_t timeout_us = 0;  // 0: the default of its queue
  int64_t arrival_ns = 0;
};

class DynamicBatcher {
 public:
  static constexpr int64_t kNever = INT64_MAX;

  explicit DynamicBatcher(BatcherOptions options);

  // False: its queue is full.
  bool add(const WaitingRequest& request);
  // One that is not wanted any more. False: it does not wait here.
  bool remove(uint64_t ticket);

  struct Decision {
    std::vector<uint64_t> run;   // a batch for the instance that is free; empty: nothing yet
    std::vector<uint64_t> late;  // have waited longer than they may, and are to be refused
    int64_t again_ns = kNever;   // when to ask again though nothing came
  };
  // For an instance that is free at `now_ns`. `is_free` false: only what is late is looked for.
  Decision next(int64_t now_ns, bool is_free);

  // Whether next() would give a batch to run; else `again_ns` is when, unless something comes before.
  bool is_due(int64_t now_ns, int64_t* again_ns) const;
  size_t size() const { return size_; }

 private:
  struct Waiting {
    WaitingRequest request;
    int64_t deadline_ns = kNever;
  };
  struct Queue {
    std::deque<Waiting> front, delayed;  // delayed: late ones that run when nothing else waits
  };
  const QueuePolicy& policy_of(uint64_t priority) const;
  void find_late(int64_t now_ns, Decision* decision);
  std::vector<uint64_t> choose(int64_t now_ns, int64_t* again_ns) const;

  BatcherOptions options_;
  std::map<uint64_t, Queue> queues_;
  size_t size_ = 0;
};

}  // namespace nereid::server
