// SPDX-License-Identifier: Apache-2.0
// Names of the parts of a split GGUF model: prefix-00001-of-00003.gguf and so on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nereid::import::gguf {

struct SplitName {
  std::string prefix;  // with its folder
  uint32_t part = 0;   // from 1
  uint32_t count = 0;

  // The path of another part of the same model.
  std::string path_of(uint32_t which) const;
};

// Nothing if the path is not named as a part of a split model.
std::optional<SplitName> parse_split_name(std::string_view path);

}  // namespace nereid::import::gguf
