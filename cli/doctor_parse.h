// SPDX-License-Identifier: Apache-2.0
// Reads what the system and its tools say. Odd texts give nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::cli {

// Without their ends; the last one also where no line break follows.
std::vector<std::string_view> lines_of(std::string_view text);

// /proc/driver/nvidia/version: "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue ...": 580.95.05.
std::string parse_nvidia_module_version(std::string_view text);
// nvcc --version: "Cuda compilation tools, release 13.0, V13.0.88": 13.0.88.
std::string parse_nvcc_version(std::string_view text);
// The first group of digits and dots (at least one dot) in a text: versions of nvidia-ctk, mpirun, fabric manager.
std::string first_version(std::string_view text);
// 13000: "13.0".
std::string cuda_version_text(int version);
// 22809: "2.28.9"; 2708 (before 2.9): "2.7.8".
std::string nccl_version_text(int version);

// systemctl is-active: the state, one word; "" when systemd does not answer (a container, say).
std::string parse_unit_state(std::string_view text);

// The bytes of a /proc/meminfo line: "MemTotal:       24622092 kB".
std::optional<int64_t> meminfo_bytes(std::string_view text, std::string_view name);
// The path of a process in /proc/self/cgroup for a controller of v1, or of v2 ("0::/path") with an empty one.
std::optional<std::string> cgroup_path(std::string_view text, std::string_view controller);
// memory.max ("max" or bytes) and memory.limit_in_bytes (a huge number for none): nothing without a limit.
std::optional<int64_t> parse_memory_limit(std::string_view text);

}  // namespace nereid::cli
