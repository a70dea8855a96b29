// SPDX-License-Identifier: Apache-2.0
// A problem with memory to work on, to be run in any of its ways.
//
// The policy of caches is that of a network in use: the activations were just written by the layer before, so they are
// where a run leaves them; the weights were last read one run of the network ago. Where all weights of the network do
// not fit into the workers' L2, copies of a layer's weights take turns, as many bytes together as the network's
// weights, so that each comes from as far as it will later. (With 16 MiB of copies ResNet-50's Winograd weights of 9
// MiB seemed cheap that in the network cost more than they save.)
#pragma once

#include <memory>

#include "base/buffer.h"
#include "base/thread_pool.h"
#include "kernels/cpu/isa_kernels.h"
#include "kernels/cpu/tactic.h"

namespace nereid::tune {

struct WorkloadOptions {
  int64_t cold_bytes = 0;  // copies of the weights take so many bytes together, up to 256 MiB; 0: one copy
  std::shared_ptr<Buffer> weights = std::make_shared<Buffer>();  // their memory, which one problem after another uses
};

class Workload {
 public:
  // kExhausted: more memory than a timing is worth (2 GiB), or than there is.
  static Result<std::unique_ptr<Workload>> create(const kernels::Problem& problem, const kernels::IsaKernels& kernels,
                                                  ThreadPool& pool, const WorkloadOptions& options);
  // Makes what one more tactic needs: scratch and weights. Before the first run; kExhausted as above.
  Status prepare(const kernels::Tactic& tactic);
  // The work, so many times, by all workers; prepared before.
  void run(const kernels::Tactic& tactic, int64_t times);

 private:
  Workload(const kernels::Problem& problem, const kernels::IsaKernels& kernels, ThreadPool& pool)
      : problem_(problem), kernels_(kernels), pool_(pool) {}
  int64_t weight_bytes(const kernels::Tactic& tactic) const;
  int64_t scratch_bytes(const kernels::Tactic& tactic) const;

  kernels::Problem problem_;
  const kernels::IsaKernels& kernels_;
  ThreadPool& pool_;
  int64_t cold_bytes_ = 0;
  int64_t turn_ = 0;
  Buffer x_, y_, bias_, scratch_;
  std::shared_ptr<Buffer> weights_;
};

// Multiplications and additions of one run.
double problem_flops(const kernels::Problem& problem);

}  // namespace nereid::tune
