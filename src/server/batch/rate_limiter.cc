// SPDX-License-Identifier: Apache-2.0
#include "server/batch/rate_limiter.h"

#include <algorithm>
#include <set>

namespace nereid::server {

const ResourceLimit* RateLimiter::limit_of(const Key& key) const {
  const ResourceLimit* of_all = nullptr;
  for (const ResourceLimit& limit : limits_) {
    if (limit.name != key.first) continue;
    if (limit.device == key.second) return &limit;
    if (limit.device == -1) of_all = &limit;
  }
  return of_all;
}

uint64_t RateLimiter::capacity(const Key& key) const {
  if (const ResourceLimit* limit = limit_of(key)) return limit->count;
  uint64_t most = 0;
  for (const auto& [number, instance] : instances_)
    if (const auto it = instance.takes.find(key); it != instance.takes.end()) most = std::max(most, it->second);
  return most;
}

Result<uint64_t> RateLimiter::add(LimitedInstance instance) {
  Instance made{.takes = {}, .priority = std::max(1u, instance.priority)};
  for (const InstanceResource& one : instance.takes) {
    const Key key{one.name, one.is_global ? -1 : instance.device};
    const ResourceLimit* limit = limit_of(key);
    if (limit != nullptr && limit->count < one.count)
      return invalid_argument(
          "Resource count for \"{}\" is limited to {} which will prevent scheduling of one or more model instances, "
          "the minimum required count is {}",
          one.name, limit->count, one.count);
    for (const auto& [number, other] : instances_)
      for (const auto& [taken, count] : other.takes)
        if (taken.first == one.name && (taken.second == -1) != one.is_global)
          return invalid_argument(
              "Resource \"{}\" is present as both global and device-specific resource in the model configuration.",
              one.name);
    made.takes[key] += one.count;
  }
  // One that comes late does not run alone until it has caught up.
  for (const auto& [number, other] : instances_)
    made.executions = std::max(made.executions, other.executions * other.priority / made.priority);
  instances_.emplace(++last_number_, std::move(made));
  return last_number_;
}

void RateLimiter::remove(uint64_t instance) {
  instances_.erase(instance);
}

void RateLimiter::ask(uint64_t instance) {
  Instance& one = instances_.at(instance);
  one.asks = true;
  one.asked = ++last_ask_;
}

void RateLimiter::withdraw(uint64_t instance) {
  instances_.at(instance).asks = false;
}

std::pair<uint64_t, uint64_t> RateLimiter::rank(uint64_t instance) const {
  const Instance& one = instances_.at(instance);
  return {one.executions * one.priority, one.asked};
}

uint64_t RateLimiter::first_of(const std::vector<uint64_t>& instances) const {
  return *std::min_element(instances.begin(), instances.end(),
                           [this](uint64_t a, uint64_t b) { return rank(a) < rank(b); });
}

std::vector<uint64_t> RateLimiter::grant() {
  std::vector<uint64_t> waiting;
  for (const auto& [number, instance] : instances_)
    if (instance.asks) waiting.push_back(number);
  std::sort(waiting.begin(), waiting.end(), [this](uint64_t a, uint64_t b) { return rank(a) < rank(b); });
  std::vector<uint64_t> granted;
  std::set<Key> kept;  // for those that wait
  for (const uint64_t number : waiting) {
    Instance& one = instances_.at(number);
    const bool is_free = std::all_of(one.takes.begin(), one.takes.end(), [&](const auto& taken) {
      return !kept.contains(taken.first) && used_[taken.first] + taken.second <= capacity(taken.first);
    });
    for (const auto& [key, count] : one.takes) {
      if (is_free) {
        used_[key] += count;
      } else {
        kept.insert(key);
      }
    }
    if (!is_free) continue;
    one.asks = false;
    ++one.executions;
    granted.push_back(number);
  }
  return granted;
}

void RateLimiter::done(uint64_t instance) {
  for (const auto& [key, count] : instances_.at(instance).takes) used_[key] -= count;
}

uint64_t RateLimiter::executions(uint64_t instance) const {
  return instances_.at(instance).executions;
}

}  // namespace nereid::server
