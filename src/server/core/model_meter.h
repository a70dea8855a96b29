// SPDX-License-Identifier: Apache-2.0
// Counts what a model does: the numbers of the statistics extension and of the nv_inference_* metrics.
#pragma once

#include <mutex>

#include "server/core/infer_statistics.h"

namespace nereid::server {

// Any thread.
class ModelMeter {
 public:
  struct Spans {  // of one execution, by now_ns()
    int64_t begin_ns = 0, input_end_ns = 0, infer_end_ns = 0, end_ns = 0;
  };

  // `first_ns`: of the first response; 0: that was also the last.
  void add_success(int64_t items, int64_t arrival_ns, int64_t begin_ns, int64_t end_ns, int64_t first_ns = 0);
  void add_failure(InferFailure why, int64_t arrival_ns, int64_t end_ns);
  // A batch of `requests` with `items` together.
  void add_execution(int64_t items, int64_t requests, const Spans& spans);
  // An answer that was found, looked for from `begin_ns` on.
  struct Lookup {
    int64_t arrival_ns = 0, begin_ns = 0, end_ns = 0;
  };
  void add_cache_hit(const Lookup& lookup);
  // One that was not; `by_ns` went into looking for it and into keeping it.
  void add_cache_miss(int64_t by_ns);
  void set_load_s(double seconds);
  InferStatistics read() const;

 private:
  mutable std::mutex mutex_;
  InferStatistics sums_;
};

}  // namespace nereid::server
