// SPDX-License-Identifier: Apache-2.0
// Copying elements, and what can be wrong with indices.
#include "ops/move.h"

#include <algorithm>

#include "base/check.h"
#include "ops/elements.h"

namespace nereid::ops {
namespace {

constexpr int64_t kMostDimensions = 256;

bool is_every_place(const std::vector<int64_t>& at, int64_t size) {
  if (static_cast<int64_t>(at.size()) != size) return false;
  for (size_t i = 0; i < at.size(); ++i)
    if (at[i] != static_cast<int64_t>(i)) return false;
  return true;
}

// Counts the index up in row-major order; false after the last one.
bool step_on(std::vector<int64_t>& index, std::span<const int64_t> sizes) {
  for (size_t d = index.size(); d-- > 0;) {
    if (++index[d] < sizes[d]) return true;
    index[d] = 0;
  }
  return false;
}

}  // namespace

std::vector<int64_t> row_major_steps(std::span<const int64_t> sizes) {
  std::vector<int64_t> steps(sizes.size(), 1);
  for (size_t d = sizes.size(); d-- > 1;) steps[d - 1] = steps[d] * sizes[d];
  return steps;
}

void copy_by_steps(const TensorView& y, const ConstTensorView& x, std::span<const int64_t> steps, int64_t start) {
  NEREID_DCHECK(steps.size() == y.sizes.size());
  if (y.elements() == 0) return;
  // The last dimensions of which y is a piece of x are copied in one go.
  int64_t run = 1;
  size_t outer = y.sizes.size();
  while (outer > 0 && (steps[outer - 1] == run || y.sizes[outer - 1] == 1)) run *= y.sizes[--outer];
  std::vector<int64_t> index(outer, 0);
  for (int64_t at = 0;; at += run) {
    int64_t from = start;
    for (size_t d = 0; d < outer; ++d) from += index[d] * steps[d];
    copy_elements(y, at, x, from, run);
    if (!step_on(index, y.sizes)) return;
  }
}

void copy_by_places(const TensorView& y, const ConstTensorView& x, const std::vector<std::vector<int64_t>>& at) {
  if (y.elements() == 0) return;
  if (y.sizes.empty()) return copy_elements(y, 0, x, 0, 1);
  const std::vector<int64_t> steps = row_major_steps(x.sizes);
  // Whole blocks of the last dimensions, then runs along the dimension before them.
  int64_t block = 1;
  size_t last = y.sizes.size() - 1;
  while (last > 0 && is_every_place(at[last], x.sizes[last])) block *= x.sizes[last--];
  struct Run {
    int64_t dst, src, count;
  };
  std::vector<Run> runs;
  for (size_t i = 0; i < at[last].size(); ++i) {
    if (at[last][i] < 0) continue;
    const auto here = static_cast<int64_t>(i);
    if (!runs.empty() && runs.back().dst + runs.back().count == here &&
        runs.back().src + runs.back().count == at[last][i]) {
      ++runs.back().count;
    } else {
      runs.push_back({here, at[last][i], 1});
    }
  }
  std::vector<int64_t> index(last, 0);
  for (int64_t row = 0;; row += y.sizes[last] * block) {
    int64_t from = 0;
    bool there = true;
    for (size_t d = 0; d < last && there; ++d) {
      const int64_t place = at[d][static_cast<size_t>(index[d])];
      there = place >= 0;
      from += place * steps[d];
    }
    for (size_t r = 0; there && r < runs.size(); ++r)
      copy_elements(y, row + runs[r].dst * block, x, from + runs[r].src * block, runs[r].count * block);
    if (!step_on(index, y.sizes)) return;
  }
}

std::vector<int64_t> every_place(int64_t n) {
  std::vector<int64_t> at(static_cast<size_t>(n));
  for (size_t i = 0; i < at.size(); ++i) at[i] = static_cast<int64_t>(i);
  return at;
}

void fill(const TensorView& y, const ConstTensorView& value, int64_t index) {
  const int64_t n = y.elements();
  if (n == 0) return;
  copy_elements(y, 0, value, index, 1);
  // Each copy doubles what is there.
  for (int64_t done = 1; done < n;) {
    const int64_t count = std::min(done, n - done);
    copy_elements(y, done, y, 0, count);
    done += count;
  }
}

Status copy_all(const TensorView& y, const ConstTensorView& x) {
  NEREID_CHECK(y.elements() == x.elements());
  copy_elements(y, 0, x, 0, y.elements());
  return Status::ok();
}

Status is_movable(const ShapeRule& rule, size_t i) {
  if (!is_block_format(rule.type(i).dtype)) return Status::ok();
  return unsupported("{} cannot be moved: its elements share bytes", rule.describe(i));
}

Status is_rank(int64_t rank) {
  if (rank >= 0 && rank <= kMostDimensions) return Status::ok();
  return invalid_argument("a result of {} dimensions is asked for; tensors have at most {}", rank, kMostDimensions);
}

Result<Shape> shape_of_rank(const Dim& rank) {
  if (!rank.is_static()) return Shape::unranked();
  NEREID_RETURN_IF_ERROR(is_rank(rank.size()));
  return Shape(std::vector<Dim>(static_cast<size_t>(rank.size()), Dim::unknown()));
}

Result<std::vector<size_t>> wrap_axes(std::span<const int64_t> axes, int rank, std::string_view what) {
  std::vector<size_t> out;
  std::vector<bool> seen(static_cast<size_t>(rank), false);
  for (int64_t axis : axes) {
    if (axis < -rank || axis >= rank)
      return invalid_argument("{} holds {}, but there are {} dimensions", what, axis, rank);
    const auto d = static_cast<size_t>(axis < 0 ? axis + rank : axis);
    if (seen[d]) return invalid_argument("{} holds dimension {} twice", what, d);
    seen[d] = true;
    out.push_back(d);
  }
  return out;
}

Result<int64_t> wrap_index(int64_t index, int64_t size, std::string_view what, int64_t place) {
  if (index >= -size && index < size) return index < 0 ? index + size : index;
  return invalid_argument("{}[{}] is {}, but there are {} to choose from", what, place, index, size);
}

Result<std::optional<int64_t>> known_scalar(const InferContext& ctx, const ShapeRule& rule, size_t i) {
  const DType dtype = rule.type(i).dtype;
  const auto count = rule.shape(i).elements();
  if (!is_integer(dtype) || (rule.shape(i).is_static() && count != 1))
    return invalid_argument("{} should be one integer", rule.describe(i));
  const auto values = known_integers(ctx, i);
  if (!values || values->size() != 1) return std::optional<int64_t>();
  return std::optional<int64_t>((*values)[0]);
}

}  // namespace nereid::ops
