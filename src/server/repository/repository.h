// SPDX-License-Identifier: Apache-2.0
// The models of one or more folders, and which versions of them are loaded: the state machine behind the repository
// extension. It knows no backend: a ModelLoader opens what it finds.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/core/backend.h"
#include "server/core/infer_models.h"

namespace nereid::server {

enum class ControlMode : uint8_t {
  kNone,      // everything is loaded at the start, and stays
  kPoll,      // the folders are looked at again and again
  kExplicit,  // requests load and unload
};

struct RepositoryOptions {
  std::vector<std::string> folders;  // of this machine, or s3://... (store/model_store.h)
  ControlMode mode = ControlMode::kNone;
  std::vector<std::string> load;  // in explicit mode, at the start; "*": all
  bool strict_readiness = true;   // ready only when everything known is
  bool completes_configs = true;  // from the models' files
};

struct LoadedConfig {
  ModelConfig config;
  std::string json;
  std::vector<std::vector<std::string>> labels;  // of each output, by index
};

class ModelLoader {
 public:
  virtual ~ModelLoader() = default;
  virtual Result<ConfigCompletion> complete(const ModelConfig& config, const ModelPlace& place) = 0;
  virtual Result<std::shared_ptr<InferModel>> load(const LoadedConfig& loaded, const ModelPlace& place) = 0;
  // What load() would refuse and can be seen without it: no weights are read, nothing runs. `find` gives the
  // configurations of other models, for an ensemble's steps.
  using FindConfig = std::function<Result<ModelConfig>(const std::string& model, int64_t version)>;
  virtual Status check(const LoadedConfig& /*loaded*/, const ModelPlace& /*place*/, const FindConfig& /*find*/) {
    return Status::ok();
  }
};

class Repository : public InferModels {
 public:
  // kNotFound: a folder that cannot be read; a store's errors. The loader must outlive it.
  static Result<std::unique_ptr<Repository>> open(RepositoryOptions options, ModelLoader& loader);
  // Loads what the mode says. An error names the models that failed; the others are loaded all the same.
  virtual Status start() = 0;
  // Looks at the folders once and loads, reloads and unloads accordingly; what cannot be read keeps its last version.
  virtual void poll() = 0;
  // Unloads everything and returns when it is done.
  virtual void stop() = 0;
  // Called, on any thread, with a version that answers from now on, and with one that no longer does.
  using Watcher = std::function<void(const std::shared_ptr<InferModel>& model, bool is_loaded)>;
  virtual void watch(Watcher watcher) = 0;
};

}  // namespace nereid::server
