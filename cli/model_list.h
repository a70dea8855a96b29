// SPDX-License-Identifier: Apache-2.0
// The models that Nereid knows by name: scripts/models.json, compiled into the program.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace nereid::cli {

extern const std::string_view kModelListJson;

// One file of a model; a model may have several rows of the same name.
struct ModelFile {
  std::string name, alias;  // alias may be empty
  std::string purpose;      // "demo": for users; "test": for the tests
  std::string package, version;
  std::string kind;  // "wheel" or "sdist": how the package is packed
  std::string file;  // inside the package
  int64_t bytes = 0;
  std::string sha256;
  std::string licence;

  // Where it lies below a models folder: "<package with '_' for '-'>-<version>/<file>", as scripts/fetch_models lays
  // it.
  std::string path() const;
};

// The list that was compiled in, or another one of the same form. kNotFound or kInvalidArgument for a row that lacks a
// field or has it of another type.
Result<std::vector<ModelFile>> read_model_list(std::string_view json = kModelListJson);

}  // namespace nereid::cli
