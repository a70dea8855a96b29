// SPDX-License-Identifier: Apache-2.0
// One row an element type.
#include "import/onnx/element_type.h"

namespace nereid::import::onnx {
namespace {

struct Row {
  int32_t number;
  DType dtype;
};
constexpr Row kTable[] = {
    {1, DType::f32},   {2, DType::u8},      {3, DType::i8},          {4, DType::u16},     {5, DType::i16},
    {6, DType::i32},   {7, DType::i64},     {8, DType::string},      {9, DType::boolean}, {10, DType::f16},
    {11, DType::f64},  {12, DType::u32},    {13, DType::u64},        {14, DType::c64},    {15, DType::c128},
    {16, DType::bf16}, {17, DType::f8e4m3}, {18, DType::f8e4m3fnuz}, {19, DType::f8e5m2}, {20, DType::f8e5m2fnuz},
    {21, DType::u4},   {22, DType::i4},     {23, DType::f4e2m1},     {24, DType::f8e8m0}, {25, DType::u2},
    {26, DType::i2},
};

}  // namespace

Result<DType> dtype_of_number(int32_t number) {
  for (const Row& row : kTable)
    if (row.number == number) return row.dtype;
  if (number == 0) return invalid_argument("its element type is not given");
  if (number == 27 || number == 28) return unsupported("element types of six bits cannot be read");
  return unsupported("there is no element type {} in the format known here", number);
}

std::optional<int32_t> number_of_dtype(DType dtype) {
  for (const Row& row : kTable)
    if (row.dtype == dtype) return row.number;
  return std::nullopt;
}

}  // namespace nereid::import::onnx
