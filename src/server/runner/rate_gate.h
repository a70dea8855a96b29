// SPDX-License-Identifier: Apache-2.0
// The door that instances of all models pass when they share resources (--rate-limit): batch/rate_limiter.h with a
// lock.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>

#include "server/batch/rate_limiter.h"

namespace nereid::server {

class RateGate;

// An instance's right to pass; gives up its place when it goes. Without a gate it passes always.
class GatePass {
 public:
  GatePass() = default;
  GatePass(std::shared_ptr<RateGate> gate, uint64_t number) : gate_(std::move(gate)), number_(number) {}
  GatePass(GatePass&& other) noexcept : gate_(std::move(other.gate_)), number_(other.number_) {}
  GatePass& operator=(GatePass&& other) noexcept;
  ~GatePass();

  // Waits until all that the instance takes is free, and holds it until leave().
  void enter();
  void leave();
  bool has_gate() const { return gate_ != nullptr; }
  uint64_t number() const { return number_; }

 private:
  std::shared_ptr<RateGate> gate_;
  uint64_t number_ = 0;
};

// Any thread.
class RateGate : public std::enable_shared_from_this<RateGate> {
 public:
  explicit RateGate(std::vector<ResourceLimit> limits) : limiter_(std::move(limits)) {}
  // Errors: RateLimiter::add.
  Result<GatePass> add(LimitedInstance instance);
  // Of these passes' numbers, the one that would go first.
  uint64_t first_of(const std::vector<uint64_t>& numbers) const;

 private:
  friend class GatePass;
  void grant();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  RateLimiter limiter_;
  std::set<uint64_t> granted_;
};

// "R1:10", "R2:5:0": a name, a number and maybe a device. kInvalidArgument.
Result<ResourceLimit> parse_resource_limit(std::string_view text);

}  // namespace nereid::server
