// SPDX-License-Identifier: Apache-2.0
// An NVIDIA GPU, by the plugin's table.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "device/cuda/plugin_table.h"
#include "device/device.h"

namespace nereid::device {

// The plugin beside the running program, or in ../lib of it; loaded once and never unloaded. kUnavailable with what to
// do: there is none, it is of another version, or a library that it needs is missing.
Result<const NereidCudaTable*> load_cuda_plugin();
// The same of a file.
Result<const NereidCudaTable*> load_cuda_plugin(const std::string& path);

// kUnavailable: no driver, an old one, no GPU, or one in no state to work; kInvalidArgument: no GPU of that number;
// kUnsupported: a GPU that the plugin has no code for. The table outlives the device.
Result<std::unique_ptr<Device>> open_cuda_device(const NereidCudaTable& table, int gpu);

// "cuda", "cuda:1" -> 0, 1. kInvalidArgument for anything else.
Result<int> parse_cuda_name(std::string_view name);

}  // namespace nereid::device
