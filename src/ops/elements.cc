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

// Calls f with a function that gives element i of the tensor in its compute type.
template <typename F>
void with_reader(const ConstTensorView& src, F&& f) {
  const auto plain = [&]<typename S>(S) { f([p = src.as<S>()](int64_t i) { return p[i]; }); };
  const auto bytes = [&](auto decode) { f([p = src.as<uint8_t>(), decode](int64_t i) { return decode(p[i]); }); };
  const auto halves = [&](auto decode) { f([p = src.as<uint16_t>(), decode](int64_t i) { return decode(p[i]); }); };
  const auto nibbles = [&](auto decode) {
    f([p = src.as<uint8_t>(), decode](int64_t i) {
      return decode(static_cast<uint8_t>(p[i / 2] >> (i % 2 * 4) & 15));
    });
  };
  const auto pairs = [&](auto decode) {
    f([p = src.as<uint8_t>(), decode](int64_t i) { return decode(static_cast<uint8_t>(p[i / 4] >> (i % 4 * 2) & 3)); });
  };
  switch (src.dtype) {
    case DType::f32:
      return plain(float());
    case DType::f64:
      return plain(double());
    case DType::i8:
      return plain(int8_t());
    case DType::i16:
      return plain(int16_t());
    case DType::i32:
      return plain(int32_t());
    case DType::i64:
      return plain(int64_t());
    case DType::u8:
      return plain(uint8_t());
    case DType::u16:
      return plain(uint16_t());
    case DType::u32:
      return plain(uint32_t());
    case DType::u64:
      return plain(uint64_t());
    case DType::c64:
      return plain(std::complex<float>());
    case DType::c128:
      return plain(std::complex<double>());
    case DType::boolean:
      return bytes([](uint8_t b) { return b != 0; });
    case DType::f16:
      return halves([](uint16_t h) { return f16_to_f32(h); });
    case DType::bf16:
      return halves([](uint16_t h) { return bf16_to_f32(h); });
    case DType::f8e4m3:
      return bytes([](uint8_t b) { return f8e4m3_to_f32(b); });
    case DType::f8e5m2:
      return bytes([](uint8_t b) { return f8e5m2_to_f32(b); });
    case DType::f8e4m3fnuz:
      return bytes([](uint8_t b) { return f8e4m3fnuz_to_f32(b); });
    case DType::f8e5m2fnuz:
      return bytes([](uint8_t b) { return f8e5m2fnuz_to_f32(b); });
    case DType::f8e8m0:
      return bytes([](uint8_t b) { return f8e8m0_to_f32(b); });
    case DType::f4e2m1:
      return nibbles([](uint8_t b) { return f4e2m1_to_f32(b); });
    case DType::u4:
      return nibbles([](uint8_t b) { return b; });
    case DType::i4:
      return nibbles([](uint8_t b) { return static_cast<int8_t>(b < 8 ? b : b - 16); });
    case DType::u2:
      return pairs([](uint8_t b) { return b; });
    case DType::i2:
      return pairs([](uint8_t b) { return static_cast<int8_t>(b < 2 ? b : b - 4); });
    default:
      NEREID_CHECK(false && "load of a dtype whose elements are no numbers");
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

// Calls f with a function that writes element i.
template <typename F>
void with_writer(const TensorView& dst, F&& f) {
  const auto plain = [&]<typename S>(S) { f([p = dst.as<S>()](int64_t i, auto v) { p[i] = convert<S>(v); }); };
  const auto bytes = [&](auto encode) {
    f([p = dst.as<uint8_t>(), encode](int64_t i, auto v) { p[i] = encode(convert<float>(v)); });
  };
  const auto halves = [&](auto encode) {
    f([p = dst.as<uint16_t>(), encode](int64_t i, auto v) { p[i] = encode(convert<float>(v)); });
  };
  const auto bits = [&](int width) {
    f([p = dst.as<uint8_t>(), width](int64_t i, auto v) {
      put_bits(p, i, width, static_cast<uint8_t>(convert<int64_t>(v)));
    });
  };
  switch (dst.dtype) {
    case DType::f32:
      return plain(float());
    case DType::f64:
      return plain(double());
    case DType::i8:
      return plain(int8_t());
    case DType::i16:
      return plain(int16_t());
    case DType::i32:
      return plain(int32_t());
    case DType::i64:
      return plain(int64_t());
    case DType::u8:
      return plain(uint8_t());
    case DType::u16:
      return plain(uint16_t());
    case DType::u32:
      return plain(uint32_t());
    case DType::u64:
      return plain(uint64_t());
    case DType::c64:
      return plain(std::complex<float>());
    case DType::c128:
      return plain(std::complex<double>());
    case DType::boolean:
      return f([p = dst.as<uint8_t>()](int64_t i, auto v) { p[i] = convert<bool>(v); });
    case DType::f16:
      return halves([](float v) { return f32_to_f16(v); });
    case DType::bf16:
      return halves([](float v) { return f32_to_bf16(v); });
    case DType::f8e4m3:
      return bytes([](float v) { return f32_to_f8e4m3(v); });
    case DType::f8e5m2:
      return bytes([](float v) { return f32_to_f8e5m2(v); });
    case DType::f8e4m3fnuz:
      return bytes([](float v) { return f32_to_f8e4m3fnuz(v); });
    case DType::f8e5m2fnuz:
      return bytes([](float v) { return f32_to_f8e5m2fnuz(v); });
    case DType::f8e8m0:
      return bytes([](float v) { return f32_to_f8e8m0(v); });
    case DType::f4e2m1:
      return f([p = dst.as<uint8_t>()](int64_t i, auto v) { put_bits(p, i, 4, f32_to_f4e2m1(convert<float>(v))); });
    case DType::i4:
    case DType::u4:
      return bits(4);
    case DType::i2:
    case DType::u2:
      return bits(2);
    default:
      NEREID_CHECK(false && "store to a dtype whose elements are no numbers");
  }
}

}  // namespace

template <typename T>
Elements<T> load(const ConstTensorView& src) {
  Elements<T> out(src.elements());
  with_reader(src, [&](auto read) {
    for (int64_t i = 0; i < out.size(); ++i) out[i] = convert<T>(read(i));
  });
  return out;
}

template <typename T>
Status store(const TensorView& dst, std::span<const T> values) {
  NEREID_CHECK(dst.elements() == static_cast<int64_t>(values.size()));
  with_writer(dst, [&](auto write) {
    for (size_t i = 0; i < values.size(); ++i) write(static_cast<int64_t>(i), values[i]);
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
