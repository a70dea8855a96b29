// SPDX-License-Identifier: Apache-2.0
// The models that a server offers and how to change which: what protocols ask. server/repository implements it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/infer_model.h"

namespace nereid::server {

enum class ModelState : uint8_t { kUnknown, kReady, kUnavailable, kLoading, kUnloading };
std::string_view model_state_name(ModelState state);  // "READY"

struct IndexRow {
  std::string name;
  std::string version;  // "": never loaded
  ModelState state = ModelState::kUnknown;
  std::string reason;
};

// Instead of what lies in the repository, for one load.
struct LoadOverride {
  std::string config;                        // JSON; "": none
  std::map<std::string, std::string> files;  // "1/model.onnx" -> its bytes
};

// Thread-safe.
class InferModels {
 public:
  virtual ~InferModels() = default;
  // version -1: the latest that is ready. kNotFound, with the sentence that clients know; kUnavailable: there is none
  // that is ready.
  virtual Result<std::shared_ptr<InferModel>> find(std::string_view name, int64_t version) const = 0;
  // All versions that are ready, in order.
  virtual std::vector<std::shared_ptr<InferModel>> ready(std::string_view name) const = 0;
  virtual std::vector<std::shared_ptr<InferModel>> all_ready() const = 0;
  virtual std::vector<IndexRow> index(bool ready_only) = 0;
  // True when everything that should answer does.
  virtual bool is_ready() const = 0;

  // Returns when it is loaded. kUnavailable: the server's mode does not allow it; kInternal: nothing to load can be
  // read; kInvalidArgument: it cannot be loaded, and why.
  virtual Status load(const std::string& name, const LoadOverride& instead) = 0;
  // Returns at once; what runs may end.
  virtual Status unload(const std::string& name, bool with_dependents) = 0;
};

}  // namespace nereid::server
