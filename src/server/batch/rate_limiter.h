// SPDX-License-Identifier: Apache-2.0
// Which instances may run when all models share some resources: a policy over names and numbers.
//
// An instance asks, and runs when all it takes is free. Of those that ask, the one goes first that has run the least,
// counted priority times (2 runs half as often as 1). One that has to wait keeps what it waits for from all that come
// after it, so that many small ones do not starve a large one; others that want nothing of it pass.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "server/core/model_config.h"

namespace nereid::server {

// As much of a resource as there is: on one device, or (device -1) on each, or of one that all devices share.
struct ResourceLimit {
  std::string name;
  uint32_t count = 0;
  int device = -1;
};

struct LimitedInstance {
  std::vector<InstanceResource> takes;
  int device = 0;
  uint32_t priority = 1;
};

class RateLimiter {
 public:
  // Of what is not named there is as much as the greediest instance takes.
  explicit RateLimiter(std::vector<ResourceLimit> limits) : limits_(std::move(limits)) {}

  // Its number. kInvalidArgument: there is less of something than it takes, so that it could never run, or a resource
  // is taken both of a device and of all.
  Result<uint64_t> add(LimitedInstance instance);
  // It must not run.
  void remove(uint64_t instance);

  void ask(uint64_t instance);
  void withdraw(uint64_t instance);
  // Those that run from now on.
  std::vector<uint64_t> grant();
  void done(uint64_t instance);

  // The one of these that grant() would choose first.
  uint64_t first_of(const std::vector<uint64_t>& instances) const;
  uint64_t executions(uint64_t instance) const;

 private:
  using Key = std::pair<std::string, int>;  // a resource and its device; -1: shared
  struct Instance {
    std::map<Key, uint64_t> takes;
    uint64_t priority = 1, executions = 0;
    bool asks = false;
    uint64_t asked = 0;  // a number that grows
  };
  std::pair<uint64_t, uint64_t> rank(uint64_t instance) const;
  const ResourceLimit* limit_of(const Key& key) const;
  uint64_t capacity(const Key& key) const;

  const std::vector<ResourceLimit> limits_;
  std::map<uint64_t, Instance> instances_;
  std::map<Key, uint64_t> used_;
  uint64_t last_number_ = 0, last_ask_ = 0;
};

}  // namespace nereid::server
