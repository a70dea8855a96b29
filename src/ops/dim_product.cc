// SPDX-License-Identifier: Apache-2.0
// Products of sizes and symbols.
#include "ops/dim_product.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace nereid::ops {
namespace {

constexpr size_t kLongestSymbol = 200;  // repeated reshapes could double a product's name each time

}  // namespace

void DimProduct::multiply(const Dim& d) {
  if (d.is_static()) {
    fits = fits && !__builtin_mul_overflow(factor, d.size(), &factor);
    return;
  }
  std::string_view rest = d.symbol();  // a product of an earlier reshape comes apart again: "tokens*9"
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('*'), rest.size());
    const std::string_view part = rest.substr(0, end);
    int64_t number = 0;
    auto [stop, ec] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (ec == std::errc() && stop == part.data() + part.size()) {
      fits = fits && !__builtin_mul_overflow(factor, number, &factor);
    } else {
      ++symbols[std::string(part)];
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

Result<Dim> quotient(DimProduct all, const DimProduct& part) {
  if (all.has_unknown() || part.has_unknown()) return Dim::unknown();
  for (const auto& [name, count] : part.symbols) {
    all.symbols[name] -= count;
    if (all.symbols[name] < 0) return invalid_argument("'{}' occurs less often in x than in the new shape", name);
    if (all.symbols[name] == 0) all.symbols.erase(name);
  }
  if (part.factor == 0 || all.factor % part.factor != 0)
    return invalid_argument("{} elements cannot be divided by {}", all.factor, part.factor);
  const int64_t factor = all.factor / part.factor;
  if (all.symbols.empty() || factor == 0) return Dim(factor);
  std::string name;
  for (const auto& [symbol, count] : all.symbols)
    for (int i = 0; i < count; ++i) name += (name.empty() ? "" : "*") + symbol;
  if (name.size() > kLongestSymbol)
    return unsupported("the product of dimensions '{}...' is too long", name.substr(0, 32));
  return Dim::symbol(factor == 1 ? name : name + "*" + std::to_string(factor));
}

Result<Dim> multiplied(const Dim& dim, int64_t by) {
  DimProduct product;
  product.multiply(dim);
  product.multiply(Dim(by));
  if (!product.fits) return invalid_argument("{} times {} does not fit 63 bits", dim.to_string(), by);
  auto result = quotient(std::move(product), {});
  return result ? std::move(result).value() : Dim::unknown();
}

Result<Dim> divided(const Dim& dim, int64_t by) {
  DimProduct all;
  all.multiply(dim);
  DimProduct part;
  part.multiply(Dim(by));
  auto result = quotient(std::move(all), part);
  return result || dim.is_static() ? std::move(result) : Dim::unknown();
}

}  // namespace nereid::ops
