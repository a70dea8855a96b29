// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/gpu_metrics.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <iterator>
#include <optional>

#include "server/metrics/family_row.h"
#include "server/metrics/registry.h"

namespace nereid::server::metrics {
namespace {

constexpr const char* kLibrary = "libnvidia-ml.so.1";

constexpr FamilyRow kGpuBusy = {"nv_gpu_utilization", "gauge", "GPU utilization rate [0.0 - 1.0)"};
constexpr FamilyRow kGpuTotal = {"nv_gpu_memory_total_bytes", "gauge", "GPU total memory, in bytes"};
constexpr FamilyRow kGpuUsed = {"nv_gpu_memory_used_bytes", "gauge", "GPU used memory, in bytes"};
constexpr FamilyRow kGpuPower = {"nv_gpu_power_usage", "gauge", "GPU power usage in watts"};
constexpr FamilyRow kGpuLimit = {"nv_gpu_power_limit", "gauge", "GPU power management limit in watts"};
constexpr FamilyRow kGpuEnergy = {"nv_energy_consumption", "counter",
                                  "GPU energy consumption in joules since the server began"};

}  // namespace

Result<NvmlTable> load_nvml() {
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return unavailable("{} cannot be loaded: {}", kLibrary, dlerror());
  NvmlTable t;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    return function != nullptr;
  };
  if (find(t.init, "nvmlInit_v2") && find(t.count, "nvmlDeviceGetCount_v2") &&
      find(t.handle, "nvmlDeviceGetHandleByIndex_v2") && find(t.uuid, "nvmlDeviceGetUUID") &&
      find(t.utilization, "nvmlDeviceGetUtilizationRates") && find(t.memory, "nvmlDeviceGetMemoryInfo") &&
      find(t.power_usage, "nvmlDeviceGetPowerUsage") && find(t.power_limit, "nvmlDeviceGetEnforcedPowerLimit") &&
      find(t.energy, "nvmlDeviceGetTotalEnergyConsumption"))
    return t;
  return unavailable("{} lacks a function that Nereid needs; it is of a driver that is too old", kLibrary);
}

GpuMeter::GpuMeter(const NvmlTable& table) : table_(table) {
  unsigned count = 0;
  if (table_.init == nullptr || table_.init() != 0 || table_.count(&count) != 0) return;
  for (unsigned i = 0; i < count; ++i) {
    Gpu gpu;
    char uuid[96] = {};
    if (table_.handle(i, &gpu.handle) != 0 || table_.uuid(gpu.handle, uuid, sizeof(uuid) - 1) != 0) continue;
    gpu.uuid = uuid;
    if (table_.energy(gpu.handle, &gpu.energy_mj) != 0) gpu.energy_mj = 0;
    gpus_.push_back(std::move(gpu));
  }
}

GpuMeter GpuMeter::of_this_machine() {
  const Result<NvmlTable> table = load_nvml();
  return GpuMeter(table.is_ok() ? *table : NvmlTable{});
}

std::string GpuMeter::text() const {
  std::string out;
  if (gpus_.empty()) return out;
  const auto append = [&](const FamilyRow& row, const auto& value_of) {
    fmt::format_to(std::back_inserter(out), "# HELP {} {}\n# TYPE {} {}\n", row.name, row.help, row.name, row.kind);
    for (const Gpu& gpu : gpus_)
      if (const std::optional<double> value = value_of(gpu))
        fmt::format_to(std::back_inserter(out), "{}{{gpu_uuid=\"{}\"}} {}\n", row.name, gpu.uuid, number_text(*value));
  };
  const auto memory = [&](unsigned long long NvmlMemory::*member) {
    return [this, member](const Gpu& gpu) -> std::optional<double> {
      NvmlMemory m;
      if (table_.memory(gpu.handle, &m) != 0) return std::nullopt;
      return static_cast<double>(m.*member);
    };
  };
  const auto watts = [](int (*read)(void*, unsigned*)) {
    return [read](const Gpu& gpu) -> std::optional<double> {
      unsigned milliwatts = 0;
      if (read(gpu.handle, &milliwatts) != 0) return std::nullopt;
      return milliwatts / 1e3;
    };
  };
  append(kGpuBusy, [this](const Gpu& gpu) -> std::optional<double> {
    NvmlUtilization u;
    if (table_.utilization(gpu.handle, &u) != 0) return std::nullopt;
    return u.gpu / 100.0;
  });
  append(kGpuTotal, memory(&NvmlMemory::total));
  append(kGpuUsed, memory(&NvmlMemory::used));
  append(kGpuPower, watts(table_.power_usage));
  append(kGpuLimit, watts(table_.power_limit));
  append(kGpuEnergy, [this](const Gpu& gpu) -> std::optional<double> {
    unsigned long long now = 0;
    if (table_.energy(gpu.handle, &now) != 0 || now < gpu.energy_mj) return std::nullopt;
    return static_cast<double>(now - gpu.energy_mj) / 1e3;
  });
  return out;
}

std::vector<FamilyRow> gpu_families() {
  return {kGpuBusy, kGpuTotal, kGpuUsed, kGpuPower, kGpuLimit, kGpuEnergy};
}

}  // namespace nereid::server::metrics
