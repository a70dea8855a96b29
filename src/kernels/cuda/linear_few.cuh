// SPDX-License-Identifier: Apache-2.0
// The products of linear.h for few tokens, over a loader of weight_loaders.cuh, in two shapes with the same sums:
//
// narrow (up to 16 tokens a block): a block is 16 rows (of both matrices where gated); its 8 warps are the 8 slices of
// the columns
//   and read x from the caches. A row of blocks a 16 tokens.
// wide (up to 64 tokens, sm_90): a cluster of 8 blocks is 128 rows; a block is a slice and keeps its part of x in
// shared
//   memory, its 8 warps are 8 tiles; the slices are added through distributed shared memory.
//
// Slice s is the steps [steps * s / 8, steps * (s + 1) / 8). Before it waits for the kernel in front, a block has its
// first weights on their way to registers.
#pragma once

#include <atomic>

#include "kernels/cuda/linear.h"
#include "kernels/cuda/weight_loaders.cuh"

namespace nereid::kernels::cuda {

enum class FewShape : uint8_t { kAuto, kNarrow, kWide };

struct FewJob {
  LinearParams p;
  FewShape shape = FewShape::kAuto;
  int prefetch_blocks = 0;  // narrow: so many first blocks fetch the rest of their slices ahead
  int x_steps = 0;          // wide: the longest slice, in steps
  int sum_buffers = 0;      // wide: places for sums in shared memory, 2 or 1
};

// One a kind of weight, a file each.
void linear_few_halves(const FewJob& job, const Queue& queue);
void linear_few_f8(const FewJob& job, const Queue& queue);
void linear_few_codes4(const FewJob& job, const Queue& queue);
void linear_few_codes8(const FewJob& job, const Queue& queue);
// linear_few, in a shape of the caller's choice (the harness compares them).
void linear_few_as(const LinearParams& params, FewShape shape, bool prefetch, const Queue& queue);

inline constexpr int kSlices = 8;

// What becomes of a finished sum.
template <typename T>
__device__ __forceinline__ void finish(const LinearParams& p, int64_t token, int64_t row, float sum, float sum_up) {
  if (p.bias != nullptr) sum += p.bias[row];
  sum = activate(p.activation, sum);
  if (p.weight_up.data != nullptr) {
    if (p.bias_up != nullptr) sum_up += p.bias_up[row];
    sum *= sum_up;
  }
  if (p.residual != nullptr) sum += to_float(static_cast<const T*>(p.residual)[token * p.residual_stride + row]);
  if (p.y_element == Element::kF32) {
    static_cast<float*>(p.y)[token * p.y_stride + row] = sum;
  } else {
    static_cast<T*>(p.y)[token * p.y_stride + row] = from_float<T>(sum);
  }
}

// The two instructions of a piece, for one group of 8 tokens.
template <typename T>
__device__ __forceinline__ void multiply(float (&sum)[4], const uint32_t (&lo)[4], const uint32_t (&hi)[4],
                                         const uint4& x) {
  mma<T>(sum, lo[0], hi[0], lo[1], hi[1], x.x, x.y);
  mma<T>(sum, lo[2], hi[2], lo[3], hi[3], x.z, x.w);
}

// One step: what the loader decoded times x, whose 16 bytes of piece i for the n-th 8 tokens are x(n, i). Loaders of
// codes in groups of 32 and more hand out plain integers: each group's products are summed on their own, then scaled in
// f32; the sum of x over the group, which goes with the offset, is a product with ones.
template <typename T, typename Loader, int kGroups>
struct Accumulate {
  template <typename X>
  __device__ static __forceinline__ void step(const Loader& loader, const typename Loader::Buffer& buffer,
                                              float (&sum)[kGroups][4], const X& x) {
    if constexpr (Loader::kScalePieces == 0) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        uint32_t lo[4], hi[4];
        loader.template decode<T>(buffer, i, lo, hi);
#pragma unroll
        for (int n = 0; n < kGroups; ++n) multiply<T>(sum[n], lo, hi, x(n, i));
      }
    } else {
      constexpr uint32_t kOnes = __is_same(T, __half) ? 0x3c003c00u : 0x3f803f80u;
#pragma unroll
      for (int first = 0; first < 4; first += Loader::kScalePieces) {
        float part[kGroups][4] = {}, ones[kGroups][4] = {};
#pragma unroll
        for (int i = first; i < first + Loader::kScalePieces; ++i) {
          uint32_t lo[4], hi[4];
          loader.template decode<T>(buffer, i, lo, hi);
#pragma unroll
          for (int n = 0; n < kGroups; ++n) {
            const uint4 v = x(n, i);
            multiply<T>(part[n], lo, hi, v);
            if (loader.has_offset) {
              mma<T>(ones[n], kOnes, kOnes, kOnes, kOnes, v.x, v.y);
              mma<T>(ones[n], kOnes, kOnes, kOnes, kOnes, v.z, v.w);
            }
          }
        }
        const float2 scale = loader.scale_of(buffer.scale, first);
#pragma unroll
        for (int n = 0; n < kGroups; ++n) {
#pragma unroll
          for (int i = 0; i < 4; ++i) sum[n][i] = fmaf(part[n][i], i < 2 ? scale.x : scale.y, sum[n][i]);
        }
        if (loader.has_offset) {
          const float2 offset = loader.scale_of(buffer.offset, first);
#pragma unroll
          for (int n = 0; n < kGroups; ++n) {
#pragma unroll
            for (int i = 0; i < 4; ++i) sum[n][i] = fmaf(ones[n][i], i < 2 ? offset.x : offset.y, sum[n][i]);
          }
        }
      }
    }
  }
};

template <typename T, typename Loader, int kGroups, int kMatrices>
__global__ void __launch_bounds__(32 * kSlices, 2) linear_narrow_kernel(const __grid_constant__ FewJob job) {
  constexpr int kDepth = Loader::kDepth / kMatrices;
  constexpr int kTokens = 8 * kGroups, kRowPad = kTileRows + 4;
  __shared__ float partial[kMatrices][kSlices][kTokens][kRowPad];
  const LinearParams& p = job.p;
  start_next();
  const int slice = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int64_t tile = blockIdx.x;
  const int cols = static_cast<int>(p.weight.cols), steps = (cols + kStep - 1) / kStep;
  const int first = steps * slice / kSlices, end = steps * (slice + 1) / kSlices;
  const Loader loaders[2] = {Loader(p.weight, tile, lane), Loader(kMatrices == 2 ? p.weight_up : p.weight, tile, lane)};
  typename Loader::Buffer buffers[kDepth][kMatrices];
#pragma unroll
  for (int d = 0; d < kDepth; ++d) {
    if (first + d >= end) continue;
#pragma unroll
    for (int m = 0; m < kMatrices; ++m) loaders[m].load(first + d, buffers[d][m]);
  }
  if (static_cast<int>(blockIdx.x) < job.prefetch_blocks) {
    for (int step = first + kDepth; step < end; ++step) {
#pragma unroll
      for (int m = 0; m < kMatrices; ++m) Loader::prefetch(m == 0 ? p.weight : p.weight_up, tile, step, lane);
    }
  }
  wait_for_previous();

  const int64_t first_token = static_cast<int64_t>(blockIdx.y) * kTokens;
  const T* x[kGroups];
#pragma unroll
  for (int n = 0; n < kGroups; ++n) {
    const int64_t token = first_token + 8 * n + lane / 4;
    x[n] = token < p.tokens ? static_cast<const T*>(p.x) + token * p.x_stride : nullptr;
  }
  float sum[kMatrices][kGroups][4] = {};
  for (int base = first; base < end; base += kDepth) {
#pragma unroll
    for (int d = 0; d < kDepth; ++d) {
      const int step = base + d;
      if (step >= end) break;
        // Both matrices read x: the compiler keeps it, or it comes from the first-level cache again.
#pragma unroll
      for (int m = 0; m < kMatrices; ++m) {
        Accumulate<T, Loader, kGroups>::step(loaders[m], buffers[d][m], sum[m], [&](int n, int i) {
          const int col = step * kStep + Loader::x_column(i, lane);
          return x[n] != nullptr && col < cols ? *reinterpret_cast<const uint4*>(x[n] + col) : make_uint4(0, 0, 0, 0);
        });
      }
#pragma unroll
      for (int m = 0; m < kMatrices; ++m) {
        if (step + kDepth < end) loaders[m].load(step + kDepth, buffers[d][m]);
      }
    }
  }

  const int g = lane / 4, t = lane % 4;
#pragma unroll
  for (int m = 0; m < kMatrices; ++m) {
#pragma unroll
    for (int n = 0; n < kGroups; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) partial[m][slice][8 * n + 2 * t + i % 2][g + 8 * (i / 2)] = sum[m][n][i];
    }
  }
  __syncthreads();
  const int64_t tokens = p.tokens - first_token < kTokens ? p.tokens - first_token : kTokens;
  for (int e = static_cast<int>(threadIdx.x); e < tokens * kTileRows; e += 32 * kSlices) {
    const int token = e / kTileRows, r = e % kTileRows;
    const int64_t row = tile * kTileRows + r;
    if (row >= p.weight.rows) continue;
    float total[2] = {};
#pragma unroll
    for (int m = 0; m < kMatrices; ++m) {
#pragma unroll
      for (int s = 0; s < kSlices; ++s) total[m] += partial[m][s][token][r];
      total[m] *= Loader::factor(m == 0 ? p.weight : p.weight_up, row);
    }
    finish<T>(p, first_token + token, row, total[0], total[1]);
  }
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

inline constexpr int kWideRows = 128, kWidePad = kWideRows + 4;

template <typename Loader>
constexpr int wide_row_bytes(int steps) {
  return 2 * kStep * steps + Loader::kPad;
}

// Block `slice` of the cluster finishes its eighth of a group's outputs.
template <typename T, typename Loader>
__device__ __forceinline__ void finish_group(const LinearParams& p, const float* sums, int64_t group, int slice) {
  const bool is_gated = p.weight_up.data != nullptr;
  const int mine = is_gated ? kTileRows / 2 : kTileRows;
  const int64_t first_row = group * (is_gated ? kWideRows / 2 : kWideRows) + slice * mine;
  for (int e = static_cast<int>(threadIdx.x); e < p.tokens * mine; e += 32 * kSlices) {
    const int token = e / mine, r = e % mine;
    const int64_t row = first_row + r;
    if (row >= p.weight.rows) continue;
    const float* at = sums + token * kWidePad + slice * mine + r;
    float parts[kSlices], total = 0.0f, total_up = 0.0f;
#pragma unroll
    for (int s = 0; s < kSlices; ++s) parts[s] = load_peer(at, s);
#pragma unroll
    for (int s = 0; s < kSlices; ++s) total += parts[s];
    total *= Loader::factor(p.weight, row);
    if (is_gated) {
#pragma unroll
      for (int s = 0; s < kSlices; ++s) parts[s] = load_peer(at + kWideRows / 2, s);
#pragma unroll
      for (int s = 0; s < kSlices; ++s) total_up += parts[s];
      total_up *= Loader::factor(p.weight_up, row);
    }
    finish<T>(p, token, row, total, total_up);
  }
}

template <typename T, typename Loader, int kGroups>
__global__ void __launch_bounds__(32 * kSlices, 1) linear_wide_kernel(const __grid_constant__ FewJob job) {
  constexpr int kDepth = 2 * Loader::kDepth;
  constexpr int kTokens = 8 * kGroups;
  extern __shared__ uint4 shared[];  // x: [kTokens] rows; then sums: [sum_buffers][kTokens][kWidePad]
  const LinearParams& p = job.p;
  start_next();
  const bool is_gated = p.weight_up.data != nullptr;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const int slice = static_cast<int>(blockIdx.x) % kSlices;
  const int clusters = static_cast<int>(gridDim.x) / kSlices;
  const int cols = static_cast<int>(p.weight.cols), steps = (cols + kStep - 1) / kStep;
  const int first = steps * slice / kSlices, end = steps * (slice + 1) / kSlices;
  const int groups = static_cast<int>((p.weight.rows + (is_gated ? kWideRows / 2 : kWideRows) - 1) /
                                      (is_gated ? kWideRows / 2 : kWideRows));
  // Where gated, warps 0 to 3 have tiles of the one matrix and 4 to 7 the same of the other.
  const Weight& weight = is_gated && warp >= 4 ? p.weight_up : p.weight;
  const auto tile_of = [&](int group) { return is_gated ? 4 * group + warp % 4 : 8 * group + warp; };
  int group = static_cast<int>(blockIdx.x) / kSlices;
  Loader loader(weight, tile_of(group), lane);
  typename Loader::Buffer buffers[kDepth];
#pragma unroll
  for (int d = 0; d < kDepth; ++d) {
    if (first + d < end) loader.load(first + d, buffers[d]);
  }
  wait_for_previous();

  const int row_bytes = wide_row_bytes<Loader>(job.x_steps);
  char* rows = reinterpret_cast<char*>(shared);
  const int pieces = (end - first) * (kStep / 8);  // of 16 bytes, a token
  for (int e = static_cast<int>(threadIdx.x); e < kTokens * pieces; e += 32 * kSlices) {
    const int token = e / pieces, piece = e % pieces;
    const int col = first * kStep + 8 * piece;
    const bool valid = token < p.tokens && col < cols;
    const T* src = static_cast<const T*>(p.x) + (valid ? token * p.x_stride + col : 0);
    copy_async16(rows + token * row_bytes + 16 * piece, src, valid);
  }
  copy_async_commit();
  copy_async_wait<0>();
  __syncthreads();
  float* sums = reinterpret_cast<float*>(rows + kTokens * row_bytes);
  int done = -1;  // the group whose sums are in place, but not finished
  int buffer = 0;
  for (; group < groups; group += clusters) {
    float sum[kGroups][4] = {};
    const bool more = group + clusters < groups;
    const Loader next(weight, more ? tile_of(group + clusters) : tile_of(group), lane);
    for (int base = first; base < end; base += kDepth) {
#pragma unroll
      for (int d = 0; d < kDepth; ++d) {
        const int step = base + d;
        if (step >= end) break;
        const char* x = rows + g * row_bytes + (step - first) * (2 * kStep);
        Accumulate<T, Loader, kGroups>::step(loader, buffers[d], sum, [&](int n, int i) {
          return *reinterpret_cast<const uint4*>(x + 8 * n * row_bytes + 2 * Loader::x_column(i, lane));
        });
        if (step + kDepth < end) {
          loader.load(step + kDepth, buffers[d]);
        } else if (more) {
          next.load(first + d, buffers[d]);
        }
      }
    }
    loader = next;
    if (done >= 0) {
      if (job.sum_buffers == 2) cluster_wait();
      finish_group<T, Loader>(p, sums + (buffer ^ (job.sum_buffers - 1)) * kTokens * kWidePad, done, slice);
      if (job.sum_buffers == 1) {
        cluster_arrive();
        cluster_wait();
      }
    }
    float* mine = sums + buffer * kTokens * kWidePad;
#pragma unroll
    for (int n = 0; n < kGroups; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        mine[(8 * n + 2 * t + i % 2) * kWidePad + kTileRows * warp + g + 8 * (i / 2)] = sum[n][i];
      }
    }
    cluster_arrive();
    if (job.sum_buffers == 1) cluster_wait();
    done = group;
    buffer ^= job.sum_buffers - 1;
  }
  if (done >= 0) {
    if (job.sum_buffers == 2) cluster_wait();
    finish_group<T, Loader>(p, sums + (buffer ^ (job.sum_buffers - 1)) * kTokens * kWidePad, done, slice);
  }
  cluster_arrive();
  cluster_wait();  // no block's shared memory goes while a peer reads it
}

// ---- launching ----

template <typename T, typename Loader, int kGroups>
void launch_narrow(const FewJob& job, const Queue& queue) {
  const LaunchShape shape = {
      .grid = dim3(static_cast<unsigned>(tiles(job.p.weight)), blocks_for(job.p.tokens, 8 * kGroups)),
      .threads = 32 * kSlices};
  if (job.p.weight_up.data != nullptr) {
    launch(linear_narrow_kernel<T, Loader, kGroups, 2>, job, shape, queue);
  } else {
    launch(linear_narrow_kernel<T, Loader, kGroups, 1>, job, shape, queue);
  }
}

// Clusters that the device holds at a time; asked once a kernel.
template <typename T, typename Loader, int kGroups>
int resident_clusters(const cudaLaunchConfig_t& config) {
  static std::atomic<int> known = 0;
  int count = known.load(std::memory_order_relaxed);
  if (count == 0) {
    cudaOccupancyMaxActiveClusters(&count, linear_wide_kernel<T, Loader, kGroups>, &config);
    count = count > 0 ? count : 1;
    known.store(count, std::memory_order_relaxed);
  }
  return count;
}

inline constexpr int kSharedLimit = 227 * 1024;

template <typename Loader, int kGroups>
constexpr int wide_shared_bytes(int x_steps, int sum_buffers) {
  return 8 * kGroups * (wide_row_bytes<Loader>(x_steps) + sum_buffers * kWidePad * 4);
}

template <typename T, typename Loader, int kGroups>
void launch_wide(FewJob job, const Queue& queue) {
  const int64_t steps = (job.p.weight.cols + kStep - 1) / kStep;
  job.x_steps = static_cast<int>((steps + kSlices - 1) / kSlices);
  job.sum_buffers = wide_shared_bytes<Loader, kGroups>(job.x_steps, 2) <= kSharedLimit ? 2 : 1;
  const int bytes = wide_shared_bytes<Loader, kGroups>(job.x_steps, job.sum_buffers);
  const int64_t outputs = job.p.weight_up.data != nullptr ? kWideRows / 2 : kWideRows;
  const int groups = static_cast<int>(blocks_for(job.p.weight.rows, outputs));
  cudaFuncSetAttribute(linear_wide_kernel<T, Loader, kGroups>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       kSharedLimit);
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = kSlices, attribute.val.clusterDim.y = 1, attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(kSlices);
  config.blockDim = dim3(32 * kSlices);
  config.dynamicSmemBytes = kSharedLimit;
  config.attrs = &attribute;
  config.numAttrs = 1;
  const int resident = resident_clusters<T, Loader, kGroups>(config);
  launch(linear_wide_kernel<T, Loader, kGroups>, job,
         {.grid = dim3(static_cast<unsigned>(kSlices * (groups < resident ? groups : resident))),
          .threads = 32 * kSlices,
          .shared_bytes = bytes,
          .cluster = kSlices},
         queue);
}

// Whether a token count's x has room.
template <typename Loader, int kGroups>
bool wide_fits(const FewJob& job) {
  const int64_t steps = (job.p.weight.cols + kStep - 1) / kStep;
  return wide_shared_bytes<Loader, kGroups>(static_cast<int>((steps + kSlices - 1) / kSlices), 1) <= kSharedLimit;
}

template <typename T, typename Loader>
void linear_few_of(const FewJob& job, const Queue& queue) {
  const int64_t tokens = job.p.tokens;
  const bool wide = job.shape == FewShape::kWide || (job.shape == FewShape::kAuto && tokens > 16);
  if (wide && device_traits().capability >= 90) {
    if (tokens <= 16 && wide_fits<Loader, 2>(job)) return launch_wide<T, Loader, 2>(job, queue);
    if (tokens <= 32 && wide_fits<Loader, 4>(job)) return launch_wide<T, Loader, 4>(job, queue);
    if (wide_fits<Loader, 8>(job)) return launch_wide<T, Loader, 8>(job, queue);
    if (wide_fits<Loader, 4>(job)) {  // 64 tokens in two halves
      FewJob half = job;
      half.p.tokens = 32;
      launch_wide<T, Loader, 4>(half, queue);
      half.p.tokens = tokens - 32;
      half.p.x = static_cast<const T*>(half.p.x) + 32 * half.p.x_stride;
      half.p.y = static_cast<char*>(half.p.y) + 32 * half.p.y_stride * element_bytes(half.p.y_element);
      if (half.p.residual != nullptr)
        half.p.residual = static_cast<const T*>(half.p.residual) + 32 * half.p.residual_stride;
      return launch_wide<T, Loader, 4>(half, queue);
    }
  }
  return tokens <= 8 ? launch_narrow<T, Loader, 1>(job, queue) : launch_narrow<T, Loader, 2>(job, queue);
}

template <typename Loader>
void linear_few_any(const FewJob& job, const Queue& queue) {
  job.p.element == Element::kF16 ? linear_few_of<__half, Loader>(job, queue)
                                 : linear_few_of<__nv_bfloat16, Loader>(job, queue);
}

}  // namespace nereid::kernels::cuda
