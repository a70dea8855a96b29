// SPDX-License-Identifier: Apache-2.0
// Views and in-place chains become groups with one lifetime; groups are placed by size.
#include "runtime/memory_plan.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace nereid::runtime {
namespace {

// Buffers that share their bytes: a buffer, its views, and what is written in place of it.
struct Group {
  int64_t size = 0;
  int64_t alignment = 1;
  int32_t first = 0;
  int32_t last = 0;
  int64_t offset = 0;
};

int64_t align_up(int64_t n, int64_t alignment) {
  return (n + alignment - 1) / alignment * alignment;
}

Status check(std::span<const PlanBuffer> buffers) {
  constexpr int64_t kLargest = int64_t{1} << 56;  // sums of any sensible number of buffers stay in 63 bits
  const auto count = static_cast<int32_t>(buffers.size());
  for (int32_t i = 0; i < count; ++i) {
    const PlanBuffer& b = buffers[static_cast<size_t>(i)];
    if (b.size_bytes < 0 || b.size_bytes > kLargest)
      return invalid_argument("buffer {} has a size of {} bytes", i, b.size_bytes);
    if (b.last_step < b.first_step)
      return invalid_argument("buffer {} lives from step {} to step {}", i, b.first_step, b.last_step);
    if (b.alignment < 1 || b.alignment > (1 << 30) || (b.alignment & (b.alignment - 1)) != 0)
      return invalid_argument("buffer {} has an alignment of {}, which is no power of two", i, b.alignment);
    for (int32_t other : {b.view_of, b.in_place_of})
      if (other < -1 || other >= i)
        return invalid_argument("buffer {} refers to buffer {}, which does not stand before it", i, other);
    if (b.view_of >= 0 && b.in_place_of >= 0) return invalid_argument("buffer {} is both a view and in place", i);
    if (b.view_of < 0) continue;
    const PlanBuffer& whole = buffers[static_cast<size_t>(b.view_of)];
    if (b.view_offset < 0 || b.view_offset > whole.size_bytes - b.size_bytes)
      return invalid_argument("buffer {} ({} bytes at {}) leaves buffer {} ({} bytes)", i, b.size_bytes, b.view_offset,
                              b.view_of, whole.size_bytes);
  }
  return Status::ok();
}

// The lowest offset of the tightest gap between `busy` ranges that fits; past the last one if none does.
int64_t best_gap(std::vector<std::pair<int64_t, int64_t>>& busy, const Group& group) {
  std::ranges::sort(busy);
  int64_t best = -1;
  int64_t best_size = 0;
  int64_t end = 0;
  for (auto [from, to] : busy) {
    const int64_t start = align_up(end, group.alignment);
    const int64_t gap = from - end;
    if (start + group.size <= from && (best < 0 || gap < best_size)) {
      best = start;
      best_size = gap;
    }
    end = std::max(end, to);
  }
  return best >= 0 ? best : align_up(end, group.alignment);
}

}  // namespace

Result<MemoryPlan> plan_memory(std::span<const PlanBuffer> buffers) {
  NEREID_RETURN_IF_ERROR(check(buffers));
  std::vector<size_t> group_of(buffers.size());
  std::vector<int64_t> inside(buffers.size(), 0);  // offset in the group
  std::vector<Group> groups;

  // How long each buffer's bytes are needed: as long as it or any view of it is read.
  std::vector<int32_t> needed_until(buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i) needed_until[i] = buffers[i].last_step;
  for (size_t i = buffers.size(); i-- > 0;)
    if (buffers[i].view_of >= 0) {
      int32_t& whole = needed_until[static_cast<size_t>(buffers[i].view_of)];
      whole = std::max(whole, needed_until[i]);
    }

  std::vector<bool> taken_over(buffers.size(), false);
  MemoryPlan plan;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const PlanBuffer& b = buffers[i];
    if (b.view_of >= 0) {
      const size_t whole = static_cast<size_t>(b.view_of);
      group_of[i] = group_of[whole];
      inside[i] = inside[whole] + b.view_offset;
      groups[group_of[i]].first = std::min(groups[group_of[i]].first, b.first_step);
      continue;
    }
    plan.sum_bytes += align_up(b.size_bytes, b.alignment);
    if (b.in_place_of >= 0) {
      const size_t source = static_cast<size_t>(b.in_place_of);
      const PlanBuffer& s = buffers[source];
      // Only a whole buffer that dies here can be taken over, once, by one that fits.
      if (s.view_of < 0 && !taken_over[source] && needed_until[source] <= b.first_step && s.first_step < b.first_step &&
          b.size_bytes <= s.size_bytes) {
        taken_over[source] = true;
        group_of[i] = group_of[source];
        inside[i] = inside[source];
        Group& g = groups[group_of[i]];
        g.last = std::max(g.last, needed_until[i]);
        g.alignment = std::max(g.alignment, b.alignment);
        continue;
      }
    }
    group_of[i] = groups.size();
    groups.push_back({.size = b.size_bytes, .alignment = b.alignment, .first = b.first_step, .last = needed_until[i]});
  }

  std::vector<size_t> by_size(groups.size());
  std::iota(by_size.begin(), by_size.end(), size_t{0});
  std::ranges::stable_sort(by_size, [&](size_t a, size_t b) { return groups[a].size > groups[b].size; });
  std::vector<size_t> placed;
  for (size_t g : by_size) {
    Group& group = groups[g];
    if (group.size == 0) continue;
    std::vector<std::pair<int64_t, int64_t>> busy;
    for (size_t p : placed)
      if (groups[p].first <= group.last && group.first <= groups[p].last)
        busy.emplace_back(groups[p].offset, groups[p].offset + groups[p].size);
    group.offset = best_gap(busy, group);
    plan.arena_bytes = std::max(plan.arena_bytes, group.offset + group.size);
    placed.push_back(g);
  }

  for (size_t i = 0; i < buffers.size(); ++i) plan.offsets.push_back(groups[group_of[i]].offset + inside[i]);
  std::map<int32_t, int64_t> changes;  // bytes that come alive and die, by step
  for (const Group& g : groups) {
    changes[g.first] += g.size;
    changes[g.last + 1] -= g.size;
  }
  int64_t alive = 0;
  for (const auto& [step, change] : changes) plan.bound_bytes = std::max(plan.bound_bytes, alive += change);
  return plan;
}

}  // namespace nereid::runtime
