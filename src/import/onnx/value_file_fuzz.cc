// SPDX-License-Identifier: Apache-2.0
// Feeds any bytes to the reader of value files, as every kind of value; what it accepts must come back the same when
// written and read again. The first byte chooses the declared type. Corpus: tests/corpus/value_file_fuzz.
#include <cstdint>
#include <cstdlib>

#include "import/onnx/value_file.h"

namespace {

bool equal(const nereid::ops::Tensor& a, const nereid::ops::Tensor& b) {
  return a.dtype == b.dtype && a.sizes == b.sizes && a.bytes == b.bytes && a.strings == b.strings;
}

bool equal(const nereid::ops::Datum& a, const nereid::ops::Datum& b) {
  if (a.kind != b.kind || !equal(a.tensor, b.tensor) || !equal(a.keys, b.keys) || a.items.size() != b.items.size())
    return false;
  for (size_t i = 0; i < a.items.size(); ++i)
    if (!equal(a.items[i], b.items[i])) return false;
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using nereid::DType;
  constexpr DType kTypes[] = {DType::f32, DType::string, DType::i64, DType::bf16, DType::u4, DType::c64};
  if (size == 0) return 0;
  const nereid::ops::TensorType type = {.dtype = kTypes[data[0] / 16 % std::size(kTypes)],
                                        .shape = nereid::Shape::unranked(),
                                        .container = static_cast<nereid::ops::Container>(data[0] % 6),
                                        .key = data[0] % 16 < 8 ? DType::i64 : DType::string};
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto value = nereid::import::onnx::read_value(bytes, type);
  if (!value.is_ok()) return 0;
  const auto again = nereid::import::onnx::read_value(nereid::import::onnx::write_value(*value, type, "x"), type);
  if (!again.is_ok() || !equal(*value, *again)) std::abort();
  return 0;
}
