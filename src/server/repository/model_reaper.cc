// SPDX-License-Identifier: Apache-2.0
#include "server/repository/model_reaper.h"

#include <chrono>

#include "base/release_free_memory.h"

namespace nereid::server {
namespace {

constexpr int kMostLastUseMs = 10'000;  // that a model which goes is waited for before it refuses requests

}  // namespace

ModelReaper::ModelReaper() : thread_([this] { work(); }) {}

ModelReaper::~ModelReaper() {
  {
    const std::lock_guard lock(mutex_);
    is_closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ModelReaper::add(std::shared_ptr<InferModel> model, std::function<void()> gone) {
  {
    const std::lock_guard lock(mutex_);
    leaving_.push_back({std::move(model), std::move(gone)});
    ++count_;
  }
  changed_.notify_all();
}

void ModelReaper::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return count_ == 0; });
}

void ModelReaper::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return is_closing_ || !leaving_.empty(); });
    if (leaving_.empty()) return;
    Leaving one = std::move(leaving_.front());
    leaving_.pop_front();
    lock.unlock();
    // Whoever has found it already may still ask it something, so that a reload loses no request.
    for (int ms = 0; one.model.use_count() > 1 && ms < kMostLastUseMs; ++ms)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    one.model->drain();
    one.model.reset();
    release_free_memory();
    if (one.gone) one.gone();
    lock.lock();
    --count_;
    changed_.notify_all();
  }
}

}  // namespace nereid::server
