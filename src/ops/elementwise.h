// SPDX-License-Identifier: Apache-2.0
// What ops share whose result has, in each place, a function of the inputs' elements in the same place after numpy's
// broadcasting.
//
// They compute in wide types (ops/wide.h): results of narrow floats are rounded once, integers wrap when stored.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "ops/elements.h"
#include "ops/op.h"
#include "ops/shape_rule.h"
#include "ops/wide.h"

namespace nereid::ops {

// Flat indices into each input of each element of the result, in row-major order.
class BroadcastWalk {
 public:
  BroadcastWalk(const std::vector<int64_t>& out, std::span<const ConstTensorView> inputs);
  int64_t operator[](size_t input) const { return at_[input]; }
  void next() {
    for (size_t d = sizes_.size(); d-- > 0;) {
      const int64_t* step = steps_.data() + d * at_.size();
      for (size_t i = 0; i < at_.size(); ++i) at_[i] += step[i];
      if (++index_[d] < sizes_[d]) return;
      for (size_t i = 0; i < at_.size(); ++i) at_[i] -= step[i] * sizes_[d];
      index_[d] = 0;
    }
  }

 private:
  std::vector<int64_t> sizes_, index_;
  std::vector<int64_t> steps_;  // [dimension][input]
  std::vector<int64_t> at_;     // [input]
};

// What an element type is, as sentences.
Status is_number(const ShapeRule& rule, size_t i);  // f32, f64, f16, bf16 or an integer
Status is_whole(const ShapeRule& rule, size_t i);   // an integer
Status is_truth(const ShapeRule& rule, size_t i);   // bool
// The broadcast shape of inputs first, first + 1, ... count - 1.
Result<Shape> broadcast_inputs(const ShapeRule& rule, size_t first, size_t count);
// All inputs have the element type of the first.
Status one_dtype(const ShapeRule& rule, size_t first, size_t count);

int bits_of(DType dtype);  // of one element; plain types but string

// Elements first, first + 1, ... of a tensor, as a tensor of one dimension. `first` is a multiple of kPart.
inline constexpr int64_t kPart = 1 << 14;  // wide copies of a few such parts stay in the cache
ConstTensorView part(const ConstTensorView& view, int64_t first, int64_t count);
TensorView part(const TensorView& view, int64_t first, int64_t count);

// y = f(x), element by element: read as T, the result as R.
template <typename T, typename R, typename F>
Status map(const ConstTensorView& x, const TensorView& y, F&& f) {
  const int64_t n = x.elements();
  for (int64_t first = 0; first < n; first += kPart) {
    const Elements<T> some = load<T>(part(x, first, std::min(kPart, n - first)));
    Elements<R> out(some.size());
    for (int64_t i = 0; i < some.size(); ++i) out[i] = f(some[i]);
    NEREID_RETURN_IF_ERROR(store<R>(part(y, first, some.size()), out));
  }
  return Status::ok();
}

// y = f(a, b): two inputs read as T, the result as R.
template <typename T, typename R, typename F>
Status zip(const EvalContext& ctx, F&& f) {
  const ConstTensorView &a = ctx.inputs[0], &b = ctx.inputs[1];
  const TensorView& y = ctx.outputs[0];
  const int64_t n = y.elements();
  const bool alike = a.sizes == b.sizes;
  const Elements<T> all_a = alike ? Elements<T>() : load<T>(a), all_b = alike ? Elements<T>() : load<T>(b);
  BroadcastWalk walk(y.sizes, ctx.inputs.first(2));
  for (int64_t first = 0; first < n; first += kPart) {
    Elements<R> out(std::min(kPart, n - first));
    if (alike) {
      const Elements<T> some_a = load<T>(part(a, first, out.size())), some_b = load<T>(part(b, first, out.size()));
      for (int64_t i = 0; i < out.size(); ++i) out[i] = f(some_a[i], some_b[i]);
    } else {
      for (R& v : out) {
        v = f(all_a[walk[0]], all_b[walk[1]]);
        walk.next();
      }
    }
    NEREID_RETURN_IF_ERROR(store<R>(part(y, first, out.size()), out));
  }
  return Status::ok();
}

// Whole numbers wrap around as their two's complement does.
template <typename T>
T plus(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a + b;
  } else {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
}
template <typename T>
T minus(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a - b;
  } else {
    return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  }
}
template <typename T>
T times(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a * b;
  } else {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  }
}
// Towards zero; b is not 0 if they are integers.
template <typename T>
T quotient(T a, T b) {
  if constexpr (std::is_signed_v<T> && std::is_integral_v<T>) {
    if (b == -1) return minus(T(0), a);
  }
  return a / b;
}
// The smaller and the larger; a not-a-number wins over any number.
template <typename T>
T smaller(T a, T b) {
  return a < b || a != a ? a : b;
}
template <typename T>
T larger(T a, T b) {
  return a > b || a != a ? a : b;
}

}  // namespace nereid::ops
