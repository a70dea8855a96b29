// SPDX-License-Identifier: Apache-2.0
// Requests that ask the same at one moment: the first runs, the others wait for its answer.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace nereid::server {

// Thread-safe. `Waiting` is what a request that waits is kept as.
template <typename Waiting>
class EqualRequests {
 public:
  // True: one of that key runs, and `waiting` is kept until it ends. False: this is the first; it has to end.
  bool join(const std::string& key, const std::shared_ptr<Waiting>& waiting) {
    const std::lock_guard lock(mutex_);
    const auto [it, is_first] = running_.try_emplace(key);
    if (!is_first) it->second.push_back(waiting);
    return !is_first;
  }
  // Who waits for it; from now on the next of that key is a first one.
  std::vector<std::shared_ptr<Waiting>> end(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto it = running_.find(key);
    if (it == running_.end()) return {};
    std::vector<std::shared_ptr<Waiting>> waiting = std::move(it->second);
    running_.erase(it);
    return waiting;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::vector<std::shared_ptr<Waiting>>> running_;
};

}  // namespace nereid::server
