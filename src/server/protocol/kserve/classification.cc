// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve/classification.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace nereid::server::kserve {
namespace {

// Appends the texts of one row.
template <typename T>
void append_row(std::string* out, const std::byte* row, size_t count, size_t classes,
                const std::vector<std::string>& labels) {
  std::vector<T> values(count);
  std::memcpy(values.data(), row, count * sizeof(T));
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  const auto is_before = [&](size_t a, size_t b) { return values[a] != values[b] ? values[a] > values[b] : a < b; };
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(classes), order.end(), is_before);
  for (size_t i = 0; i < classes; ++i) {
    std::string text = std::to_string(values[order[i]]) + ":" + std::to_string(order[i]);
    if (order[i] < labels.size()) text += ":" + labels[order[i]];
    const auto length = static_cast<uint32_t>(text.size());
    out->append(reinterpret_cast<const char*>(&length), sizeof length);
    *out += text;
  }
}

using AppendRow = void (*)(std::string*, const std::byte*, size_t, size_t, const std::vector<std::string>&);

AppendRow append_row_of(InferType type) {
  switch (type) {
    case InferType::kUint8:
      return append_row<uint8_t>;
    case InferType::kUint16:
      return append_row<uint16_t>;
    case InferType::kUint32:
      return append_row<uint32_t>;
    case InferType::kUint64:
      return append_row<uint64_t>;
    case InferType::kInt8:
      return append_row<int8_t>;
    case InferType::kInt16:
      return append_row<int16_t>;
    case InferType::kInt32:
      return append_row<int32_t>;
    case InferType::kInt64:
      return append_row<int64_t>;
    case InferType::kFp32:
      return append_row<float>;
    case InferType::kFp64:
      return append_row<double>;
    default:
      return nullptr;
  }
}

}  // namespace

Result<InferTensor> classify(const InferTensor& tensor, uint64_t classes, bool has_batch,
                             const std::vector<std::string>& labels) {
  const AppendRow append = append_row_of(tensor.type);
  if (append == nullptr)
    return invalid_argument("class result not available for output '{}' due to unsupported type '{}'", tensor.name,
                            infer_type_name(tensor.type));
  const bool has_rows = has_batch && !tensor.shape.empty();
  const size_t rows = has_rows ? static_cast<size_t>(tensor.shape[0]) : 1;
  const size_t width = infer_type_info(tensor.type).bytes;
  const size_t count = rows == 0 ? 0 : tensor.bytes.size() / width / rows;
  const size_t taken = std::min<uint64_t>(classes, count);
  std::string texts;
  for (size_t row = 0; row < rows; ++row)
    append(&texts, tensor.bytes.data() + row * count * width, count, taken, labels);
  std::vector<int64_t> shape;
  if (has_rows) shape.push_back(tensor.shape[0]);
  shape.push_back(static_cast<int64_t>(taken));
  return tensor_of(tensor.name, InferType::kBytes, std::move(shape), std::move(texts));
}

}  // namespace nereid::server::kserve
