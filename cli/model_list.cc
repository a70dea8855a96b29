// SPDX-License-Identifier: Apache-2.0
#include "cli/model_list.h"

#include <algorithm>

#include "base/json.h"

namespace nereid::cli {

std::string ModelFile::path() const {
  std::string folder = package;
  std::replace(folder.begin(), folder.end(), '-', '_');
  return fmt::format("{}-{}/{}", folder, version, file);
}

Result<std::vector<ModelFile>> read_model_list(std::string_view json) {
  NEREID_TRY(const Json rows, parse_json(json).with("the list of models"));
  std::vector<ModelFile> files;
  for (const Json& row : rows) {
    ModelFile f;
    NEREID_TRY(f.name, json_string(row, "name"));
    NEREID_TRY(f.alias, json_string_or(row, "alias", ""));
    NEREID_TRY(f.purpose, json_string(row, "purpose"));
    NEREID_TRY(f.package, json_string(row, "package"));
    NEREID_TRY(f.version, json_string(row, "version"));
    NEREID_TRY(f.kind, json_string(row, "kind"));
    NEREID_TRY(f.file, json_string(row, "file"));
    NEREID_TRY(f.bytes, json_int(row, "bytes"));
    NEREID_TRY(f.sha256, json_string(row, "sha256"));
    NEREID_TRY(f.licence, json_string(row, "licence"));
    files.push_back(std::move(f));
  }
  return files;
}

}  // namespace nereid::cli
