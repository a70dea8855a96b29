// SPDX-License-Identifier: Apache-2.0
// Tensors in ordinary memory.
#include "ops/tensor.h"

#include "base/shape.h"
#include "ops/elements.h"
#include "ops/numeric.h"
#include "quant/format_table.h"

namespace nereid::ops {

Result<Tensor> Tensor::zeros(DType dtype, std::vector<int64_t> sizes) {
  auto elements = checked_product(sizes);
  const int64_t bytes = elements ? dtype_bytes(dtype, *elements).value_or(-1) : -1;
  // A row of a block format is whole blocks, so the whole is too; a row that is not may still add up to whole blocks.
  const bool whole_rows =
      sizes.empty() || dtype_bytes(dtype, sizes.back()).has_value() || dtype_info(dtype).block_bytes == 0;
  if (bytes < 0 || !whole_rows)
    return invalid_argument("a tensor {}{} has no whole number of bytes", dtype_name(dtype),
                            Shape::of(sizes).to_string());
  Tensor t;
  t.dtype = dtype;
  t.sizes = std::move(sizes);
  // Hostile sizes must end in a sentence, not in std::bad_alloc.
  constexpr int64_t kMost = int64_t{1} << 36;
  const int64_t cost = dtype == DType::string ? *elements * static_cast<int64_t>(sizeof(std::string)) : bytes;
  if (*elements > kMost || cost > kMost)
    return invalid_argument("a tensor {}{} is larger than {} GiB", dtype_name(dtype), Shape::of(t.sizes).to_string(),
                            kMost >> 30);
  if (dtype == DType::string) {
    t.strings.resize(static_cast<size_t>(*elements));
  } else {
    t.bytes.resize(static_cast<size_t>(bytes));
  }
  return t;
}

void* Tensor::data() {
  static std::byte nothing[64] = {};  // what an empty tensor points to; never written, it has no elements
  if (dtype == DType::string) return strings.empty() ? static_cast<void*>(nothing) : strings.data();
  return bytes.empty() ? static_cast<void*>(nothing) : bytes.data();
}

Tensor Tensor::copy(const ConstTensorView& view) {
  Tensor t;
  t.dtype = view.dtype;
  t.sizes = view.sizes;
  if (view.dtype == DType::string) {
    const auto* first = view.as<std::string>();
    t.strings.assign(first, first + view.elements());
  } else {
    const auto* first = view.as<std::byte>();
    t.bytes.assign(first, first + view.bytes());
  }
  return t;
}

Tensor Tensor::of(DType dtype, std::vector<int64_t> sizes, const std::vector<double>& values) {
  auto made = zeros(dtype, std::move(sizes));
  Tensor tensor = std::move(made).value();
  const TensorView view = tensor.view();
  NEREID_CHECK(view.elements() == static_cast<int64_t>(values.size()));
  if (is_block_format(dtype)) {
    const std::vector<float> floats(values.begin(), values.end());
    quant::format(dtype).encode(floats.data(), view.data, view.elements());
    return tensor;
  }
  (void)store<double>(view, std::span<const double>(values));
  return tensor;
}

std::vector<double> Tensor::numbers() const {
  if (is_block_format(dtype)) {
    auto real = read_floats(view()).value();
    return {real.begin(), real.end()};
  }
  const Elements<double> values = load<double>(view());
  return {values.begin(), values.end()};
}

}  // namespace nereid::ops
