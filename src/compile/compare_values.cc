// SPDX-License-Identifier: Apache-2.0
#include "compile/compare_values.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/elements.h"
#include "ops/elementwise.h"

namespace nereid::compile {
namespace {

using ops::Datum;

constexpr double kRounding = 1e-6;  // of f32, with a few operations in another order

void compare_reals(const ops::Elements<double>& found, const ops::Elements<double>& expected, ValueDifference& d) {
  double least = std::numeric_limits<double>::infinity(), most = -least, sum = 0;
  int64_t finite = 0;
  for (int64_t i = 0; i < found.size(); ++i) {
    const double f = found[i], e = expected[i];
    if (std::isfinite(e)) {
      least = std::min(least, e);
      most = std::max(most, e);
    }
    if (std::isnan(f) || std::isnan(e)) {
      d.nans += std::isnan(f) != std::isnan(e) ? 1 : 0;
    } else if (std::isinf(f) || std::isinf(e)) {
      d.infinities += f != e ? 1 : 0;
    } else {
      const double error = std::abs(f - e);
      d.max_abs = std::max(d.max_abs, error);
      sum += error;
      ++finite;
    }
  }
  if (finite > 0) d.mean_abs = sum / static_cast<double>(finite);
  if (most < least) return;
  d.magnitude = std::max(std::abs(least), std::abs(most));
  d.range = most > least ? most - least : d.magnitude;
}

template <typename T>
void compare_integers(const ConstTensorView& found, const ConstTensorView& expected, ValueDifference& d) {
  const ops::Elements<T> f = ops::load<T>(found), e = ops::load<T>(expected);
  const bool is_code = ops::bits_of(found.dtype) <= 8 && found.dtype != DType::boolean;
  for (int64_t i = 0; i < f.size(); ++i) {
    if (f[i] == e[i]) continue;
    const double error = std::abs(static_cast<double>(f[i]) - static_cast<double>(e[i]));
    d.max_abs = std::max(d.max_abs, error);
    d.mean_abs += error / static_cast<double>(f.size());
    if (!is_code || error > 1) ++d.unequal;
  }
}

// Both of one element type and equal sizes.
ValueDifference compare_elements(const ConstTensorView& found, const ConstTensorView& expected) {
  ValueDifference d{.elements = expected.elements(), .mismatch = {}};
  if (expected.dtype == DType::string) {
    d.is_exact = true;
    for (int64_t i = 0; i < d.elements; ++i)
      d.unequal += found.as<std::string>()[i] != expected.as<std::string>()[i] ? 1 : 0;
    return d;
  }
  const DTypeInfo::Kind kind = dtype_info(expected.dtype).kind;
  if (kind == DTypeInfo::Kind::kComplex) {
    using Complex = std::complex<double>;
    const ops::Elements<Complex> f = ops::load<Complex>(found), e = ops::load<Complex>(expected);
    ops::Elements<double> fs(2 * f.size()), es(2 * e.size());
    for (int64_t i = 0; i < f.size(); ++i) {
      fs[2 * i] = f[i].real();
      fs[2 * i + 1] = f[i].imag();
      es[2 * i] = e[i].real();
      es[2 * i + 1] = e[i].imag();
    }
    compare_reals(fs, es, d);
    return d;
  }
  if (kind == DTypeInfo::Kind::kFloat) {
    compare_reals(ops::load<double>(found), ops::load<double>(expected), d);
    return d;
  }
  d.is_exact = true;
  const Status known = ops::with_element(expected.dtype, [&]<typename T>() {
    compare_integers<T>(found, expected, d);
    return Status::ok();
  });
  if (!known.is_ok()) d.mismatch = known.message();
  return d;
}

// [N, spatial..., C] as [N, C, spatial...].
ops::Tensor channels_first(const ConstTensorView& last) {
  const size_t rank = last.sizes.size();
  std::vector<int64_t> sizes = {last.sizes[0], last.sizes[rank - 1]};
  int64_t pixels = 1;
  for (size_t d = 1; d + 1 < rank; ++d) {
    sizes.push_back(last.sizes[d]);
    pixels *= last.sizes[d];
  }
  const int64_t channels = sizes[1];
  ops::Tensor out = ops::Tensor::zeros(last.dtype, sizes).value();
  for (int64_t n = 0; n < sizes[0]; ++n)
    for (int64_t p = 0; p < pixels; ++p)
      for (int64_t c = 0; c < channels; ++c)
        ops::copy_elements(out.view(), (n * channels + c) * pixels + p, last, (n * pixels + p) * channels + c, 1);
  return out;
}

bool may_be_channels_last(const std::vector<int64_t>& found, const std::vector<int64_t>& expected) {
  const size_t rank = expected.size();
  if (rank < 3 || rank > 5 || found.size() != rank || found[0] != expected[0] || found[rank - 1] != expected[1])
    return false;
  return std::equal(found.begin() + 1, found.end() - 1, expected.begin() + 2);
}

ValueDifference compare_tensors(const ConstTensorView& found, const ConstTensorView& expected) {
  if (found.dtype != expected.dtype)
    return {.mismatch = fmt::format("the elements are {} and should be {}", dtype_name(found.dtype),
                                    dtype_name(expected.dtype))};
  ValueDifference d;
  const bool same_sizes = found.sizes == expected.sizes;
  if (same_sizes) d = compare_elements(found, expected);
  const bool differs = d.max_abs > kRounding * d.magnitude || d.nans > 0 || d.infinities > 0 || d.unequal > 0;
  if ((!same_sizes || differs) && ops::bits_of(found.dtype) >= 8 && may_be_channels_last(found.sizes, expected.sizes)) {
    const ops::Tensor turned = channels_first(found);
    ValueDifference last = compare_elements(turned.view(), expected);
    last.channels_last = true;
    if (!same_sizes || (last.max_abs < d.max_abs && last.nans <= d.nans) || last.unequal < d.unequal) return last;
  }
  if (!same_sizes)
    d.mismatch = fmt::format("the sizes are {} and should be {}", Shape::of(found.sizes).to_string(),
                             Shape::of(expected.sizes).to_string());
  return d;
}

}  // namespace

double ValueDifference::relative() const {
  if (max_abs == 0) return 0;
  return range > 0 ? max_abs / range : std::numeric_limits<double>::infinity();
}

void ValueDifference::add(const ValueDifference& item) {
  const auto all = static_cast<double>(elements + item.elements);
  if (all > 0)
    mean_abs = (mean_abs * static_cast<double>(elements) + item.mean_abs * static_cast<double>(item.elements)) / all;
  elements += item.elements;
  max_abs = std::max(max_abs, item.max_abs);
  range = std::max(range, item.range);
  magnitude = std::max(magnitude, item.magnitude);
  nans += item.nans;
  infinities += item.infinities;
  unequal += item.unequal;
  is_exact = is_exact || item.is_exact;
  if (mismatch.empty()) mismatch = item.mismatch;
}

ValueDifference compare_values(const Datum& found, const Datum& expected) {
  if (found.kind != expected.kind)
    return {.mismatch = fmt::format("the value is {} and should be {}", ops::type_of(found).to_string(),
                                    ops::type_of(expected).to_string())};
  switch (expected.kind) {
    case Datum::Kind::kTensor:
      return compare_tensors(found.view(), expected.view());
    case Datum::Kind::kNone:
      return {.mismatch = {}};
    case Datum::Kind::kMap: {
      ValueDifference d = compare_tensors(std::as_const(found.keys).view(), std::as_const(expected.keys).view());
      d.add(compare_tensors(found.view(), expected.view()));
      return d;
    }
    case Datum::Kind::kSequence: {
      if (found.items.size() != expected.items.size())
        return {.mismatch = fmt::format("the sequence has {} items and should have {}", found.items.size(),
                                        expected.items.size())};
      ValueDifference d;
      for (size_t i = 0; i < found.items.size(); ++i) d.add(compare_values(found.items[i], expected.items[i]));
      return d;
    }
  }
  return {.mismatch = "the value is of an unknown kind"};
}

bool is_within(const ValueDifference& d, const Tolerance& tolerance) {
  if (!d.mismatch.empty() || d.nans > 0 || d.infinities > 0 || d.unequal > 0) return false;
  if (d.is_exact) return true;
  return d.max_abs <= tolerance.absolute + tolerance.relative * d.range + kRounding * d.magnitude;
}

}  // namespace nereid::compile
