// SPDX-License-Identifier: Apache-2.0
// Where buffers lie in one arena: those that live at the same time apart, the others on top of each other.
//
// Pure: sizes and lifetimes in, offsets out. Lifetimes are counted in steps (positions of nodes in the execution
// order), both ends included: a buffer that step 3 reads may not share bytes with one that step 3 writes, unless the
// writer is declared to write in place. A plan is made for bound sizes; another batch size needs another plan.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"

namespace nereid::runtime {

struct PlanBuffer {
  int64_t size_bytes = 0;
  int32_t first_step = 0;  // the step that writes it
  int32_t last_step = 0;   // the last step that reads it
  int64_t alignment = 64;  // bytes, a power of two
  // A view lies at a fixed place inside another buffer (a part of a split) and keeps that one alive.
  int32_t view_of = -1;
  int64_t view_offset = 0;
  // May take over this buffer's bytes if that one is not needed after first_step (a residual added in place).
  int32_t in_place_of = -1;
};

struct MemoryPlan {
  std::vector<int64_t> offsets;  // by buffer, bytes from the arena's start
  int64_t arena_bytes = 0;
  int64_t sum_bytes = 0;    // of all buffers that are no views, aligned: what no plan at all would take
  int64_t bound_bytes = 0;  // the most that is alive in one step: no plan can take less (in-place pairs counted once)
};

// Greedy: the largest buffers first, each into the tightest gap among those that are placed and alive with it.
// kInvalidArgument names the buffer and the field: negative sizes, lifetimes that end before they begin, an alignment
// that is no power of two, views that leave their buffer or stand in a cycle.
Result<MemoryPlan> plan_memory(std::span<const PlanBuffer> buffers);

}  // namespace nereid::runtime
