// SPDX-License-Identifier: Apache-2.0
// A family of metrics as the reference lists it, of those that are not rows of metric_table.
#pragma once

#include <string_view>
#include <vector>

namespace nereid::server::metrics {

struct FamilyRow {
  std::string_view name, kind, help;
};

std::vector<FamilyRow> inference_families();
std::vector<FamilyRow> cache_families();
std::vector<FamilyRow> latency_families();
std::vector<FamilyRow> machine_families();
std::vector<FamilyRow> gpu_families();

}  // namespace nereid::server::metrics
