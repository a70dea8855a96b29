// SPDX-License-Identifier: Apache-2.0
// On which processors the instances of models run: what --host-policy says.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "server/core/model_config.h"

namespace nereid::server {

// Numbers of processors, ascending.
using CpuList = std::vector<int>;

class HostPolicies {
 public:
  // "cpu,cpu-cores=0-3,8", "gpu_0,numa-node=1". kInvalidArgument: no such setting, node or processor.
  static Result<HostPolicies> parse(const std::vector<std::string>& texts);
  // nullptr: instances of that policy run anywhere.
  const CpuList* find(std::string_view policy) const;

 private:
  std::map<std::string, CpuList, std::less<>> cpus_;
};

// The group's own, or the one of its kind: "cpu", "model", "gpu_0".
std::string host_policy_of(const InstanceGroup& group);
// "0-3,8". kInvalidArgument.
Result<CpuList> parse_cpu_list(std::string_view text);

// Where the calling thread runs; on its end, where it ran before. Threads that are started meanwhile run there, too.
class ThreadPlace {
 public:
  ThreadPlace() = default;
  ~ThreadPlace() { move_to(nullptr); }
  ThreadPlace(const ThreadPlace&) = delete;
  ThreadPlace& operator=(const ThreadPlace&) = delete;
  // nullptr: where it was at first. The list must outlive the place.
  void move_to(const CpuList* cpus);

 private:
  const CpuList* cpus_ = nullptr;
  CpuList before_;
};

}  // namespace nereid::server
