// SPDX-License-Identifier: Apache-2.0
// Lets models go on a thread of its own: each is waited for until nobody uses it and nothing of it runs.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "server/core/infer_model.h"

namespace nereid::server {

class ModelReaper {
 public:
  ModelReaper();
  // Returns when all are gone.
  ~ModelReaper();

  // `gone` is called on the reaper's thread when it is.
  void add(std::shared_ptr<InferModel> model, std::function<void()> gone);
  // Returns when all that were added are gone.
  void wait();

 private:
  struct Leaving {
    std::shared_ptr<InferModel> model;
    std::function<void()> gone;
  };
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Leaving> leaving_;
  int count_ = 0;  // with the one at work
  bool is_closing_ = false;
  std::thread thread_;
};

}  // namespace nereid::server
