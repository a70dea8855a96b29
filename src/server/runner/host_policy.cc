// SPDX-License-Identifier: Apache-2.0
#include "server/runner/host_policy.h"

#include <sched.h>

#include <algorithm>
#include <charconv>

#include "base/file.h"

namespace nereid::server {
namespace {

constexpr int kMostCpus = CPU_SETSIZE;

CpuList cpus_of_thread() {
  cpu_set_t set;
  CPU_ZERO(&set);
  CpuList out;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return out;
  for (int i = 0; i < kMostCpus; ++i)
    if (CPU_ISSET(static_cast<size_t>(i), &set)) out.push_back(i);
  return out;
}

void put_thread(const CpuList& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(static_cast<size_t>(cpu), &set);
  // Where the system refuses, it runs where it ran.
  if (!cpus.empty()) static_cast<void>(::sched_setaffinity(0, sizeof set, &set));
}

Result<int> number_of(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0 || number >= kMostCpus)
    return invalid_argument("'{}' is no number from 0 to {}", text, kMostCpus - 1);
  return number;
}

Result<CpuList> cpus_of_node(std::string_view text) {
  NEREID_TRY(const int node, number_of(text));
  auto list = read_file(fmt::format("/sys/devices/system/node/node{}/cpulist", node), 4096);
  if (!list.is_ok()) return invalid_argument("this machine has no NUMA node {}", node);
  while (list->ends_with('\n')) list->pop_back();
  return parse_cpu_list(*list);
}

// Those that this process may use.
Result<CpuList> usable(const CpuList& wanted) {
  const CpuList mine = cpus_of_thread();
  CpuList out;
  std::set_intersection(wanted.begin(), wanted.end(), mine.begin(), mine.end(), std::back_inserter(out));
  if (out.empty()) return invalid_argument("none of these processors may be used by this process");
  return out;
}

Result<CpuList> cpus_of(std::string_view setting) {
  const size_t equals = setting.find('=');
  const std::string_view name = setting.substr(0, equals);
  const std::string_view value = equals == setting.npos ? std::string_view() : setting.substr(equals + 1);
  CpuList cpus;
  if (name == "numa-node") {
    NEREID_TRY(cpus, cpus_of_node(value));
  } else if (name == "cpu-cores") {
    NEREID_TRY(cpus, parse_cpu_list(value));
  } else {
    return invalid_argument("there is no setting '{}'; there are numa-node=N and cpu-cores=A-B", name);
  }
  return usable(cpus);
}

}  // namespace

Result<CpuList> parse_cpu_list(std::string_view text) {
  CpuList out;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string_view part = text.substr(at, end - at);
    const size_t dash = part.find('-');
    NEREID_TRY(const int first, number_of(part.substr(0, dash)));
    int last = first;
    if (dash != part.npos) {
      NEREID_TRY(last, number_of(part.substr(dash + 1)));
    }
    if (last < first) return invalid_argument("'{}' ends before it begins", part);
    for (int cpu = first; cpu <= last; ++cpu) out.push_back(cpu);
    at = end + 1;
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

Result<HostPolicies> HostPolicies::parse(const std::vector<std::string>& texts) {
  HostPolicies out;
  for (const std::string& text : texts) {
    const size_t comma = text.find(',');
    if (comma == 0 || comma == text.npos)
      return invalid_argument("--host-policy is '{}'; it names a policy and a setting of it, as in cpu,cpu-cores=0-3",
                              text);
    NEREID_TRY(CpuList cpus, cpus_of(std::string_view(text).substr(comma + 1)).with("--host-policy " + text));
    CpuList& kept = out.cpus_[text.substr(0, comma)];
    // A node and cores of it: those that are both.
    CpuList both;
    std::set_intersection(kept.begin(), kept.end(), cpus.begin(), cpus.end(), std::back_inserter(both));
    if (!kept.empty() && both.empty())
      return invalid_argument("--host-policy {}: no processor is left of what was said of the policy before", text);
    kept = kept.empty() ? std::move(cpus) : std::move(both);
  }
  return out;
}

const CpuList* HostPolicies::find(std::string_view policy) const {
  const auto it = cpus_.find(policy);
  return it == cpus_.end() ? nullptr : &it->second;
}

std::string host_policy_of(const InstanceGroup& group) {
  if (!group.host_policy.empty()) return group.host_policy;
  switch (group.kind) {
    case InstanceKind::kGpu:
      return fmt::format("gpu_{}", group.gpus.empty() ? 0 : group.gpus[0]);
    case InstanceKind::kModel:
      return "model";
    case InstanceKind::kAuto:
    case InstanceKind::kCpu:
      break;
  }
  return "cpu";
}

void ThreadPlace::move_to(const CpuList* cpus) {
  if (cpus == cpus_) return;
  if (cpus_ == nullptr) before_ = cpus_of_thread();
  put_thread(cpus != nullptr ? *cpus : before_);
  cpus_ = cpus;
}

}  // namespace nereid::server
