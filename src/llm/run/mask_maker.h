// SPDX-License-Identifier: Apache-2.0
// Masks of grammars beside the forward pass: a thread makes those that the step at hand will want while the model runs.
//
// A mask follows from the tokens before it alone, so who makes it and when changes nothing of an answer.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "llm/run/answer.h"

namespace nereid::llm {

// One thread calls it.
class MaskMaker {
 public:
  MaskMaker() = default;
  ~MaskMaker();
  MaskMaker(const MaskMaker&) = delete;
  MaskMaker& operator=(const MaskMaker&) = delete;

  // Begins with the masks of these answers, over so many tokens; finish() comes before they are drawn from, and before
  // the next start(). The thread is made at the first call.
  void start(std::vector<Answer*> answers, size_t vocabulary);
  // Makes what nobody has begun, waits for the rest.
  void finish();

 private:
  void work();
  void make_some();

  std::vector<Answer*> answers_;
  size_t vocabulary_ = 0;
  std::atomic<size_t> next_{0};
  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  bool is_wanted_ = false, is_at_work_ = false, is_ending_ = false;
  std::thread thread_;
};

}  // namespace nereid::llm
