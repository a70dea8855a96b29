// SPDX-License-Identifier: Apache-2.0
#include "import/gguf/read_tensors.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/shape.h"
#include "import/gguf/types.h"

namespace nereid::import::gguf {
namespace {

constexpr uint32_t kMaxRank = 4;
// A name's length, the rank, the type, the offset.
constexpr uint64_t kMinRecordBytes = 8 + 4 + 4 + 8;
// The format allows 64; some writers use more, and a sentence must stay readable.
constexpr size_t kMaxNameBytes = 1024;

struct Record {
  Tensor tensor;        // data not set yet
  uint64_t offset = 0;  // from the data section's start
  uint64_t bytes = 0;
};

std::string dims_text(std::span<const int64_t> sizes) {
  return Shape::of(sizes).to_string();
}

Result<DType> supported_type(uint32_t number) {
  const TensorType* type = find_tensor_type(number);
  if (type == nullptr)
    return unsupported("its type number {} is unknown; supported are {}", number, supported_tensor_types());
  if (!type->dtype)
    return unsupported("its type {} (number {}) cannot be read yet; supported are {}", type->name, number,
                       supported_tensor_types());
  return *type->dtype;
}

Result<uint64_t> checked_bytes(const ConstTensorView& view) {
  const DTypeInfo& info = dtype_info(view.dtype);
  const auto elements = checked_product(view.sizes);
  if (!elements) return invalid_argument("its sizes {} multiply to more than 2^63 - 1 elements", dims_text(view.sizes));
  if (view.row_elements() % info.block_elements != 0)
    return invalid_argument("its row of {} elements is not a whole number of {} blocks of {} elements",
                            view.row_elements(), info.name, info.block_elements);
  const auto bytes = dtype_bytes(view.dtype, *elements);
  if (!bytes) return invalid_argument("its sizes {} need more than 2^63 - 1 bytes", dims_text(view.sizes));
  return static_cast<uint64_t>(*bytes);
}

// The part of a record after its name.
Result<Record> read_record(Cursor& cursor, std::string_view name) {
  Record record;
  record.tensor.name = name;
  ConstTensorView& view = record.tensor.view;
  NEREID_TRY(const uint32_t rank, cursor.read<uint32_t>("its rank"));
  if (rank > kMaxRank) return invalid_argument("it has {} dimensions; expected at most {}", rank, kMaxRank);
  view.sizes.resize(rank);
  for (uint32_t d = rank; d-- > 0;) {
    NEREID_TRY(const uint64_t size, cursor.read<uint64_t>("its dimensions"));
    if (size > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return invalid_argument("its dimension {} is {}; expected at most 2^63 - 1", rank - 1 - d, size);
    view.sizes[d] = static_cast<int64_t>(size);
  }
  NEREID_TRY(const uint32_t type, cursor.read<uint32_t>("its type"));
  NEREID_TRY(view.dtype, supported_type(type));
  NEREID_TRY(record.bytes, checked_bytes(view));
  NEREID_TRY(record.offset, cursor.read<uint64_t>("its offset"));
  return record;
}

Result<std::vector<Record>> read_records(Cursor& cursor, uint64_t count) {
  if (count > cursor.remaining() / kMinRecordBytes || count > std::numeric_limits<uint32_t>::max())
    return invalid_argument(
        "the header claims {} tensors of at least {} bytes each, but only {} bytes of the file are left", count,
        kMinRecordBytes, cursor.remaining());
  std::vector<Record> records;
  records.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    const auto which = [&] { return fmt::format("tensor {} of {}", i + 1, count); };
    NEREID_TRY(const std::string_view name, cursor.read_string("its name").with(which()));
    if (name.empty() || name.size() > kMaxNameBytes)
      return invalid_argument("{}: its name has {} bytes; expected 1 to {}", which(), name.size(), kMaxNameBytes);
    auto record = read_record(cursor, name);
    if (!record) return record.status().with(fmt::format("tensor '{}'", name));
    records.push_back(std::move(*record));
  }
  return records;
}

// Data ranges inside `data_bytes`, aligned, none sharing a byte with another.
Status check_ranges(std::span<const Record> records, uint64_t alignment, uint64_t data_bytes) {
  for (const Record& r : records) {
    if (r.offset % alignment != 0)
      return invalid_argument("tensor '{}': its offset {} is not a multiple of the file's alignment {}", r.tensor.name,
                              r.offset, alignment);
    if (r.offset > data_bytes || r.bytes > data_bytes - r.offset)
      return invalid_argument(
          "tensor '{}': its {} bytes at offset {} end past the data section of {} bytes; the file is cut short or "
          "damaged",
          r.tensor.name, r.bytes, r.offset, data_bytes);
  }
  std::vector<uint32_t> order(records.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(records[a].offset, records[a].bytes) < std::pair(records[b].offset, records[b].bytes);
  });
  const Record* previous = nullptr;
  for (uint32_t index : order) {
    const Record& r = records[index];
    if (r.bytes == 0) continue;
    if (previous != nullptr && r.offset < previous->offset + previous->bytes)
      return invalid_argument("tensors '{}' and '{}' overlap: bytes {} to {} and {} to {} of the data section",
                              previous->tensor.name, r.tensor.name, previous->offset,
                              previous->offset + previous->bytes, r.offset, r.offset + r.bytes);
    previous = &r;
  }
  return {};
}

}  // namespace

Result<std::vector<Tensor>> read_tensors(Cursor& cursor, uint64_t count, uint64_t alignment,
                                         std::span<const std::byte> file) {
  NEREID_TRY(std::vector<Record> records, read_records(cursor, count));
  std::vector<Tensor> tensors;
  if (records.empty()) return tensors;

  const uint64_t header_bytes = cursor.position();
  const uint64_t padding = (alignment - header_bytes % alignment) % alignment;
  // Without padding at its end a file has an empty data section; tensors with bytes then fail the range check.
  const uint64_t data_start = padding > cursor.remaining() ? file.size() : header_bytes + padding;
  NEREID_RETURN_IF_ERROR(check_ranges(records, alignment, file.size() - data_start));

  tensors.reserve(records.size());
  for (Record& r : records) {
    r.tensor.view.data = file.data() + data_start + r.offset;
    tensors.push_back(std::move(r.tensor));
  }
  return tensors;
}

Result<std::vector<uint32_t>> index_by_name(std::span<const Tensor> tensors) {
  std::vector<uint32_t> order(tensors.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return tensors[a].name < tensors[b].name; });
  for (size_t i = 1; i < order.size(); ++i)
    if (tensors[order[i - 1]].name == tensors[order[i]].name)
      return invalid_argument("the tensor '{}' appears twice; expected every name once", tensors[order[i]].name);
  return order;
}

}  // namespace nereid::import::gguf
