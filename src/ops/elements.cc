// SPDX-License-Identifier: Apache-2.0
// Element access for every plain dtype.
#include "ops/elements.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/check.h"
#include "base/float_convert.h"

namespace nereid::ops {
namespace {

template <typename T>
inline constexpr bool kIsComplex = false;
template <typename T>
inline constexpr bool kIsComplex<std::complex<T>> = true;

template <typename T, typename S>
T convert(S v) {
  if constexpr (kIsComplex<T> && kIsComplex<S>) {
    return T(static_cast<typename T::value_type>(v.real()), static_cast<typename T::value_type>(v.imag()));
  } else if constexpr (kIsComplex<T>) {
    return T(static_cast<typename T::value_type>(v));
  } else if constexpr (kIsComplex<S>) {
    return convert<T>(v.real());
  } else if constexpr (std::is_same_v<T, bool>) {
    return v != S(0);
  } else if constexpr (std::is_floating_point_v<S> && std::is_integral_v<T>) {
    if (std::isnan(v)) return 0;
    // The first number past T's largest is a power of two, which a float holds exactly.
    const S past = std::ldexp(S(1), std::numeric_limits<T>::digits);
    if (v >= past) return std::numeric_limits<T>::max();
    if (v < static_cast<S>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
    return static_cast<T>(v);
  } else {
    return static_cast<T>(v);
  }
}

// A field of `bits` bits of a byte that holds several elements.
void put_bits(uint8_t* p, int64_t i, int bits, uint8_t value) {
  const int64_t a_byte = 8 / bits;
  const auto shift = static_cast<unsigned>(i % a_byte * bits);
  const auto mask = static_cast<uint8_t>((1u << bits) - 1u);
  p[i / a_byte] = static_cast<uint8_t>((p[i / a_byte] & ~(mask << shift)) | ((value & mask) << shift));
}
uint8_t get_bits(const uint8_t* p, int64_t i, int bits) {
  const int64_t a_byte = 8 / bits;
  return static_cast<uint8_t>(p[i / a_byte] >> (i % a_byte * bits) & ((1 << bits) - 1));
}

// How elements of a dtype lie in memory: `get` gives one in its compute type, `put` takes a Value.
template <typename S>
struct Plain {
  using Value = S;
  static S get(const void* p, int64_t i) { return static_cast<const S*>(p)[i]; }
  static void put(void* p, int64_t i, S v) { static_cast<S*>(p)[i] = v; }
};
struct Truth {
  using Value = bool;
  static bool get(const void* p, int64_t i) { return static_cast<const uint8_t*>(p)[i] != 0; }
  static void put(void* p, int64_t i, bool v) { static_cast<uint8_t*>(p)[i] = v; }
};
template <typename Code, float (*decode)(Code), Code (*encode)(float)>
struct Coded {
  using Value = float;
  static float get(const void* p, int64_t i) { return decode(static_cast<const Code*>(p)[i]); }
  static void put(void* p, int64_t i, float v) { static_cast<Code*>(p)[i] = encode(v); }
};
// A value too large for 8 bits becomes the largest.
template <float (*decode)(uint8_t), uint8_t (*encode)(float, F8Overflow)>
struct Float8 {
  using Value = float;
  static float get(const void* p, int64_t i) { return decode(static_cast<const uint8_t*>(p)[i]); }
  static void put(void* p, int64_t i, float v) { static_cast<uint8_t*>(p)[i] = encode(v, F8Overflow::kSaturate); }
};
struct Fp4 {
  using Value = float;
  static float get(const void* p, int64_t i) { return f4e2m1_to_f32(get_bits(static_cast<const uint8_t*>(p), i, 4)); }
  static void put(void* p, int64_t i, float v) { put_bits(static_cast<uint8_t*>(p), i, 4, f32_to_f4e2m1(v)); }
};
template <int bits, bool is_signed>
struct Packed {
  using Value = int64_t;
  static int8_t get(const void* p, int64_t i) {
    const int code = get_bits(static_cast<const uint8_t*>(p), i, bits);
    return static_cast<int8_t>(is_signed && code >= 1 << (bits - 1) ? code - (1 << bits) : code);
  }
  static void put(void* p, int64_t i, int64_t v) {
    put_bits(static_cast<uint8_t*>(p), i, bits, static_cast<uint8_t>(v));
  }
};

// Calls f with the layout of a dtype whose elements are numbers.
template <typename F>
void with_layout(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32:
      return f(Plain<float>());
    case DType::f64:
      return f(Plain<double>());
    case DType::i8:
      return f(Plain<int8_t>());
    case DType::i16:
      return f(Plain<int16_t>());
    case DType::i32:
      return f(Plain<int32_t>());
    case DType::i64:
      return f(Plain<int64_t>());
    case DType::u8:
      return f(Plain<uint8_t>());
    case DType::u16:
      return f(Plain<uint16_t>());
    case DType::u32:
      return f(Plain<uint32_t>());
    case DType::u64:
      return f(Plain<uint64_t>());
    case DType::c64:
      return f(Plain<std::complex<float>>());
    case DType::c128:
      return f(Plain<std::complex<double>>());
    case DType::boolean:
      return f(Truth());
    case DType::f16:
      return f(Coded<uint16_t, f16_to_f32, f32_to_f16>());
    case DType::bf16:
      return f(Coded<uint16_t, bf16_to_f32, f32_to_bf16>());
    case DType::f8e4m3:
      return f(Float8<f8e4m3_to_f32, f32_to_f8e4m3>());
    case DType::f8e5m2:
      return f(Float8<f8e5m2_to_f32, f32_to_f8e5m2>());
    case DType::f8e4m3fnuz:
      return f(Float8<f8e4m3fnuz_to_f32, f32_to_f8e4m3fnuz>());
    case DType::f8e5m2fnuz:
      return f(Float8<f8e5m2fnuz_to_f32, f32_to_f8e5m2fnuz>());
    case DType::f8e8m0:
      return f(Coded<uint8_t, f8e8m0_to_f32, f32_to_f8e8m0>());
    case DType::f4e2m1:
      return f(Fp4());
    case DType::i4:
      return f(Packed<4, true>());
    case DType::u4:
      return f(Packed<4, false>());
    case DType::i2:
      return f(Packed<2, true>());
    case DType::u2:
      return f(Packed<2, false>());
    default:
      NEREID_CHECK(false && "a dtype whose elements are no numbers");
  }
}

}  // namespace

template <typename T>
Elements<T> load(const ConstTensorView& src) {
  Elements<T> out(src.elements());
  with_layout(src.dtype, [&](auto layout) {
    for (int64_t i = 0; i < out.size(); ++i) out[i] = convert<T>(layout.get(src.data, i));
  });
  return out;
}

template <typename T>
Status store(const TensorView& dst, std::span<const T> values) {
  NEREID_CHECK(dst.elements() == static_cast<int64_t>(values.size()));
  with_layout(dst.dtype, [&](auto layout) {
    using Value = typename decltype(layout)::Value;
    for (size_t i = 0; i < values.size(); ++i) layout.put(dst.data, static_cast<int64_t>(i), convert<Value>(values[i]));
  });
  return Status::ok();
}

#define NEREID_ELEMENT_TYPE(T)                          \
  template Elements<T> load<T>(const ConstTensorView&); \
  template Status store<T>(const TensorView&, std::span<const T>);
NEREID_ELEMENT_TYPE(float)
NEREID_ELEMENT_TYPE(double)
NEREID_ELEMENT_TYPE(int8_t)
NEREID_ELEMENT_TYPE(int16_t)
NEREID_ELEMENT_TYPE(int32_t)
NEREID_ELEMENT_TYPE(int64_t)
NEREID_ELEMENT_TYPE(uint8_t)
NEREID_ELEMENT_TYPE(uint16_t)
NEREID_ELEMENT_TYPE(uint32_t)
NEREID_ELEMENT_TYPE(uint64_t)
NEREID_ELEMENT_TYPE(bool)
NEREID_ELEMENT_TYPE(std::complex<float>)
NEREID_ELEMENT_TYPE(std::complex<double>)
#undef NEREID_ELEMENT_TYPE

void copy_elements(const TensorView& dst, int64_t di, const ConstTensorView& src, int64_t si, int64_t count) {
  NEREID_DCHECK(dst.dtype == src.dtype && !is_block_format(dst.dtype));
  if (dst.dtype == DType::string) {
    for (int64_t i = 0; i < count; ++i) dst.as<std::string>()[di + i] = src.as<std::string>()[si + i];
  } else if (is_sub_byte(dst.dtype)) {
    const int width = 8 / dtype_info(dst.dtype).block_elements;
    for (int64_t i = 0; i < count; ++i)
      put_bits(dst.as<uint8_t>(), di + i, width, get_bits(src.as<uint8_t>(), si + i, width));
  } else {
    const int64_t size = dtype_info(dst.dtype).block_bytes;
    std::memcpy(dst.as<std::byte>() + di * size, src.as<std::byte>() + si * size, static_cast<size_t>(count * size));
  }
}

Status no_such_elements(DType dtype) {
  return unsupported("elements of type {} are not taken here", dtype_name(dtype));
}

}  // namespace nereid::ops
