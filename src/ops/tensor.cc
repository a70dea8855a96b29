// SPDX-License-Identifier: Apache-2.0
// Tensors in ordinary memory.
#include "ops/tensor.h"

#include "base/shape.h"
#include "ops/numeric.h"
#include "quant/format_table.h"

namespace nereid::ops {

Result<Tensor> Tensor::zeros(DType dtype, std::vector<int64_t> sizes) {
  auto elements = checked_product(sizes);
  auto bytes = elements ? dtype_bytes(dtype, *elements) : std::nullopt;
  // A row of a block format is whole blocks, so the whole is too; a row that is not may still add up to whole blocks.
  const bool whole_rows =
      sizes.empty() || dtype_bytes(dtype, sizes.back()).has_value() || dtype_info(dtype).block_bytes == 0;
  if (!bytes || !whole_rows)
    return invalid_argument("a tensor {}{} has no whole number of bytes", dtype_name(dtype),
                            Shape::of(sizes).to_string());
  return Tensor{dtype, std::move(sizes), std::vector<std::byte>(static_cast<size_t>(*bytes))};
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
  for (size_t i = 0; i < values.size(); ++i) {
    if (is_float(dtype)) {
      write_float(view, static_cast<int64_t>(i), static_cast<float>(values[i]));
    } else {
      write_integer(view, static_cast<int64_t>(i), static_cast<int64_t>(values[i]));
    }
  }
  return tensor;
}

std::vector<double> Tensor::numbers() const {
  if (is_integer(dtype)) {
    auto whole = read_integers(view()).value();
    return {whole.begin(), whole.end()};
  }
  auto real = read_floats(view()).value();
  return {real.begin(), real.end()};
}

}  // namespace nereid::ops
