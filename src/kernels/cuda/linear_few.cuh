// SPDX-License-Identifier: Apache-2.0
// The products of linear.h for few tokens, over a loader of weight_loaders.cuh, in two shapes with the same sums:
//
// narrow (up to 16 tokens a block): a block is 16 rows, of both matrices where gated. Its 8 warps are the 8 slices of
// the
//   columns and read x from the caches. A row of blocks for each 16 tokens.
// wide (up to 64 tokens, sm_90): clusters of 8 blocks stay and take groups of 128 rows in turn. A block is a slice and
//   keeps its part of x in shared memory, its 8 warps are 8 tiles. The slices are added through distributed shared
//   memory, a group behind, while the next group's weights are on their way.
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
  int x_steps = 0;      // wide: the longest slice, in steps
  int sum_buffers = 0;  // wide: places for sums in shared memory, 2 or 1
};

// One a kind of weight, a file each.
void linear_few_halves(const FewJob& job, const Queue& queue);
void linear_few_f8(const FewJob& job, const Queue& queue);
void linear_few_codes4(const FewJob& job, const Queue& queue);
void linear_few_codes8(const FewJob& job, const Queue& queue);
// linear_few, in a shape of the caller's choice (the harness compares them).
void linear_few_as(const LinearParams& params, FewShape shape, const Queue& queue);

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

// One step of kMatrices weights that read the same x, whose 16 bytes of piece i for the n-th 8 tokens are x(n, i).
// Loaders of codes in groups of 32 and more hand out plain integers: each group's products are summed on their own,
// then scaled in f32; the sum of x over the group, which goes with the offset, is a product with ones.
template <typename T, typename Loader, int kGroups, int kMatrices, typename X>
__device__ __forceinline__ void accumulate(const Loader* loaders, const typename Loader::Buffer* buffers,
                                           float (&sum)[kMatrices][kGroups][4], const X& x) {
  if constexpr (Loader::kScalePieces == 0) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      uint4 v[kGroups];
#pragma unroll
      for (int n = 0; n < kGroups; ++n) v[n] = x(n, i);
#pragma unroll
      for (int m = 0; m < kMatrices; ++m) {
        uint32_t lo[4], hi[4];
        loaders[m].template decode<T>(buffers[m], i, lo, hi);
#pragma unroll
        for (int n = 0; n < kGroups; ++n) multiply<T>(sum[m][n], lo, hi, v[n]);
      }
    }
  } else {
    constexpr uint32_t kOnes = __is_same(T, __half) ? 0x3c003c00u : 0x3f803f80u;
#pragma unroll
    for (int first = 0; first < 4; first += Loader::kScalePieces) {
      float part[kMatrices][kGroups][4] = {}, ones[kGroups][4] = {};
#pragma unroll
      for (int i = first; i < first + Loader::kScalePieces; ++i) {
        uint4 v[kGroups];
#pragma unroll
        for (int n = 0; n < kGroups; ++n) v[n] = x(n, i);
        if (loaders[0].has_offset) {
#pragma unroll
          for (int n = 0; n < kGroups; ++n) {
            mma<T>(ones[n], kOnes, kOnes, kOnes, kOnes, v[n].x, v[n].y);
            mma<T>(ones[n], kOnes, kOnes, kOnes, kOnes, v[n].z, v[n].w);
          }
        }
#pragma unroll
        for (int m = 0; m < kMatrices; ++m) {
          uint32_t lo[4], hi[4];
          loaders[m].template decode<T>(buffers[m], i, lo, hi);
#pragma unroll
          for (int n = 0; n < kGroups; ++n) multiply<T>(part[m][n], lo, hi, v[n]);
        }
      }
#pragma unroll
      for (int m = 0; m < kMatrices; ++m) {
        const float2 scale = loaders[m].scale_of(buffers[m].scale, first);
#pragma unroll
        for (int n = 0; n < kGroups; ++n) {
#pragma unroll
          for (int i = 0; i < 4; ++i) sum[m][n][i] = fmaf(part[m][n][i], i < 2 ? scale.x : scale.y, sum[m][n][i]);
        }
        if (loaders[m].has_offset) {
          const float2 offset = loaders[m].scale_of(buffers[m].offset, first);
#pragma unroll
          for (int n = 0; n < kGroups; ++n) {
#pragma unroll
            for (int i = 0; i < 4; ++i) sum[m][n][i] = fmaf(ones[n][i], i < 2 ? offset.x : offset.y, sum[m][n][i]);
          }
        }
      }
    }
  }
}

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
      // All of x's loads first: the instructions' order is fixed, and each would wait for its own.
      uint4 part[kGroups][4];
#pragma unroll
      for (int n = 0; n < kGroups; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int col = step * kStep + Loader::x_column(i, lane);
          part[n][i] =
              x[n] != nullptr && col < cols ? *reinterpret_cast<const uint4*>(x[n] + col) : make_uint4(0, 0, 0, 0);
        }
      }
      accumulate<T, Loader, kGroups, kMatrices>(loaders, buffers[d], sum, [&](int n, int i) { return part[n][i]; });
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

// A cluster is 8 blocks, a slice each; a group of rows is 8 tiles of 16. Where gated the first four are of the one
// matrix and the others of the other.
inline constexpr int kWideRows = kSlices * kTileRows, kWidePad = kWideRows + 4;  // floats a token in shared memory
__host__ __device__ constexpr int wide_outputs(bool is_gated) {
  return is_gated ? kWideRows / 2 : kWideRows;
}

template <typename Loader>
constexpr int wide_row_bytes(int steps) {
  return 2 * kStep * steps + Loader::kPad;
}

// A block finishes its share of a group's outputs: 16, or 8 where gated. Slices are added in order.
template <typename T, typename Loader>
__device__ __forceinline__ void finish_group(const LinearParams& p, const float* sums, int group, int rank) {
  const bool is_gated = p.weight_up.data != nullptr;
  const int mine = is_gated ? kTileRows / 2 : kTileRows;
  const int64_t first_row = static_cast<int64_t>(group) * wide_outputs(is_gated) + rank * mine;
  for (int e = static_cast<int>(threadIdx.x); e < p.tokens * mine; e += 32 * kSlices) {
    const int token = e / mine, r = e % mine;
    const int64_t row = first_row + r;
    if (row >= p.weight.rows) continue;
    const float* at = sums + token * kWidePad + rank * mine + r;
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
  constexpr int kTokens = 8 * kGroups, kSums = kTokens * kWidePad;
  extern __shared__ uint4 shared[];  // x: [kTokens] rows; then sums: [sum_buffers][kTokens][kWidePad]
  const LinearParams& p = job.p;
  start_next();
  const bool is_gated = p.weight_up.data != nullptr;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const int rank = static_cast<int>(blockIdx.x) % kSlices, clusters = static_cast<int>(gridDim.x) / kSlices;
  const int cols = static_cast<int>(p.weight.cols), steps = (cols + kStep - 1) / kStep;
  const int first = steps * rank / kSlices, end = steps * (rank + 1) / kSlices;
  const int groups = static_cast<int>((p.weight.rows + wide_outputs(is_gated) - 1) / wide_outputs(is_gated));
  const Weight& weight = is_gated && warp >= kSlices / 2 ? p.weight_up : p.weight;
  const auto tile_of = [&](int group) {
    return is_gated ? kSlices / 2 * group + warp % (kSlices / 2) : kSlices * group + warp;
  };
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
  for (int token = warp; token < kTokens; token += kSlices) {
    const T* src = static_cast<const T*>(p.x) + (token < p.tokens ? token * p.x_stride : 0);
    for (int piece = lane; piece < pieces; piece += 32) {
      const int col = first * kStep + 8 * piece;
      const bool valid = token < p.tokens && col < cols;
      copy_async16(rows + token * row_bytes + 16 * piece, src + (valid ? col : 0), valid);
    }
  }
  copy_async_commit();
  copy_async_wait<0>();
  __syncthreads();
  float* sums = reinterpret_cast<float*>(rows + kTokens * row_bytes);
  int done = -1;  // the group whose sums are in place, but not finished
  int buffer = 0;
  for (; group < groups; group += clusters) {
    float sum[1][kGroups][4] = {};
    const bool more = group + clusters < groups;
    const Loader next(weight, more ? tile_of(group + clusters) : tile_of(group), lane);
    for (int base = first; base < end; base += kDepth) {
#pragma unroll
      for (int d = 0; d < kDepth; ++d) {
        const int step = base + d;
        if (step >= end) break;
        const char* x = rows + g * row_bytes + (step - first) * (2 * kStep);
        accumulate<T, Loader, kGroups, 1>(&loader, &buffers[d], sum, [&](int n, int i) {
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
      finish_group<T, Loader>(p, sums + (buffer ^ (job.sum_buffers - 1)) * kSums, done, rank);
      if (job.sum_buffers == 1) {
        cluster_arrive();
        cluster_wait();
      }
    }
    float* mine = sums + buffer * kSums;
#pragma unroll
    for (int n = 0; n < kGroups; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        mine[(8 * n + 2 * t + i % 2) * kWidePad + kTileRows * warp + g + 8 * (i / 2)] = sum[0][n][i];
      }
    }
    cluster_arrive();
    if (job.sum_buffers == 1) cluster_wait();
    done = group;
    buffer ^= job.sum_buffers - 1;
  }
  if (done >= 0) {
    if (job.sum_buffers == 2) cluster_wait();
    finish_group<T, Loader>(p, sums + (buffer ^ (job.sum_buffers - 1)) * kSums, done, rank);
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

inline constexpr int kSharedLimit = 227 * 1024;

template <typename Loader, int kGroups>
int wide_shared_bytes(const FewJob& job, int sum_buffers) {
  const int steps = static_cast<int>((job.p.weight.cols + kStep - 1) / kStep);
  return 8 * kGroups * (wide_row_bytes<Loader>((steps + kSlices - 1) / kSlices) + sum_buffers * kWidePad * 4);
}

// Clusters that the device holds at a time; asked once a kernel.
template <typename T, typename Loader, int kGroups>
int resident_clusters() {
  static std::atomic<int> known = 0;
  int count = known.load(std::memory_order_relaxed);
  if (count != 0) return count;
  const auto kernel = linear_wide_kernel<T, Loader, kGroups>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedLimit);
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = kSlices, attribute.val.clusterDim.y = 1, attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(kSlices);
  config.blockDim = dim3(32 * kSlices);
  config.dynamicSmemBytes = kSharedLimit;
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaOccupancyMaxActiveClusters(&count, kernel, &config);
  count = count > 0 ? count : 1;
  known.store(count, std::memory_order_relaxed);
  return count;
}

template <typename T, typename Loader, int kGroups>
void launch_wide(FewJob job, const Queue& queue) {
  const int steps = static_cast<int>((job.p.weight.cols + kStep - 1) / kStep);
  job.x_steps = (steps + kSlices - 1) / kSlices;
  job.sum_buffers = wide_shared_bytes<Loader, kGroups>(job, 2) <= kSharedLimit ? 2 : 1;
  const int groups = static_cast<int>(blocks_for(job.p.weight.rows, wide_outputs(job.p.weight_up.data != nullptr)));
  const int resident = resident_clusters<T, Loader, kGroups>();
  launch(linear_wide_kernel<T, Loader, kGroups>, job,
         {.grid = dim3(static_cast<unsigned>(kSlices * (groups < resident ? groups : resident))),
          .threads = 32 * kSlices,
          .shared_bytes = wide_shared_bytes<Loader, kGroups>(job, job.sum_buffers),
          .cluster = kSlices},
         queue);
}

// False where x has no room.
template <typename T, typename Loader, int kGroups>
bool try_wide(const FewJob& job, const Queue& queue) {
  if (wide_shared_bytes<Loader, kGroups>(job, 1) > kSharedLimit) return false;
  launch_wide<T, Loader, kGroups>(job, queue);
  return true;
}

// Tokens first .. first + count of a job.
template <typename T>
FewJob part_of(const FewJob& job, int64_t first, int64_t count) {
  FewJob part = job;
  part.p.tokens = count;
  part.p.x = static_cast<const T*>(job.p.x) + first * job.p.x_stride;
  part.p.y = static_cast<char*>(job.p.y) + first * job.p.y_stride * element_bytes(job.p.y_element);
  if (job.p.residual != nullptr)
    part.p.residual = static_cast<const T*>(job.p.residual) + first * job.p.residual_stride;
  return part;
}

template <typename T, typename Loader>
void linear_few_of(const FewJob& job, const Queue& queue) {
  const int64_t tokens = job.p.tokens;
  // A small weight is read again for each 16 tokens out of the second-level cache sooner than a cluster starts.
  const int64_t weights = job.p.weight.rows * job.p.weight.cols * (job.p.weight_up.data != nullptr ? 2 : 1);
  const bool wide =
      job.shape == FewShape::kWide || (job.shape == FewShape::kAuto && tokens > 16 && weights >= kSmallWeights);
  if (wide && device_traits().capability >= 90) {
    if (tokens <= 16 && try_wide<T, Loader, 2>(job, queue)) return;
    if (tokens <= 32 && try_wide<T, Loader, 4>(job, queue)) return;
    if (tokens > 32 && try_wide<T, Loader, 8>(job, queue)) return;
    if (tokens > 32 && try_wide<T, Loader, 4>(part_of<T>(job, 0, 32), queue)) {
      try_wide<T, Loader, 4>(part_of<T>(job, 32, tokens - 32), queue);
      return;
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
