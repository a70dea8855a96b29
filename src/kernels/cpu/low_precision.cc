// SPDX-License-Identifier: Apache-2.0
// Packing of low-precision weights, and what depends on shapes alone.
#include "kernels/cpu/low_precision.h"

#include "base/float_convert.h"
#include "kernels/cpu/low_plan.h"

namespace nereid::kernels {
namespace {

// AMX reads whole tiles of 16 steps: this much lies behind the last panel.
constexpr int64_t kTailBytes = 1024;

// get(k, n) gives the element; writes panels of [k / depth][16][depth].
template <typename T, typename Get>
void pack(int64_t depth, int64_t k, int64_t n, std::byte* packed, Get get) {
  T* to = reinterpret_cast<T*>(packed);
  for (int64_t panel = 0; panel < gemm_panels(n); ++panel)
    for (int64_t first = 0; first < k; first += depth)
      for (int64_t j = 0; j < kPanelColumns; ++j)
        for (int64_t d = 0; d < depth; ++d) {
          const int64_t row = first + d, column = panel * kPanelColumns + j;
          *to++ = row < k && column < n ? get(row, column) : T{0};
        }
  std::memset(to, 0, kTailBytes);
}

// The same for OIHW weights of one group whose taps are whole steps of `padded` channels: this is most of the time that
// loading a network of codes takes.
template <typename T, typename From, typename Convert>
void pack_taps(int64_t depth, int64_t taps, int64_t channels, int64_t padded, int64_t outputs, const From* oihw,
               std::byte* packed, Convert convert) {
  T* to = reinterpret_cast<T*>(packed);
  for (int64_t first = 0; first < outputs; first += kPanelColumns)
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t c = 0; c < padded; c += depth)
        for (int64_t j = 0; j < kPanelColumns; ++j, to += depth) {
          const From* from = oihw + ((first + j) * channels + c) * taps + tap;
          const int64_t count = first + j >= outputs ? 0 : channels - c < depth ? channels - c : depth;
          for (int64_t d = 0; d < depth; ++d) to[d] = d < count ? convert(from[d * taps]) : T{0};
        }
  std::memset(to, 0, kTailBytes);
}

template <typename T, typename From, typename Convert>
void pack_conv(const ConvShape& s, LowType x, const From* oihw, std::byte* packed, Convert convert) {
  const int64_t taps = s.kernel_h * s.kernel_w, channels = s.in_c / s.groups, outputs = s.out_c / s.groups;
  if (low_conv_is_depthwise(s)) {
    auto* to = reinterpret_cast<float*>(packed);
    const int64_t width = (s.in_c + 15) / 16 * 16;
    for (int64_t t = 0; t < taps; ++t)
      for (int64_t c = 0; c < width; ++c) {
        if (c >= s.in_c) {
          *to++ = 0;
          continue;
        }
        if constexpr (sizeof(T) == 2)
          *to++ = bf16_to_f32(convert(oihw[c * taps + t]));
        else
          *to++ = static_cast<float>(oihw[c * taps + t]);
      }
    return;
  }
  const int64_t padded = low_channels(s, x), k = taps * padded, depth = low_depth(x);
  for (int64_t g = 0; g < s.groups; ++g) {
    const From* group = oihw + g * outputs * channels * taps;
    std::byte* to = packed + g * low_packed_bytes(x, k, outputs);
    if (padded % depth == 0) {
      pack_taps<T>(depth, taps, channels, padded, outputs, group, to, convert);
      continue;
    }
    pack<T>(depth, k, outputs, to,
            [&](int64_t i, int64_t o) { return convert(group[(o * channels + i % channels) * taps + i / channels]); });
  }
}

// As low_is_quads says.
void pack_quads(const ConvShape& s, const int8_t* taps, std::byte* packed) {
  for (int64_t block = 0; block * 64 < s.in_c; ++block, packed += kQuadBlockBytes) {
    auto* sums = reinterpret_cast<int32_t*>(packed);
    auto* quads = reinterpret_cast<int8_t*>(packed + 256);
    std::memset(packed, 0, kQuadBlockBytes);
    const int64_t left = s.in_c - block * 64, distance = left > 32 ? 64 : 32;
    for (int64_t c = 0; c < 64; ++c) {
      if (c % distance >= left) continue;
      const int64_t at = c / 4 % 4 * 16 + c / 16 * 4 + c % 4;
      const int8_t* w = taps + (block * 64 + c % distance) * 9;
      for (int64_t t = 0; t < 9; ++t) {
        sums[at] += w[t];
        const int64_t row = t / 3, j = t % 3;
        quads[((row * 2) * 64 + at) * 4 + j] = w[t];
        quads[((row * 2 + 1) * 64 + at) * 4 + j + 1] = w[t];
      }
    }
  }
}

}  // namespace

int64_t low_packed_bytes(LowType a, int64_t k, int64_t n) {
  return gemm_panels(n) * low_panel_bytes(a, k) + kTailBytes;
}

void low_pack_bf16(const float* b, int64_t b_stride, bool transposed, int64_t k, int64_t n, std::byte* packed) {
  pack<uint16_t>(2, k, n, packed, [&](int64_t i, int64_t j) {
    return f32_to_bf16(transposed ? b[j * b_stride + i] : b[i * b_stride + j]);
  });
}

void low_pack_int8(const int8_t* b, int64_t b_stride, bool transposed, int64_t k, int64_t n, std::byte* packed) {
  pack<int8_t>(4, k, n, packed,
               [&](int64_t i, int64_t j) { return transposed ? b[j * b_stride + i] : b[i * b_stride + j]; });
}

int64_t low_conv_weight_bytes(const ConvShape& s, LowType x) {
  const int64_t taps = s.kernel_h * s.kernel_w;
  if (low_is_quads(s, x)) return (s.in_c + 63) / 64 * kQuadBlockBytes;
  if (low_conv_is_depthwise(s)) return taps * ((s.in_c + 15) / 16 * 16) * 4;
  return s.groups * low_packed_bytes(x, taps * low_channels(s, x), s.out_c / s.groups);
}

void low_pack_conv_bf16(const ConvShape& s, const float* oihw, std::byte* packed) {
  pack_conv<uint16_t>(s, LowType::kBF16, oihw, packed, [](float v) { return f32_to_bf16(v); });
}

void low_pack_conv_int8(const ConvShape& s, const int8_t* oihw, std::byte* packed) {
  if (low_is_quads(s, LowType::kU8)) return pack_quads(s, oihw, packed);
  pack_conv<int8_t>(s, LowType::kU8, oihw, packed, [](int8_t v) { return v; });
}

void low_column_offsets(const int8_t* rows, int64_t n, int64_t k, LowType a, int32_t a_zero, int32_t* offsets) {
  const int32_t zero = a_zero + (a == LowType::kS8 ? 128 : 0);
  for (int64_t j = 0; j < n; ++j) {
    int32_t sum = 0;
    for (int64_t i = 0; i < k; ++i) sum += rows[j * k + i];
    offsets[j] = -zero * sum;
  }
}

int64_t low_gemm_scratch_bytes(const LowGemmParams& p, int workers) {
  return low_rows(p.a_type, p.k).bytes() * workers;
}

int64_t low_conv_worker_bytes(const ConvShape& s, LowType x) {
  if (low_conv_is_depthwise(s)) return x == LowType::kBF16 ? (2 * s.in_c + 63) / 64 * 64 : 0;  // zeros
  switch (low_conv_way(s, x)) {
    case LowWay::kPlain:
    case LowWay::kInPlace:
      return 0;
    case LowWay::kBanded:
      return low_band(s, x).bytes;
    case LowWay::kGathered:
      return low_rows(x, s.kernel_h * s.kernel_w * (s.in_c / s.groups)).bytes();
  }
  return 0;
}

int64_t low_conv_scratch_bytes(const ConvShape& s, LowType x, int workers) {
  return workers * low_conv_worker_bytes(s, x);
}

}  // namespace nereid::kernels
