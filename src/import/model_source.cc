// SPDX-License-Identifier: Apache-2.0
#include "import/model_source.h"

#include <algorithm>
#include <span>

#include "base/checksum.h"
#include "import/format_table.h"

namespace nereid::import {

const SourceTensor* ModelSource::find(std::string_view name) const {
  const auto at = std::lower_bound(tensors.begin(), tensors.end(), name,
                                   [](const SourceTensor& t, std::string_view n) { return t.name < n; });
  return at != tensors.end() && at->name == name ? &*at : nullptr;
}

std::vector<std::string> ModelSource::weight_paths() const {
  std::vector<std::string> paths;
  for (const MappedFile& file : gguf ? gguf->files : hf->weights.files) paths.push_back(file.path());
  return paths;
}

uint64_t ModelSource::content_checksum() const {
  XxHash64 hasher;
  // Lengths before bytes, so that two different models never hash the same sequence.
  const auto add = [&hasher](std::string_view text) {
    const uint64_t size = text.size();
    hasher.update(std::as_bytes(std::span(&size, 1)));
    hasher.update(text);
  };
  add(gguf ? gguf->metadata.serialize() : hf->config.dump(-1, ' ', false, Json::error_handler_t::replace));
  for (const SourceTensor& tensor : tensors) {
    add(tensor.name);
    add(dtype_name(tensor.view.dtype));
    hasher.update(std::as_bytes(std::span(tensor.view.sizes)));
    add({static_cast<const char*>(tensor.view.data), static_cast<size_t>(tensor.view.bytes())});
  }
  return hasher.digest();
}

Result<ModelSource> open_model(const std::string& path) {
  NEREID_TRY(const Probe seen, probe(path));
  for (const ModelFormat& row : format_table())
    if (row.recognises(seen)) return row.open(path);
  return explain_unknown(seen);
}

}  // namespace nereid::import
