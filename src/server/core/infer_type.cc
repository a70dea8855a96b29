// SPDX-License-Identifier: Apache-2.0
#include "server/core/infer_type.h"

#include <cstddef>
#include <iterator>

namespace nereid::server {
namespace {

using enum InferType;

constexpr InferTypeInfo kRows[] = {
    {kInvalid, "<invalid>", "TYPE_INVALID", 0},
    {kBool, "BOOL", "TYPE_BOOL", 1},
    {kUint8, "UINT8", "TYPE_UINT8", 1},
    {kUint16, "UINT16", "TYPE_UINT16", 2},
    {kUint32, "UINT32", "TYPE_UINT32", 4},
    {kUint64, "UINT64", "TYPE_UINT64", 8},
    {kInt8, "INT8", "TYPE_INT8", 1},
    {kInt16, "INT16", "TYPE_INT16", 2},
    {kInt32, "INT32", "TYPE_INT32", 4},
    {kInt64, "INT64", "TYPE_INT64", 8},
    {kFp16, "FP16", "TYPE_FP16", 2},
    {kFp32, "FP32", "TYPE_FP32", 4},
    {kFp64, "FP64", "TYPE_FP64", 8},
    {kBytes, "BYTES", "TYPE_STRING", 0},
    {kBf16, "BF16", "TYPE_BF16", 2},
};

constexpr bool rows_are_in_order() {
  for (size_t i = 0; i < std::size(kRows); ++i)
    if (static_cast<size_t>(kRows[i].type) != i) return false;
  return std::size(kRows) == static_cast<size_t>(InferType::kCount);
}
static_assert(rows_are_in_order());

}  // namespace

const InferTypeInfo& infer_type_info(InferType type) {
  return kRows[static_cast<size_t>(type)];
}

std::optional<InferType> infer_type_from_name(std::string_view name) {
  for (const InferTypeInfo& row : kRows)
    if (row.type != kInvalid && row.name == name) return row.type;
  return std::nullopt;
}

}  // namespace nereid::server
