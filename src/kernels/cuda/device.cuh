// SPDX-License-Identifier: Apache-2.0
// What the kernels' sources share: launching with overlap, conversions, sixteen-byte accesses, sums over a block.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/launch.h"

namespace nereid::kernels::cuda {

// ---- launching ----

struct LaunchShape {
  dim3 grid;
  int threads = 0;
  int shared_bytes = 0;
  int cluster = 1;  // blocks along x, or z, that form a cluster (sm_90)
  bool cluster_z = false;
};

// The kernel's limit of dynamic shared memory is raised when it needs more than 48 KiB: a host-side setting, legal
// while a stream is being captured.
template <typename Params>
void launch(void (*kernel)(Params), const Params& params, const LaunchShape& shape, const Queue& queue) {
  cudaLaunchConfig_t config = {};
  config.gridDim = shape.grid;
  config.blockDim = dim3(static_cast<unsigned>(shape.threads));
  config.dynamicSmemBytes = static_cast<size_t>(shape.shared_bytes);
  config.stream = static_cast<cudaStream_t>(queue.stream);
  cudaLaunchAttribute attributes[2] = {};
  if (queue.overlap && device_traits().capability >= 90) {
    attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[config.numAttrs].val.programmaticStreamSerializationAllowed = 1;
    ++config.numAttrs;
  }
  if (shape.cluster > 1) {
    attributes[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
    attributes[config.numAttrs].val.clusterDim.x = shape.cluster_z ? 1 : static_cast<unsigned>(shape.cluster);
    attributes[config.numAttrs].val.clusterDim.y = 1;
    attributes[config.numAttrs].val.clusterDim.z = shape.cluster_z ? static_cast<unsigned>(shape.cluster) : 1;
    ++config.numAttrs;
  }
  config.attrs = attributes;
  if (shape.shared_bytes > 48 * 1024) {
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shape.shared_bytes);
  }
  cudaLaunchKernelEx(&config, kernel, params);
}

inline unsigned blocks_for(int64_t work, int64_t each) {
  return static_cast<unsigned>((work + each - 1) / each);
}

// Lets the next kernel of the stream start. Every kernel does so first thing: what follows waits anyhow.
__device__ __forceinline__ void start_next() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// Until the kernel in front has ended and its results can be seen. Every thread of every kernel does so before it reads
// what a kernel may have written, and before it writes anything.
__device__ __forceinline__ void wait_for_previous() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// ---- elements ----

__device__ __forceinline__ float to_float(float x) {
  return x;
}
__device__ __forceinline__ float to_float(__half x) {
  return __half2float(x);
}
__device__ __forceinline__ float to_float(__nv_bfloat16 x) {
  return __bfloat162float(x);
}

template <typename T>
__device__ __forceinline__ T from_float(float x);
template <>
__device__ __forceinline__ float from_float<float>(float x) {
  return x;
}
template <>
__device__ __forceinline__ __half from_float<__half>(float x) {
  return __float2half_rn(x);
}
template <>
__device__ __forceinline__ __nv_bfloat16 from_float<__nv_bfloat16>(float x) {
  return __float2bfloat16_rn(x);
}

// Two elements of a 32-bit word, the lower first.
template <typename T>
__device__ __forceinline__ float2 unpack2(uint32_t word);
template <>
__device__ __forceinline__ float2 unpack2<__half>(uint32_t word) {
  return __half22float2(*reinterpret_cast<const __half2*>(&word));
}
template <>
__device__ __forceinline__ float2 unpack2<__nv_bfloat16>(uint32_t word) {
  return make_float2(__uint_as_float(word << 16), __uint_as_float(word & 0xffff0000u));
}

template <typename T>
__device__ __forceinline__ uint32_t pack2(float low, float high);
template <>
__device__ __forceinline__ uint32_t pack2<__half>(float low, float high) {
  const __half2 pair = __floats2half2_rn(low, high);
  return *reinterpret_cast<const uint32_t*>(&pair);
}
template <>
__device__ __forceinline__ uint32_t pack2<__nv_bfloat16>(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const uint32_t*>(&pair);
}

// f8e4m3 as f16: the same bits a byte higher are the value / 256; products of 256 are exact.
__device__ __forceinline__ uint32_t f8_pair_over_256(uint32_t two_bytes_high) {  // bytes 1 and 3 hold the codes
  return (two_bytes_high & 0x80008000u) | ((two_bytes_high & 0x7f007f00u) >> 1);
}

// Two f8e4m3 of the low half of a word, as f16 / kF8Factor.
#if __CUDA_ARCH__ >= 890
inline constexpr float kF8Factor = 1.0f;
__device__ __forceinline__ uint32_t f8_pair(uint32_t codes) {
  uint32_t halves;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(static_cast<uint16_t>(codes)));
  return halves;
}
#else
inline constexpr float kF8Factor = 256.0f;
__device__ __forceinline__ uint32_t f8_pair(uint32_t codes) {
  return f8_pair_over_256(__byte_perm(codes, 0, 0x1404));
}
#endif

// Rounds to nearest even and saturates at 448.
__device__ __forceinline__ uint8_t to_f8(float x) {
  const uint32_t sign = (__float_as_uint(x) >> 24) & 0x80u;
  const float a = fminf(fabsf(x), 448.0f);
  if (!(fabsf(x) <= 3.4e38f) && !(fabsf(x) > 3.4e38f)) return static_cast<uint8_t>(sign | 0x7fu);  // NaN
  if (a < 0.015625f)
    return static_cast<uint8_t>(sign | static_cast<uint32_t>(__float2int_rn(a * 512.0f)));  // subnormal
  const uint32_t bits = __float_as_uint(a);
  const uint32_t rounded = bits + 0x7ffffu + ((bits >> 20) & 1u);
  return static_cast<uint8_t>(sign | ((rounded >> 20) - (120u << 3)));
}

template <typename T>
__device__ __forceinline__ void unpack8(const uint4& words, float (&values)[8]) {
  const uint32_t w[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 pair = unpack2<T>(w[i]);
    values[2 * i] = pair.x;
    values[2 * i + 1] = pair.y;
  }
}
template <typename T>
__device__ __forceinline__ uint4 pack8(const float (&values)[8]) {
  return make_uint4(pack2<T>(values[0], values[1]), pack2<T>(values[2], values[3]), pack2<T>(values[4], values[5]),
                    pack2<T>(values[6], values[7]));
}

// Eight elements from or to 16 (or, as f32, 32) aligned bytes.
template <typename T>
__device__ __forceinline__ void load8(const T* src, float (&values)[8]) {
  unpack8<T>(*reinterpret_cast<const uint4*>(src), values);
}
template <>
__device__ __forceinline__ void load8<float>(const float* src, float (&values)[8]) {
  const float4 low = reinterpret_cast<const float4*>(src)[0], high = reinterpret_cast<const float4*>(src)[1];
  values[0] = low.x, values[1] = low.y, values[2] = low.z, values[3] = low.w;
  values[4] = high.x, values[5] = high.y, values[6] = high.z, values[7] = high.w;
}
template <typename T>
__device__ __forceinline__ void store8(T* dst, const float (&values)[8]) {
  *reinterpret_cast<uint4*>(dst) = pack8<T>(values);
}
template <>
__device__ __forceinline__ void store8<float>(float* dst, const float (&values)[8]) {
  reinterpret_cast<float4*>(dst)[0] = make_float4(values[0], values[1], values[2], values[3]);
  reinterpret_cast<float4*>(dst)[1] = make_float4(values[4], values[5], values[6], values[7]);
}

// Weights are read once: past the first-level cache.
__device__ __forceinline__ uint4 load_stream(const void* src) {
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(src));
  return v;
}

// Sixteen bytes from global to shared memory; zeros where `valid` is false.
__device__ __forceinline__ void copy_async16(void* shared, const void* global, bool valid) {
  const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(global), "r"(valid ? 16 : 0)
               : "memory");
}
__device__ __forceinline__ void copy_async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int kPending>
__device__ __forceinline__ void copy_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

// ---- matrix instruction ----

// d[16 x 8] += a[16 x 16] b[16 x 8]. Lane (g = lane / 4, t = lane % 4): a0 row g, a1 row g + 8, columns 2t, 2t + 1; a2,
// a3 the same rows, columns 2t + 8, 2t + 9; b0 rows 2t, 2t + 1 and b1 rows 2t + 8, 2t + 9 of column g; d0, d1 row g,
// d2, d3 row g + 8, columns 2t, 2t + 1. Sums run over the 16 products whatever order a and b put them in, as long as it
// is one.
template <typename T>
__device__ __forceinline__ void mma(float (&d)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0,
                                    uint32_t b1);
template <>
__device__ __forceinline__ void mma<__half>(float (&d)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3,
                                            uint32_t b0, uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
template <>
__device__ __forceinline__ void mma<__nv_bfloat16>(float (&d)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3,
                                                   uint32_t b0, uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// Four 8 x 8 matrices of 16-bit elements, transposed: lane l gives the address of row l % 8 of matrix l / 8, and gets
// of each matrix elements (2 t, g) and (2 t + 1, g). Two of them one above the other are the b of mma.
__device__ __forceinline__ void load_transposed(const void* shared, uint32_t (&d)[4]) {
  const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(address)
               : "memory");
}

// ---- keys and values of 8 bits ----

// An element of such a cache.
struct F8 {
  uint8_t bits;
};

// The two low ones of `codes`, as a pair of T.
template <typename T>
__device__ __forceinline__ uint32_t f8_as(uint32_t codes) {
  const uint32_t halves = f8_pair(codes & 0xffffu);
  if constexpr (__is_same(T, __half)) return halves;
  const float2 values = unpack2<__half>(halves);
  return pack2<T>(values.x, values.y);
}

// ---- clusters ----

__device__ __forceinline__ void cluster_arrive() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
}
__device__ __forceinline__ void cluster_wait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

// A float of the shared memory of block `rank` of the cluster, at the place where this block has `local`.
__device__ __forceinline__ float load_peer(const float* local, int rank) {
  float value = 0.0f;
#if __CUDA_ARCH__ >= 900
  const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(local));
  uint32_t remote;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address), "r"(rank));
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(remote) : "memory");
#endif
  return value;
}
__device__ __forceinline__ float2 load_peer2(const float2* local, int rank) {
  float2 value = make_float2(0, 0);
#if __CUDA_ARCH__ >= 900
  const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(local));
  uint32_t remote;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address), "r"(rank));
  asm volatile("ld.shared::cluster.v2.f32 {%0, %1}, [%2];" : "=f"(value.x), "=f"(value.y) : "r"(remote) : "memory");
#endif
  return value;
}

// ---- sums ----

__device__ __forceinline__ float warp_sum(float x) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
  return x;
}
__device__ __forceinline__ float warp_max(float x) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, step));
  return x;
}

// The sum of x over the block, for every thread; `scratch` holds 32 floats and may be used again after the next
// barrier.
__device__ __forceinline__ float block_sum(float x, float* scratch) {
  const int warps = static_cast<int>(blockDim.x) / 32, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  x = warp_sum(x);
  if (warps == 1) return x;
  if (lane == 0) scratch[warp] = x;
  __syncthreads();
  x = warp_sum(lane < warps ? scratch[lane] : 0.0f);
  return x;
}

__device__ __forceinline__ float activate(Activation activation, float x) {
  switch (activation) {
    case Activation::kSilu:
      return x / (1.0f + __expf(-x));
    case Activation::kGelu:
      return 0.5f * x * (1.0f + erff(x * 0.70710678118654752f));
    case Activation::kGeluTanh:
      return 0.5f * x * (1.0f + tanhf(0.79788456080286536f * (x + 0.044715f * x * x * x)));
    case Activation::kRelu:
      return x < 0.0f ? 0.0f : x;
    case Activation::kNone:
      break;
  }
  return x;
}

}  // namespace nereid::kernels::cuda
