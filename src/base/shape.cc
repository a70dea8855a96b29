// SPDX-License-Identifier: Apache-2.0
#include "base/shape.h"

#include "base/check.h"

namespace nereid {

bool Shape::is_static() const {
  if (!ranked_) return false;
  for (const Dim& d : dims_)
    if (!d.is_static()) return false;
  return true;
}

std::vector<int64_t> Shape::sizes() const {
  std::vector<int64_t> out;
  out.reserve(dims_.size());
  for (const Dim& d : dims_) {
    NEREID_CHECK(d.is_static());
    out.push_back(d.size());
  }
  return out;
}

std::optional<int64_t> Shape::elements() const {
  if (!is_static()) return std::nullopt;
  return checked_product(sizes());
}

std::string Shape::to_string() const {
  if (!ranked_) return "[...]";
  std::string out = "[";
  for (size_t i = 0; i < dims_.size(); ++i) {
    if (i) out += ", ";
    out += dims_[i].to_string();
  }
  return out + "]";
}

std::optional<int64_t> checked_product(std::span<const int64_t> sizes) {
  int64_t product = 1;
  for (int64_t s : sizes)
    if (s < 0 || __builtin_mul_overflow(product, s, &product)) return std::nullopt;
  return product;
}

}  // namespace nereid
