// SPDX-License-Identifier: Apache-2.0
// Random numbers on the device, values on the host, tolerances.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cuda/device.cuh"
#include "kernels/cuda/harness/harness.h"

namespace nereid::kernels::cuda::harness {
namespace {

__device__ uint64_t mixed(uint64_t x) {  // the finaliser of SplitMix64
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

__global__ void fill_kernel(Element element, void* data, int64_t count, uint64_t seed, float scale, float shift) {
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += static_cast<int64_t>(gridDim.x) * blockDim.x) {
    const uint64_t bits = mixed(seed * 0x100000001b3ull + static_cast<uint64_t>(i));
    const float x = (static_cast<float>(bits >> 40) * 0x1p-23f - 1.0f) * scale + shift;
    switch (element) {
      case Element::kF32:
        static_cast<float*>(data)[i] = x;
        break;
      case Element::kF16:
        static_cast<__half*>(data)[i] = __float2half_rn(x);
        break;
      case Element::kBF16:
        static_cast<__nv_bfloat16*>(data)[i] = __float2bfloat16_rn(x);
        break;
      case Element::kF8E4M3:
        static_cast<uint8_t*>(data)[i] = to_f8(x);
        break;
    }
  }
}

constexpr int kStreamThreads = 512, kStreamEach = 4;

__global__ void __launch_bounds__(kStreamThreads)
    stream_kernel(const uint4* src, uint4* dst, uint32_t* sink, int64_t count) {
  const int64_t base = static_cast<int64_t>(blockIdx.x) * kStreamThreads * kStreamEach + threadIdx.x;
  uint4 v[kStreamEach];
#pragma unroll
  for (int i = 0; i < kStreamEach; ++i) {
    v[i] = base + kStreamThreads * i < count ? load_stream(src + base + kStreamThreads * i) : make_uint4(0, 0, 0, 0);
  }
#pragma unroll
  for (int i = 0; i < kStreamEach; ++i) {
    if (dst != nullptr) {
      if (base + kStreamThreads * i < count) dst[base + kStreamThreads * i] = v[i];
    } else if ((v[i].x ^ v[i].y ^ v[i].z ^ v[i].w) == 0x12345678u) {
      *sink = 1;  // so that the loads are not left out
    }
  }
}

}  // namespace

void stream_bytes(const void* src, void* dst, void* sink, int64_t bytes, const Queue& queue) {
  stream_kernel<<<blocks_for(bytes / 16, kStreamThreads * kStreamEach), kStreamThreads, 0,
                  static_cast<cudaStream_t>(queue.stream)>>>(static_cast<const uint4*>(src), static_cast<uint4*>(dst),
                                                             static_cast<uint32_t*>(sink), bytes / 16);
}

void fill_random(Element element, void* data, int64_t count, uint64_t seed, float scale, float shift) {
  fill_kernel<<<1024, 256>>>(element, data, count, seed, scale, shift);
  ok(cudaDeviceSynchronize(), "fill_random");
}

double value_of(Element element, const void* data, int64_t index) {
  switch (element) {
    case Element::kF32:
      return static_cast<const float*>(data)[index];
    case Element::kF16:
      return __half2float(static_cast<const __half*>(data)[index]);
    case Element::kBF16:
      return __bfloat162float(static_cast<const __nv_bfloat16*>(data)[index]);
    case Element::kF8E4M3:
      break;
  }
  const int bits = static_cast<const uint8_t*>(data)[index];
  const int exponent = (bits >> 3) & 15, mantissa = bits & 7;
  if (exponent == 15 && mantissa == 7) return std::numeric_limits<double>::quiet_NaN();
  const double size = exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 10);
  return (bits & 128) != 0 ? -size : size;
}

double Distance::value() const {
  return std::sqrt(difference) / std::max(std::sqrt(norm), 1e-30);
}

double tolerance(Element result, Element operand) {
  const auto of = [](Element e) {
    return e == Element::kF32 ? 3e-6 : e == Element::kF16 ? 6e-4 : e == Element::kBF16 ? 5e-3 : 5e-2;
  };
  return std::max(of(result), of(operand));
}

int sets_for(int64_t bytes) {
  constexpr int64_t kWanted = 400'000'000;  // bytes: 8 times an H200's second-level cache
  return static_cast<int>(std::clamp<int64_t>((kWanted + bytes - 1) / bytes, 1, 64));
}

}  // namespace nereid::kernels::cuda::harness
