// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve/extensions.h"

namespace nereid::server::kserve {
namespace {

constexpr std::string_view kExtensions[] = {
    "classification",
    "sequence",
    "model_repository",
    "model_repository(unload_dependents)",
    "schedule_policy",
    "model_configuration",
    "system_shared_memory",
    "cuda_shared_memory",
    "binary_tensor_data",
    "parameters",
    "statistics",
    "trace",
    "logging",
};

}  // namespace

std::span<const std::string_view> extensions() {
  return kExtensions;
}

}  // namespace nereid::server::kserve
