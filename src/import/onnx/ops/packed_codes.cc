// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/ops/packed_codes.h"

#include <algorithm>
#include <cstring>

namespace nereid::import::onnx {

Result<DType> code_dtype(int64_t bits) {
  if (bits == 2) return DType::u2;
  if (bits == 4) return DType::u4;
  if (bits == 8) return DType::u8;
  return invalid_argument("bits is {} and should be 2, 4 or 8", bits);
}

Result<ops::Tensor> unpack_codes(const NodeContext& node, ValueId packed, int64_t bits, std::vector<int64_t> sizes,
                                 std::string_view what) {
  NEREID_TRY(const DType dtype, code_dtype(bits));
  const ConstTensorView* bytes = node.known(packed);
  if (bytes == nullptr) return unsupported("{} should be a constant", what);
  if (bytes->dtype != DType::u8)
    return invalid_argument("{} holds {} and should hold u8", what, dtype_name(bytes->dtype));
  NEREID_TRY(ops::Tensor codes, ops::Tensor::zeros(dtype, sizes));
  const int64_t row = sizes.back(), a_byte = 8 / bits, row_bytes = (row + a_byte - 1) / a_byte;
  const int64_t rows = row == 0 ? 0 : codes.view().elements() / row;
  if (rows > 0 && (bytes->elements() % rows != 0 || bytes->elements() / rows < row_bytes))
    return invalid_argument("{} has {} bytes, which are not {} rows of {} or more", what, bytes->elements(), rows,
                            row_bytes);
  const int64_t stride = rows == 0 ? 0 : bytes->elements() / rows;
  const auto* src = bytes->as<uint8_t>();
  auto* dst = codes.view().as<uint8_t>();
  for (int64_t r = 0; r < rows; ++r) {
    if (row % a_byte == 0) {  // whole bytes lie alike in both
      std::memcpy(dst + r * row_bytes, src + r * stride, static_cast<size_t>(row_bytes));
      continue;
    }
    for (int64_t i = 0; i < row; ++i) {
      const int code = src[r * stride + i / a_byte] >> (i % a_byte * bits) & ((1 << bits) - 1);
      const int64_t at = r * row + i;
      dst[at / a_byte] = static_cast<uint8_t>(dst[at / a_byte] | code << (at % a_byte * bits));
    }
  }
  return codes;
}

ops::Tensor middle_codes(DType dtype, std::vector<int64_t> sizes) {
  int64_t n = 1;
  for (const int64_t size : sizes) n *= size;
  const double middle = dtype == DType::u2 ? 2 : dtype == DType::u4 ? 8 : 128;
  return ops::Tensor::of(dtype, std::move(sizes), std::vector<double>(static_cast<size_t>(n), middle));
}

}  // namespace nereid::import::onnx
