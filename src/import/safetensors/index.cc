// SPDX-License-Identifier: Apache-2.0
#include "import/safetensors/index.h"

#include "base/json.h"

namespace nereid::import::safetensors {

Result<NamesByShard> parse_index(std::string_view text) {
  NEREID_TRY(const Json index, parse_json(text));
  const auto weight_map = index.is_object() ? index.find("weight_map") : index.end();
  if (weight_map == index.end() || !weight_map->is_object())
    return invalid_argument("expected an object with a 'weight_map' from tensor names to file names");
  NamesByShard shards;
  for (const auto& [name, shard] : weight_map->items()) {
    if (!shard.is_string()) return invalid_argument("the shard of tensor '{}' is not a file name", name);
    const auto& file = shard.get_ref<const std::string&>();
    if (file.empty() || file == "." || file == ".." || file.find('/') != std::string::npos ||
        file.find('\0') != std::string::npos)
      return invalid_argument("the shard of tensor '{}' is '{}'; expected the name of a file beside the index", name,
                              file);
    shards[file].push_back(name);
  }
  return shards;
}

}  // namespace nereid::import::safetensors
