// SPDX-License-Identifier: Apache-2.0
// What is wrong with a repository, found without loading it: each mistake with its place and what to do.
#pragma once

#include <string>
#include <vector>

#include "server/repository/repository.h"

namespace nereid::server {

struct LintFinding {
  std::string model;
  std::string message;  // a sentence; begins with the file and line where there is one
  std::string fix;      // what to do
};

// A folder with at least one folder in it that has a config.pbtxt or numbered versions, or with nothing in it; also
// what names a store.
bool looks_like_repository(const std::string& folder);
// In the order of the models. kNotFound: a folder that cannot be read; kUnsupported: it lies in a store.
Result<std::vector<LintFinding>> lint_repository(const std::string& folder, ModelLoader& loader);

}  // namespace nereid::server
