// SPDX-License-Identifier: Apache-2.0
// What one load of a model is made from: its folder in a repository, or files and a configuration from a request.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/core/infer_models.h"
#include "server/repository/config_file.h"
#include "server/repository/store/model_store.h"

namespace nereid::server {

struct ModelSource {
  std::string name;
  std::string folder;
  std::string config_json;  // instead of the folder's config.pbtxt; "": none
  std::vector<int64_t> versions;
  uint64_t mark = 0;              // of the folder (layout.h); 0: made from a request, so never the same
  ModelStore* store = nullptr;    // where its files are still to be copied from
  std::shared_ptr<void> scratch;  // removes a folder that was made for it
};

using ModelStores = std::vector<std::unique_ptr<ModelStore>>;

// kNotFound: no such folder, here or in a store; kInvalidArgument: two of them, files without a configuration, a file
// outside the folder; a store's errors.
Result<std::shared_ptr<const ModelSource>> find_source(const std::string& name, const std::vector<std::string>& folders,
                                                       const ModelStores& stores, const LoadOverride& instead);
// The same with its files on this machine, should they lie in a store.
Result<std::shared_ptr<const ModelSource>> bring_source(std::shared_ptr<const ModelSource> source);
// With its name checked. A folder without config.pbtxt has an empty one.
Result<ConfigFile> read_config(const ModelSource& source);
// One label a line, for each output of the configuration.
Result<std::vector<std::vector<std::string>>> read_labels(const ModelConfig& config, const std::string& folder);

}  // namespace nereid::server
