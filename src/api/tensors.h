// SPDX-License-Identifier: Apache-2.0
// Element types, sizes and declared types between the C interface and ours.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "compile/network.h"
#include "nereid/nereid.h"

namespace nereid::api {

inline constexpr int32_t kMostDims = 64;

std::optional<DType> dtype_from(nereid_dtype dtype);
nereid_dtype dtype_to(DType dtype);
// Where an element may lie: at multiples of this many bytes.
size_t alignment_of(DType dtype);

// kInvalidArgument: a rank outside 0 to kMostDims, no list, a negative size.
Result<std::vector<int64_t>> read_dims(int32_t rank, const int64_t* dims);
// Everything about a caller's tensor but whether it suits an input; gives its bytes (of strings: of their structs).
Result<int64_t> check_tensor(const nereid_tensor& tensor);

// Declarations whose pointers live as long as this does.
class ValueInfos {
 public:
  ValueInfos() = default;
  ValueInfos(ValueInfos&&) = default;  // the deques' elements stay where they are
  ValueInfos& operator=(ValueInfos&&) = default;
  void add(const compile::NamedType& value);
  size_t size() const { return infos_.size(); }
  const nereid_value_info& operator[](size_t i) const { return infos_[i]; }
  // kNotFound with the names that there are.
  Result<size_t> find(std::string_view what, std::string_view name) const;

 private:
  std::vector<nereid_value_info> infos_;
  std::deque<std::string> texts_;
  std::deque<std::vector<int64_t>> dims_;
  std::deque<std::vector<const char*>> names_;
};

}  // namespace nereid::api
