// SPDX-License-Identifier: Apache-2.0
// Element access for evaluators.
#include "ops/numeric.h"

#include "base/float_convert.h"
#include "quant/format_table.h"

namespace nereid::ops {

float read_float(const ConstTensorView& src, int64_t i) {
  switch (src.dtype) {
    case DType::f32:
      return src.as<float>()[i];
    case DType::f64:
      return static_cast<float>(src.as<double>()[i]);
    case DType::f16:
      return f16_to_f32(src.as<uint16_t>()[i]);
    case DType::bf16:
      return bf16_to_f32(src.as<uint16_t>()[i]);
    default:
      NEREID_CHECK(false && "read_float of a dtype that is no plain float");
  }
  return 0;
}

void write_float(const TensorView& dst, int64_t i, float value) {
  switch (dst.dtype) {
    case DType::f32:
      dst.as<float>()[i] = value;
      return;
    case DType::f64:
      dst.as<double>()[i] = value;
      return;
    case DType::f16:
      dst.as<uint16_t>()[i] = f32_to_f16(value);
      return;
    case DType::bf16:
      dst.as<uint16_t>()[i] = f32_to_bf16(value);
      return;
    default:
      NEREID_CHECK(false && "write_float of a dtype that is no plain float");
  }
}

void write_floats(const TensorView& dst, int64_t first, std::span<const float> values) {
  for (size_t i = 0; i < values.size(); ++i) write_float(dst, first + static_cast<int64_t>(i), values[i]);
}

Status read_row(const ConstTensorView& src, int64_t row, std::span<float> dst) {
  const int64_t n = src.row_elements();
  NEREID_CHECK(row >= 0 && row < src.rows() && static_cast<int64_t>(dst.size()) >= n);
  NEREID_TRY(const quant::Format* format, quant::find_format(src.dtype));
  format->decode(src.as<std::byte>() + row * *dtype_bytes(src.dtype, n), dst.data(), n);
  return Status::ok();
}

Result<std::vector<float>> read_floats(const ConstTensorView& src) {
  std::vector<float> out;
  if (src.data == nullptr) return out;
  out.resize(static_cast<size_t>(src.elements()));
  const size_t n = static_cast<size_t>(src.row_elements());
  for (int64_t row = 0; row < src.rows(); ++row)
    NEREID_RETURN_IF_ERROR(read_row(src, row, std::span(out).subspan(static_cast<size_t>(row) * n, n)));
  return out;
}

namespace {
template <typename T>
std::vector<int64_t> widen(const ConstTensorView& src) {
  auto values = src.span<T>();
  return {values.begin(), values.end()};
}
}  // namespace

Result<std::vector<int64_t>> read_integers(const ConstTensorView& src) {
  if (src.data == nullptr) return std::vector<int64_t>{};
  switch (src.dtype) {
    case DType::i8:
      return widen<int8_t>(src);
    case DType::i16:
      return widen<int16_t>(src);
    case DType::i32:
      return widen<int32_t>(src);
    case DType::i64:
      return widen<int64_t>(src);
    case DType::u8:
      return widen<uint8_t>(src);
    case DType::u16:
      return widen<uint16_t>(src);
    case DType::u32:
      return widen<uint32_t>(src);
    default:
      return invalid_argument("elements of type {} cannot be read as integers", dtype_name(src.dtype));
  }
}

void write_integer(const TensorView& dst, int64_t i, int64_t value) {
  switch (dst.dtype) {
    case DType::i8:
      dst.as<int8_t>()[i] = static_cast<int8_t>(value);
      return;
    case DType::i16:
      dst.as<int16_t>()[i] = static_cast<int16_t>(value);
      return;
    case DType::i32:
      dst.as<int32_t>()[i] = static_cast<int32_t>(value);
      return;
    case DType::i64:
      dst.as<int64_t>()[i] = value;
      return;
    case DType::u8:
      dst.as<uint8_t>()[i] = static_cast<uint8_t>(value);
      return;
    case DType::u16:
      dst.as<uint16_t>()[i] = static_cast<uint16_t>(value);
      return;
    case DType::u32:
      dst.as<uint32_t>()[i] = static_cast<uint32_t>(value);
      return;
    default:
      NEREID_CHECK(false && "write_integer of a dtype that is no integer");
  }
}

}  // namespace nereid::ops
