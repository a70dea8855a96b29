// SPDX-License-Identifier: Apache-2.0
#include "llm/run/mask_maker.h"

#include <pthread.h>

#include <utility>

namespace nereid::llm {

MaskMaker::~MaskMaker() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void MaskMaker::start(std::vector<Answer*> answers, size_t vocabulary) {
  if (answers.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    answers_ = std::move(answers);
    vocabulary_ = vocabulary;
    next_ = 0;
    is_wanted_ = true;
  }
  if (!thread_.joinable()) {
    thread_ = std::thread([this] { work(); });
    (void)pthread_setname_np(thread_.native_handle(), "nereid-masks");
  }
  changed_.notify_all();
}

void MaskMaker::make_some() {
  for (size_t i = next_.fetch_add(1); i < answers_.size(); i = next_.fetch_add(1))
    answers_[i]->prepare_mask(vocabulary_);
}

void MaskMaker::finish() {
  if (answers_.empty()) return;
  make_some();
  std::unique_lock lock(mutex_);
  is_wanted_ = false;  // a thread that has not begun finds nothing left
  changed_.wait(lock, [this] { return !is_at_work_; });
  answers_.clear();
}

void MaskMaker::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return is_wanted_ || is_ending_; });
    if (is_ending_) return;
    is_wanted_ = false;
    is_at_work_ = true;
    lock.unlock();
    make_some();
    lock.lock();
    is_at_work_ = false;
    changed_.notify_all();
  }
}

}  // namespace nereid::llm
