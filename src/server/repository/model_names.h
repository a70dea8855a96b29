// SPDX-License-Identifier: Apache-2.0
// Names of the models that repositories hold. One that cannot be read (a disk that went, a store that does not answer)
// holds what it held last: its models have not gone.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "server/repository/model_source.h"

namespace nereid::server {

// Thread-safe. The folders and stores must outlive it.
class ModelNames {
 public:
  ModelNames(const std::vector<std::string>& folders, const ModelStores& stores) : folders_(folders), stores_(stores) {}

  // Sorted, each once. `is_whole`: false where one could not be read, which the log says once.
  std::vector<std::string> look(bool* is_whole = nullptr);
  // In a folder now, or in a repository when it was last looked at.
  bool holds(const std::string& name);

 private:
  bool take(const std::string& repository, Result<std::vector<std::string>> names);

  const std::vector<std::string>& folders_;
  const ModelStores& stores_;
  std::mutex mutex_;
  std::map<std::string, std::vector<std::string>> known_;  // by repository, when it last answered
  std::set<std::string> unreadable_;
};

}  // namespace nereid::server
