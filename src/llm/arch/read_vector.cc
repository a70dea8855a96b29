// SPDX-License-Identifier: Apache-2.0
// A small tensor (norm weight, bias, rope factors) as f32, whatever the file stores it in.
#include "llm/arch/read_vector.h"

#include <cmath>

#include "quant/format_table.h"

namespace nereid::llm {

Result<std::vector<float>> read_vector(const ConstTensorView& tensor, int64_t first, int64_t size) {
  NEREID_TRY(const quant::Format* format, quant::find_format(tensor.dtype));
  const int64_t elements = tensor.elements();
  if (!dtype_bytes(tensor.dtype, elements)) {
    return invalid_argument("{} elements are no whole {} blocks", elements, dtype_name(tensor.dtype));
  }
  std::vector<float> whole(static_cast<size_t>(elements));
  format->decode(tensor.data, whole.data(), elements);
  std::vector<float> values(whole.begin() + first, whole.begin() + first + size);
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i]))
      return invalid_argument("element {} is {}", first + static_cast<int64_t>(i), values[i]);
  }
  return values;
}

}  // namespace nereid::llm
