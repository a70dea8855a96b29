// SPDX-License-Identifier: Apache-2.0
// Opened models that another load may go on with: one that changes nothing but the number of instances reads no
// weights.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "server/core/backend.h"

namespace nereid::server {

// Thread-safe.
class SharedBackends {
 public:
  using Open = std::function<Result<std::unique_ptr<BackendModel>>()>;

  // What is open under the key, ready for instances as the configuration has them; else what `open` gives, which is
  // kept for as long as somebody serves it.
  Result<std::unique_ptr<BackendModel>> open(const std::string& key, const ModelConfig& config, const Open& open);

 private:
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<BackendModel>> models_;
};

// The version's files as they are now, and of the configuration all but its instances. "": it cannot be told.
std::string backend_key(const std::string& config_json, const ModelPlace& place);

}  // namespace nereid::server
