// SPDX-License-Identifier: Apache-2.0
// Products of dimensions that may be symbols: how reshapes carry "tokens" through "tokens*9" and back.
#pragma once

#include <map>
#include <span>
#include <string>

#include "base/shape.h"
#include "base/status.h"

namespace nereid::ops {

// A factor and how often each symbol occurs.
struct DimProduct {
  int64_t factor = 1;
  std::map<std::string, int> symbols;
  bool fits = true;  // false: the factor does not fit 63 bits

  DimProduct() = default;
  explicit DimProduct(std::span<const Dim> dims) {
    for (const Dim& d : dims) multiply(d);
  }
  void multiply(const Dim& d);
  bool is_static() const { return symbols.empty(); }
  bool has_unknown() const { return symbols.contains("?"); }
};

// What is left of `all` when divided by `part`, if that is one dimension; unknown if a factor of either is.
Result<Dim> quotient(DimProduct all, const DimProduct& part);

// A dimension times a number, or divided by one: refused if the product does not fit 63 bits, or if a static size is no
// multiple; unknown where the result is no dimension that can be named.
Result<Dim> multiplied(const Dim& dim, int64_t by);
Result<Dim> divided(const Dim& dim, int64_t by);

}  // namespace nereid::ops
