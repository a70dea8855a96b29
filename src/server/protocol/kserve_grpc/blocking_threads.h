// SPDX-License-Identifier: Apache-2.0
// Threads for what may block for long: a model's load.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace nereid::server::kserve {

class BlockingThreads {
 public:
  BlockingThreads();
  // Waits for what runs.
  ~BlockingThreads();
  void run(std::function<void()> work);

 private:
  struct One;
  std::mutex mutex_;
  std::vector<std::unique_ptr<One>> all_;
};

}  // namespace nereid::server::kserve
