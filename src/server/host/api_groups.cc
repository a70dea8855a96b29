// SPDX-License-Identifier: Apache-2.0
#include "server/host/api_groups.h"

namespace nereid::server {
namespace {

using enum kserve::ApiGroup;

struct Row {
  std::string_view pattern;
  kserve::ApiGroup group;
};
constexpr Row kRows[] = {
    {"/v1/models", kMetadata},
    {"/v1/models/{model...}", kMetadata},
    {"/v1/load_lora_adapter", kModelRepository},
    {"/v1/unload_lora_adapter", kModelRepository},
    {"/health", kHealth},
    {"/metrics", kStatistics},
};

}  // namespace

kserve::ApiGroup api_group_of(std::string_view pattern) {
  for (const Row& row : kRows)
    if (row.pattern == pattern) return row.group;
  return kInference;  // what asks a model, and the page that does
}

}  // namespace nereid::server
