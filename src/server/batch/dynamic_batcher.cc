// SPDX-License-Identifier: Apache-2.0
#include "server/batch/dynamic_batcher.h"

#include <algorithm>

namespace nereid::server {
namespace {

// Microseconds from a file or a request to a moment; never past the end of time.
int64_t after_us(int64_t begin_ns, uint64_t us) {
  constexpr uint64_t kMost = static_cast<uint64_t>(INT64_MAX) / 4000;
  return begin_ns + static_cast<int64_t>(std::min(us, kMost)) * 1000;
}

}  // namespace

DynamicBatcher::DynamicBatcher(BatcherOptions options) : options_(std::move(options)) {
  std::sort(options_.rules.preferred_sizes.begin(), options_.rules.preferred_sizes.end());
}

const QueuePolicy& DynamicBatcher::policy_of(uint64_t priority) const {
  const auto it = options_.rules.policies.find(priority);
  return it != options_.rules.policies.end() ? it->second : options_.rules.default_policy;
}

bool DynamicBatcher::add(const WaitingRequest& request) {
  uint64_t priority = 0;
  if (options_.rules.priority_levels > 0)
    priority = request.priority == 0 || request.priority > options_.rules.priority_levels
                   ? options_.rules.default_priority
                   : request.priority;
  Queue& queue = queues_[priority];
  const QueuePolicy& policy = policy_of(priority);
  if (policy.max_size > 0 && queue.front.size() + queue.delayed.size() >= policy.max_size) return false;
  uint64_t timeout_us = policy.default_timeout_us;
  // A request may only shorten what the queue allows.
  if (policy.may_override_timeout && request.timeout_us > 0 && (timeout_us == 0 || request.timeout_us < timeout_us))
    timeout_us = request.timeout_us;
  queue.front.push_back({request, timeout_us == 0 ? kNever : after_us(request.arrival_ns, timeout_us)});
  ++size_;
  return true;
}

bool DynamicBatcher::remove(uint64_t ticket) {
  const auto is_it = [&](const Waiting& one) { return one.request.ticket == ticket; };
  for (auto& [priority, queue] : queues_)
    for (std::deque<Waiting>* waiting : {&queue.front, &queue.delayed}) {
      const auto it = std::find_if(waiting->begin(), waiting->end(), is_it);
      if (it == waiting->end()) continue;
      waiting->erase(it);
      --size_;
      return true;
    }
  return false;
}

void DynamicBatcher::find_late(int64_t now_ns, Decision* decision) {
  for (auto& [priority, queue] : queues_) {
    const bool delays = policy_of(priority).delays_late;
    for (auto it = queue.front.begin(); it != queue.front.end();) {
      if (it->deadline_ns > now_ns) {
        decision->again_ns = std::min(decision->again_ns, it->deadline_ns);
        ++it;
        continue;
      }
      if (delays) {
        queue.delayed.push_back({it->request, kNever});
      } else {
        decision->late.push_back(it->request.ticket);
        --size_;
      }
      it = queue.front.erase(it);
    }
  }
}

std::vector<uint64_t> DynamicBatcher::choose(int64_t now_ns, int64_t* again_ns) const {
  // In the order of their turn: what fits together from the first on.
  std::vector<const Waiting*> batch;
  std::vector<int64_t> sums;
  int64_t items = 0, oldest_ns = kNever;
  bool can_grow = options_.joins;
  const auto take = [&](const std::deque<Waiting>& waiting) {
    for (const Waiting& one : waiting) {
      if (!batch.empty() && (!can_grow || one.request.shape_key != batch.front()->request.shape_key ||
                             items + one.request.items > options_.max_batch)) {
        can_grow = false;
        return;
      }
      batch.push_back(&one);
      sums.push_back(items += one.request.items);
      oldest_ns = std::min(oldest_ns, one.request.arrival_ns);
      if (items >= options_.max_batch) can_grow = false;
    }
  };
  for (const auto& [priority, queue] : queues_) take(queue.front);
  for (const auto& [priority, queue] : queues_) take(queue.delayed);
  if (batch.empty()) return {};

  size_t count = batch.size();
  if (can_grow && options_.rules.max_delay_us > 0) {
    // More may come: a preferred size goes at once, anything else when its oldest has waited enough.
    size_t preferred = 0;
    for (const int32_t size : options_.rules.preferred_sizes)
      for (size_t i = 0; i < sums.size(); ++i)
        if (sums[i] == size) preferred = i + 1;
    const int64_t due_ns = after_us(oldest_ns, options_.rules.max_delay_us);
    if (preferred == 0 && due_ns > now_ns) {
      *again_ns = std::min(*again_ns, due_ns);
      return {};
    }
    if (due_ns > now_ns) count = preferred;
  }
  std::vector<uint64_t> run;
  for (size_t i = 0; i < count; ++i) run.push_back(batch[i]->request.ticket);
  return run;
}

bool DynamicBatcher::is_due(int64_t now_ns, int64_t* again_ns) const {
  return size_ > 0 && !choose(now_ns, again_ns).empty();
}

DynamicBatcher::Decision DynamicBatcher::next(int64_t now_ns, bool is_free) {
  Decision decision;
  if (size_ == 0) return decision;
  find_late(now_ns, &decision);
  if (!is_free) return decision;
  decision.run = choose(now_ns, &decision.again_ns);
  for (const uint64_t ticket : decision.run) remove(ticket);
  return decision;
}

}  // namespace nereid::server
