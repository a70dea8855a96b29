// SPDX-License-Identifier: Apache-2.0
#include "runtime/net/strided_copy.h"

#include <cstring>

namespace nereid::runtime {

StridedCopyStep::StridedCopyStep(std::vector<CopyDim> dims, int64_t element_bytes) : element_bytes_(element_bytes) {
  for (const CopyDim& d : dims) {
    if (d.size == 1) continue;
    if (!dims_.empty() && dims_.back().src == d.src * d.size && dims_.back().dst == d.dst * d.size) {
      dims_.back() = {dims_.back().size * d.size, d.src, d.dst};
    } else {
      dims_.push_back(d);
    }
  }
  if (dims_.empty()) dims_.push_back({1, 1, 1});
  for (size_t i = 0; i + 1 < dims_.size(); ++i) rows_ *= dims_[i].size;
  kernel = "copy";
}

template <typename T>
void StridedCopyStep::copy_rows(int64_t begin, int64_t end) const {
  const CopyDim inner = dims_.back();
  const size_t outer = dims_.size() - 1;
  int64_t index[16] = {};
  int64_t from = 0, to = 0, rest = begin;
  for (size_t d = outer; d-- > 0;) {
    index[d] = rest % dims_[d].size;
    rest /= dims_[d].size;
    from += index[d] * dims_[d].src;
    to += index[d] * dims_[d].dst;
  }
  const T* x = reinterpret_cast<const T*>(src);
  T* y = reinterpret_cast<T*>(dst);
  for (int64_t row = begin; row < end; ++row) {
    if (inner.src == 1 && inner.dst == 1) {
      std::memcpy(y + to, x + from, static_cast<size_t>(inner.size) * sizeof(T));
    } else {
      for (int64_t i = 0; i < inner.size; ++i) y[to + i * inner.dst] = x[from + i * inner.src];
    }
    for (size_t d = outer; d-- > 0;) {
      from += dims_[d].src;
      to += dims_[d].dst;
      if (++index[d] < dims_[d].size) break;
      from -= dims_[d].src * dims_[d].size;
      to -= dims_[d].dst * dims_[d].size;
      index[d] = 0;
    }
  }
}

void StridedCopyStep::run(Worker& worker) {
  struct Pair {
    uint64_t a, b;
  };
  const auto [begin, end] = worker.slice(rows_);
  if (begin >= end) return;
  switch (element_bytes_) {
    case 1:
      return copy_rows<uint8_t>(begin, end);
    case 2:
      return copy_rows<uint16_t>(begin, end);
    case 4:
      return copy_rows<uint32_t>(begin, end);
    case 8:
      return copy_rows<uint64_t>(begin, end);
    default:
      return copy_rows<Pair>(begin, end);
  }
}

}  // namespace nereid::runtime
