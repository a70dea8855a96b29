// SPDX-License-Identifier: Apache-2.0
#include "cli/model_store.h"

#include <algorithm>

#include "base/checksum.h"
#include "base/file.h"

namespace nereid::cli {

int64_t NamedModel::bytes() const {
  int64_t sum = 0;
  for (const ModelFile& f : files) sum += f.bytes;
  return sum;
}

std::vector<NamedModel> group_models(const std::vector<ModelFile>& files) {
  std::vector<NamedModel> models;
  for (const ModelFile& f : files) {
    auto it = std::find_if(models.begin(), models.end(), [&](const NamedModel& m) { return m.name == f.name; });
    if (it == models.end())
      it = models.insert(it, {.name = f.name, .alias = f.alias, .purpose = f.purpose, .files = {}});
    it->files.push_back(f);
  }
  return models;
}

Result<NamedModel> find_model(const std::vector<NamedModel>& models, std::string_view name) {
  std::string names;
  for (const NamedModel& m : models) {
    if (!name.empty() && (m.name == name || m.alias == name)) return m;
    names += (names.empty() ? "" : ", ") + (m.alias.empty() ? m.name : m.alias);
  }
  return not_found("there is no model of the name '{}'; there are: {}", name, names);
}

FoundModel look_for(const NamedModel& model, const std::vector<std::string>& folders) {
  FoundModel best;
  for (const std::string& folder : folders) {
    const auto present = std::count_if(model.files.begin(), model.files.end(), [&](const ModelFile& f) {
      const Result<FileInfo> info = file_info(folder + "/" + f.path());
      return info.is_ok() && info->is_regular && info->size == f.bytes;
    });
    if (static_cast<size_t>(present) > best.present) best = {.folder = folder, .present = static_cast<size_t>(present)};
  }
  return best;
}

Status verify_file(const std::string& path, const ModelFile& file) {
  NEREID_TRY(const std::string sha256, sha256_of_file(path));
  if (sha256 == file.sha256) return Status::ok();
  return invalid_argument("'{}' has the SHA-256 checksum {}, but the list of models says {}", path, sha256,
                          file.sha256);
}

}  // namespace nereid::cli
