// SPDX-License-Identifier: Apache-2.0
// Sharded models: the index says which file holds which tensor.
#include <algorithm>
#include <filesystem>
#include <iterator>

#include "base/file.h"
#include "import/safetensors/index.h"
#include "import/safetensors/safetensors.h"

namespace nereid::import::safetensors {
namespace {

// An index has about 100 bytes a tensor; models have at most some hundred thousand.
constexpr size_t kMaxIndexBytes = 100'000'000;

// Adds the named tensors of a shard, and the shard's memory, to `model`.
Status take_tensors(SafetensorsFile shard, const std::vector<std::string>& names, SafetensorsFile& model) {
  for (const std::string& name : names) {
    const Tensor* tensor = shard.find(name);
    if (tensor == nullptr)
      return invalid_argument("the index places tensor '{}' there, but the shard has no such tensor", name);
    model.tensors.push_back(*tensor);
  }
  if (model.files.empty()) model.metadata = std::move(shard.metadata);
  std::move(shard.files.begin(), shard.files.end(), std::back_inserter(model.files));
  std::move(shard.copies.begin(), shard.copies.end(), std::back_inserter(model.copies));
  return {};
}

}  // namespace

Result<SafetensorsFile> open_index(const std::string& path) {
  NEREID_TRY(const std::string text, read_file(path, kMaxIndexBytes));
  NEREID_TRY(const NamesByShard shards, parse_index(text).with("reading " + path));
  SafetensorsFile model;
  for (const auto& [file, names] : shards) {
    const std::string shard_path = (std::filesystem::path(path).parent_path() / file).string();
    auto shard = open(shard_path);
    if (!shard) return shard.status().with(fmt::format("opening the shard '{}' that {} names", file, path));
    NEREID_RETURN_IF_ERROR(take_tensors(std::move(*shard), names, model).with("reading " + shard_path));
  }
  std::sort(model.tensors.begin(), model.tensors.end(),
            [](const Tensor& a, const Tensor& b) { return a.name < b.name; });
  return model;
}

}  // namespace nereid::import::safetensors
