// SPDX-License-Identifier: Apache-2.0
// The backends there are, by the names that configurations give to "backend" and "platform".
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "server/core/backend.h"

namespace nereid::server {

class BackendTable {
 public:
  // kInvalidArgument, with the sentence that clients know. Made when it is first asked for, and kept.
  Result<Backend*> find(const ModelConfig& config);

 private:
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Backend>, std::less<>> made_;
};

}  // namespace nereid::server
