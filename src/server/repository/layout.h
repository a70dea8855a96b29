// SPDX-License-Identifier: Apache-2.0
// How a model repository lies on the disk: REPOSITORY/MODEL/{config.pbtxt, VERSION/files}, and which names may not
// leave it. A version is a folder whose name is a number without a leading zero; everything else beside it is left
// alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "server/repository/config_file.h"

namespace nereid::server {

// kInvalidArgument: not one folder's name ("", ".", "..", "a/b", a name with a control character).
Status check_model_name(std::string_view name);
// kInvalidArgument: a path that is empty, begins at the root or has ".." in it.
Status check_inner_path(std::string_view path);

// Names of the folders in it, sorted. kNotFound: there is no such folder; kUnavailable: it cannot be
// listed.
Result<std::vector<std::string>> list_models(const std::string& repository);
// Ascending.
std::vector<int64_t> list_versions(const std::string& model_folder);
// Names of what lies in a folder, sorted.
std::vector<std::string> list_files(const std::string& folder);
// Those of `there` that the policy picks, ascending.
std::vector<int64_t> pick_versions(const VersionPolicy& policy, const std::vector<int64_t>& there);

// Changes when a file below the folder comes, goes, grows or is written to.
uint64_t folder_mark(const std::string& folder);
// The same for copies of a folder that keep the times of its files (in seconds), wherever they lie.
uint64_t content_mark(const std::string& folder);

}  // namespace nereid::server
