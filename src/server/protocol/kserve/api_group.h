// SPDX-License-Identifier: Apache-2.0
// Groups of endpoints that only those may use who send a header with the right value: --http-restricted-api and
// --grpc-restricted-protocol.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace nereid::server::kserve {

enum class ApiGroup : uint8_t {
  kHealth,
  kMetadata,
  kInference,
  kSharedMemory,
  kModelConfig,
  kModelRepository,
  kStatistics,
  kTrace,
  kLogging,
  kCount,
};

class RestrictedApis {
 public:
  // "GROUP[,GROUP...]:HEADER=VALUE", as often as wished; `prefix` stands before the header's name. kInvalidArgument: a
  // group that is not there or comes twice, no header, no value.
  static Result<RestrictedApis> parse(std::string_view option, std::span<const std::string> texts,
                                      std::string_view prefix);

  // The header that has to have the right value; nullptr: everybody may.
  const std::string* header(ApiGroup group) const {
    const auto& gate = gates_[static_cast<size_t>(group)];
    return gate ? &gate->header : nullptr;
  }
  // Takes the same time whatever is wrong.
  bool accepts(ApiGroup group, std::string_view value) const;

 private:
  struct Gate {
    std::string header, value;
  };
  std::array<std::optional<Gate>, static_cast<size_t>(ApiGroup::kCount)> gates_;
};

}  // namespace nereid::server::kserve
