// SPDX-License-Identifier: Apache-2.0
#include "server/repository/model_names.h"

#include <algorithm>
#include <filesystem>

#include "base/log.h"
#include "server/repository/layout.h"

namespace nereid::server {

std::vector<std::string> ModelNames::look(bool* is_whole) {
  bool whole = true;
  for (const std::string& folder : folders_) whole &= take(folder, list_models(folder));
  for (const std::unique_ptr<ModelStore>& store : stores_) whole &= take(store->address(), store->models());
  if (is_whole != nullptr) *is_whole = whole;
  std::vector<std::string> names;
  const std::lock_guard lock(mutex_);
  for (const auto& [repository, held] : known_) names.insert(names.end(), held.begin(), held.end());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

bool ModelNames::holds(const std::string& name) {
  const auto lies_in = [&](const std::string& folder) {
    std::error_code error;
    return std::filesystem::is_directory(folder + "/" + name, error);
  };
  if (std::any_of(folders_.begin(), folders_.end(), lies_in)) return true;
  const std::lock_guard lock(mutex_);
  return std::any_of(known_.begin(), known_.end(),
                     [&](const auto& one) { return std::binary_search(one.second.begin(), one.second.end(), name); });
}

bool ModelNames::take(const std::string& repository, Result<std::vector<std::string>> names) {
  const std::lock_guard lock(mutex_);
  if (names.is_ok()) {
    known_[repository] = std::move(*names);
    if (unreadable_.erase(repository) > 0) log_info("the model repository {} can be read again", repository);
    return true;
  }
  if (unreadable_.insert(repository).second)
    log_warn("the model repository {} cannot be read; its models stay as they are until it can: {}", repository,
             names.status().message());
  return false;
}

}  // namespace nereid::server
