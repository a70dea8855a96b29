// SPDX-License-Identifier: Apache-2.0
// The models of a list by name, and which of their files lie in which folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/model_list.h"

namespace nereid::cli {

struct NamedModel {
  std::string name, alias, purpose;
  std::vector<ModelFile> files;
  int64_t bytes() const;
  std::string licence() const { return files.front().licence; }
};

// One for each name, in the order of the list.
std::vector<NamedModel> group_models(const std::vector<ModelFile>& files);
// By name or alias. kNotFound names what there is.
Result<NamedModel> find_model(const std::vector<NamedModel>& models, std::string_view name);

struct FoundModel {
  std::string folder;  // where the most files are; empty: nowhere
  size_t present = 0;  // files of the right size there
};
// In the first folder that has all files, else in the one that has most. Looks at sizes alone.
FoundModel look_for(const NamedModel& model, const std::vector<std::string>& folders);

// Reads the whole file: kNotFound when it is absent, kInvalidArgument (both checksums named) when it is another.
Status verify_file(const std::string& path, const ModelFile& file);

}  // namespace nereid::cli
