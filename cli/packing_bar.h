// SPDX-License-Identifier: Apache-2.0
// The progress bar of weights that are packed. None is shown for an engine that is found.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/progress.h"

namespace nereid::cli {

class PackingBar {
 public:
  // Bytes done, and their total; what it is told to must not outlive the bar.
  std::function<void(int64_t, int64_t)> listener() {
    return [this](int64_t done, int64_t total) {
      if (!bar_)
        bar_ = std::make_unique<Progress>(
            ProgressOptions{.what = "packing the weights", .total = total, .unit = Progress::Unit::bytes});
      bar_->set(done);
    };
  }
  // They are packed, or were.
  void finish() {
    if (bar_) bar_->finish();
  }

 private:
  std::unique_ptr<Progress> bar_;
};

}  // namespace nereid::cli
