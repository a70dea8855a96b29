// SPDX-License-Identifier: Apache-2.0
#include "server/core/batch_inputs.h"

#include <algorithm>
#include <cstring>

namespace nereid::server {
namespace {

using Sources = std::span<const InferTensor* const>;

int64_t elements_of(const InferTensor* source) {
  return source == nullptr ? 0 : element_count(source->shape);
}

std::vector<int64_t> counts_of(Sources sources) {
  std::vector<int64_t> out;
  for (const InferTensor* source : sources) out.push_back(elements_of(source));
  return out;
}

std::vector<int64_t> sums_of(Sources sources, bool has_zero) {
  std::vector<int64_t> out;
  out.reserve(sources.size() + 1);
  if (has_zero) out.push_back(0);
  int64_t sum = 0;
  for (const InferTensor* source : sources) out.push_back(sum += elements_of(source));
  return out;
}

// The sizes of every item, one item after the other; `width` gets how many each has.
Result<std::vector<int64_t>> item_shapes(Sources sources, bool has_batch, int64_t* width) {
  std::vector<int64_t> out;
  *width = -1;
  for (const InferTensor* source : sources) {
    if (source == nullptr) continue;
    const std::span<const int64_t> item = std::span(source->shape).subspan(has_batch ? 1 : 0);
    const auto sizes = static_cast<int64_t>(item.size());
    if (*width >= 0 && sizes != *width)
      return invalid_argument(
          "requests of one batch have {} and {} sizes in the input '{}', whose shapes are told as "
          "one tensor",
          *width, sizes, source->name);
    *width = sizes;
    for (int64_t i = has_batch ? source->shape[0] : 1; i > 0; --i)
      for (const int64_t size : item) out.push_back(size);
  }
  *width = std::max<int64_t>(*width, 0);
  return out;
}

template <typename T>
std::string bytes_of(const std::vector<int64_t>& values) {
  std::string out(values.size() * sizeof(T), '\0');
  for (size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<T>(values[i]);
    std::memcpy(out.data() + i * sizeof value, &value, sizeof value);
  }
  return out;
}

}  // namespace

Result<std::vector<InferTensor>> batch_inputs(const BatchInput& rule, Sources sources, bool has_batch) {
  std::vector<int64_t> values, shape;
  switch (rule.kind) {
    case BatchInputKind::kElementCount:
      values = counts_of(sources);
      break;
    case BatchInputKind::kAccumulatedCount:
      values = sums_of(sources, false);
      break;
    case BatchInputKind::kAccumulatedCountWithZero:
      values = sums_of(sources, true);
      break;
    case BatchInputKind::kMaxElementCountAsShape: {  // the size is what is told; nobody reads the elements
      const std::vector<int64_t> counts = counts_of(sources);
      values.assign(static_cast<size_t>(counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end())), 0);
      break;
    }
    case BatchInputKind::kItemShape:
    case BatchInputKind::kItemShapeFlat: {
      int64_t width = 0;
      NEREID_TRY(values, item_shapes(sources, has_batch, &width));
      if (rule.kind == BatchInputKind::kItemShape && width > 0)
        shape = std::vector<int64_t>{static_cast<int64_t>(values.size()) / width, width};
      break;
    }
  }
  if (shape.empty()) shape.push_back(static_cast<int64_t>(values.size()));
  const bool is_float = rule.type == InferType::kFp32;
  // Beyond it FP32 has no whole numbers.
  const int64_t most = is_float ? int64_t{1} << 24 : INT32_MAX;
  if (const auto large = std::find_if(values.begin(), values.end(), [&](int64_t v) { return v > most; });
      large != values.end())
    return invalid_argument("the batch input '{}' would be {}, which its type {} cannot tell", rule.targets[0], *large,
                            infer_type_name(rule.type));
  const std::string bytes = is_float ? bytes_of<float>(values) : bytes_of<int32_t>(values);
  std::vector<InferTensor> out;
  for (const std::string& target : rule.targets) out.push_back(tensor_of(target, rule.type, shape, bytes));
  return out;
}

}  // namespace nereid::server
