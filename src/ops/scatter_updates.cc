// SPDX-License-Identifier: Apache-2.0
// Putting updates in their places.
#include "ops/scatter_updates.h"

#include <cmath>
#include <type_traits>
#include <utility>

#include "ops/elements.h"
#include "ops/move.h"

namespace nereid::ops {
namespace {

enum class Reduction { kAdd, kMul, kMax, kMin };

// Integers wrap; a not-a-number stays; of truth values: or, and.
template <typename T>
T combine(Reduction how, T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return how == Reduction::kAdd || how == Reduction::kMax ? a || b : a && b;
  } else {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a)) return a;
      if (std::isnan(b)) return b;
    }
    if (how == Reduction::kMax) return a < b ? b : a;
    if (how == Reduction::kMin) return b < a ? b : a;
    if constexpr (std::is_integral_v<T>) {
      const auto x = static_cast<uint64_t>(a);
      const auto y = static_cast<uint64_t>(b);
      return static_cast<T>(how == Reduction::kAdd ? x + y : x * y);
    } else {
      return how == Reduction::kAdd ? a + b : a * b;
    }
  }
}

}  // namespace

Status check_reduction(const Attrs& attrs, DType dtype) {
  const std::string& how = attrs.text("reduction");
  if (how != "none" && how != "add" && how != "mul" && how != "max" && how != "min")
    return invalid_argument("reduction is '{}' and should be none, add, mul, max or min", how);
  if (how != "none" && (dtype == DType::string || dtype_info(dtype).kind == DTypeInfo::Kind::kComplex))
    return unsupported("elements of type {} cannot be combined by '{}'", dtype_name(dtype), how);
  return Status::ok();
}

Status scatter(const TensorView& y, const ConstTensorView& x, const ConstTensorView& updates,
               const std::vector<int64_t>& places, int64_t count, std::string_view reduction) {
  if (reduction == "none") {
    NEREID_RETURN_IF_ERROR(copy_all(y, x));
    int64_t src = 0;
    for (const int64_t place : places) copy_elements(y, place, updates, std::exchange(src, src + count), count);
    return Status::ok();
  }
  const Reduction how = reduction == "add"   ? Reduction::kAdd
                        : reduction == "mul" ? Reduction::kMul
                        : reduction == "max" ? Reduction::kMax
                                             : Reduction::kMin;
  return with_element(y.dtype, [&]<typename T>() {
    Elements<T> values = load<T>(x);
    const Elements<T> fresh = load<T>(updates);
    int64_t src = 0;
    for (const int64_t place : places)
      for (int64_t i = 0; i < count; ++i) {
        T& value = values[place + i];
        value = combine<T>(how, value, fresh[src++]);
      }
    return store<T>(y, values);
  });
}

}  // namespace nereid::ops
