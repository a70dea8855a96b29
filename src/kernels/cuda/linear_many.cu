// SPDX-License-Identifier: Apache-2.0
// Products of many tokens on Hopper: blocks of 128 tokens x kColumns weight rows, 64 columns of both at a time through
// the copy engine into four stages of shared memory, two warpgroups with 64 tokens each, blocks that stay and take
// tiles in turn (tokens fastest, so that neighbours share weights in the second-level cache).
//
// Where gated, half of a tile's columns are rows of the one weight and half the same rows of the other: both sums of an
// output meet in one thread.
#include "kernels/cuda/linear_many.cuh"
#include "kernels/cuda/tensor_map.cuh"
#include "kernels/cuda/wgmma.cuh"

namespace nereid::kernels::cuda {
namespace {

constexpr int kTokens = 128, kInner = 64, kStages = 4, kThreads = 384;

struct ManyJob {
  CUtensorMap x, weight, weight_up;
  LinearParams p;
  int token_tiles = 0, tiles = 0;
};

template <int kColumns>
constexpr int kStageBytes = 2 * kInner*(kTokens + kColumns);

constexpr int kChunk = 32, kChunkRow = kChunk + 8;  // columns of sums that go through shared memory at a time
constexpr int kChunkBytes = 64 * kChunkRow * 4;     // a warpgroup

// Outputs row .. row + 7 of a token: sums and, where gated, up's sums lie in shared memory; the residual was read
// ahead.
template <typename T>
__device__ __forceinline__ void finish8(const LinearParams& p, int64_t token, int64_t row, const float* sums,
                                        const float* ups, const uint4& residual) {
  float v[8], r[8];
  load8(sums, v);
  if (row + 8 > p.weight.rows) {  // the last rows of a matrix that ends within eight
#pragma unroll 1
    for (int i = 0; row + i < p.weight.rows; ++i) {
      float x = activate(p.activation, sums[i] + (p.bias != nullptr ? p.bias[row + i] : 0.0f));
      if (ups != nullptr) x *= ups[i] + (p.bias_up != nullptr ? p.bias_up[row + i] : 0.0f);
      if (p.residual != nullptr) x += to_float(static_cast<const T*>(p.residual)[token * p.residual_stride + row + i]);
      const int64_t at = token * p.y_stride + row + i;
      if (p.y_element == Element::kF32) {
        static_cast<float*>(p.y)[at] = x;
      } else {
        static_cast<T*>(p.y)[at] = from_float<T>(x);
      }
    }
    return;
  }
  if (p.bias != nullptr) {
    load8(p.bias + row, r);
#pragma unroll
    for (int i = 0; i < 8; ++i) v[i] += r[i];
  }
  if (p.activation != Activation::kNone) {
#pragma unroll
    for (int i = 0; i < 8; ++i) v[i] = activate(p.activation, v[i]);
  }
  if (ups != nullptr) {
    float up[8];
    load8(ups, up);
    if (p.bias_up != nullptr) {
      load8(p.bias_up + row, r);
#pragma unroll
      for (int i = 0; i < 8; ++i) up[i] += r[i];
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) v[i] *= up[i];
  }
  if (p.residual != nullptr) {
    unpack8<T>(residual, r);
#pragma unroll
    for (int i = 0; i < 8; ++i) v[i] += r[i];
  }
  if (p.y_element == Element::kF32) {
    store8(static_cast<float*>(p.y) + token * p.y_stride + row, v);
  } else {
    store8(static_cast<T*>(p.y) + token * p.y_stride + row, v);
  }
}

// The usual ends of a product (2-byte results, no bias, at most SiLU): a warp's 16 tokens pass its own corner of shared
// memory, 64 outputs at a time, so that rows are written 16 bytes a lane; no barrier of the block.
constexpr int kCornerRow = 2 * 64 + 16;  // bytes; the padding keeps lanes out of each other's banks

__device__ __forceinline__ bool has_usual_end(const LinearParams& p) {
  return p.y_element == p.element && p.weight.rows % 8 == 0 && p.bias == nullptr && p.bias_up == nullptr &&
         (p.activation == Activation::kNone || p.activation == Activation::kSilu);
}

template <typename T, int kColumns, bool kIsGated>
__device__ __forceinline__ void finish_usual(const LinearParams& p, const float (&sum)[kColumns / 2], char* corner,
                                             int64_t first_token, int64_t first_row, int lane) {
  constexpr int kOutputs = kIsGated ? kColumns / 2 : kColumns, kWidth = kOutputs < 64 ? kOutputs : 64;
  constexpr int kEights = kWidth / 8;
  const bool is_silu = p.activation == Activation::kSilu;
  const int g = lane / 4, quad = lane % 4;
#pragma unroll
  for (int c = 0; c < kOutputs / kWidth; ++c) {
    uint32_t residual[2][kEights] = {};
    if (p.residual != nullptr) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int64_t token = first_token + g + 8 * half, row = first_row + kWidth * c + 2 * quad;
        const T* at = static_cast<const T*>(p.residual) + token * p.residual_stride + row;
#pragma unroll
        for (int j = 0; j < kEights; ++j) {
          if (token < p.tokens && row + 8 * j < p.weight.rows) {
            residual[half][j] = *reinterpret_cast<const uint32_t*>(at + 8 * j);
          }
        }
      }
    }
#pragma unroll
    for (int j = 0; j < kEights; ++j) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int at = 4 * (kEights * c + j) + 2 * half;
        float a = sum[at], b = sum[at + 1];
        if (is_silu) a = __fdividef(a, 1.0f + __expf(-a)), b = __fdividef(b, 1.0f + __expf(-b));
        if constexpr (kIsGated) a *= sum[at + kColumns / 4], b *= sum[at + kColumns / 4 + 1];
        const float2 r = unpack2<T>(residual[half][j]);
        *reinterpret_cast<uint32_t*>(corner + (g + 8 * half) * kCornerRow + 16 * j + 4 * quad) =
            pack2<T>(a + r.x, b + r.y);
      }
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 16 * kEights / 32; ++i) {
      const int piece = 32 * i + lane, r = piece / kEights, at = piece % kEights;
      const int64_t token = first_token + r, row = first_row + kWidth * c + 8 * at;
      if (token < p.tokens && row < p.weight.rows) {
        *reinterpret_cast<uint4*>(static_cast<T*>(p.y) + token * p.y_stride + row) =
            *reinterpret_cast<const uint4*>(corner + r * kCornerRow + 16 * at);
      }
    }
    __syncwarp();
  }
}

__device__ __forceinline__ void group_barrier(int group) {
  asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
}

template <typename T, int kColumns>
__global__ void __launch_bounds__(kThreads, 1) linear_many_kernel(const __grid_constant__ ManyJob job) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ uint4 shared[];
  __shared__ uint64_t full[kStages], empty[kStages];
  const uint32_t misplaced = static_cast<uint32_t>(__cvta_generic_to_shared(shared)) % 1024;
  char* stages = reinterpret_cast<char*>(shared) + (1024 - misplaced) % 1024;  // as the swizzle wants it
  const LinearParams& p = job.p;
  const bool is_gated = p.weight_up.data != nullptr;
  const int group = threadIdx.x / 128, steps = static_cast<int>((p.weight.cols + kInner - 1) / kInner);
  const int outputs = is_gated ? kColumns / 2 : kColumns;
  start_next();
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      barrier_init(&full[s], 1);
      barrier_init(&empty[s], 2);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  wait_for_previous();
  if (group == 2) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x != 256) return;
    int stage = 0, phase = 0;
    for (int tile = static_cast<int>(blockIdx.x); tile < job.tiles; tile += static_cast<int>(gridDim.x)) {
      const int token = tile % job.token_tiles * kTokens, row = tile / job.token_tiles * outputs;
      for (int step = 0; step < steps; ++step) {
        barrier_wait(&empty[stage], phase ^ 1);
        char* at = stages + stage * kStageBytes<kColumns>;
        barrier_expect(&full[stage], kStageBytes<kColumns>);
        copy_tile(at, &job.x, step * kInner, token, &full[stage]);
        at += 2 * kInner * kTokens;
        copy_tile(at, &job.weight, step * kInner, row, &full[stage]);
        if (is_gated) copy_tile(at + kInner * kColumns, &job.weight_up, step * kInner, row, &full[stage]);
        if (++stage == kStages) stage = 0, phase ^= 1;
      }
    }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  int stage = 0, phase = 0;
  const bool is_usual = has_usual_end(p);
  const int warp = threadIdx.x % 128 / 32, lane = threadIdx.x % 32;
  for (int tile = static_cast<int>(blockIdx.x); tile < job.tiles; tile += static_cast<int>(gridDim.x)) {
    float sum[kColumns / 2];
#pragma unroll
    for (int i = 0; i < kColumns / 2; ++i) sum[i] = 0.0f;
    for (int step = 0; step < steps; ++step) {
      barrier_wait(&full[stage], phase);
      const char* at = stages + stage * kStageBytes<kColumns>;
      const uint64_t a = tile_descriptor(at + 2 * kInner * 64 * group), b = tile_descriptor(at + 2 * kInner * kTokens);
      wgmma_fence();
#pragma unroll
      for (int i = 0; i < kInner / 16; ++i) wgmma<T, kColumns>(sum, a + 2 * i, b + 2 * i);
      wgmma_commit();
      wgmma_wait<1>();  // the step before has been multiplied
      if (step > 0 && threadIdx.x % 128 == 0) barrier_arrive(&empty[stage == 0 ? kStages - 1 : stage - 1]);
      if (++stage == kStages) stage = 0, phase ^= 1;
    }
    wgmma_wait<0>();
    if (threadIdx.x % 128 == 0) barrier_arrive(&empty[stage == 0 ? kStages - 1 : stage - 1]);
    // Other sums go through shared memory, so that what becomes of them is one loop: unrolled over 128 registers it was
    // 400 KB of instructions, and fetching those took twice as long as the product.
    float* chunk = reinterpret_cast<float*>(stages + kStages * kStageBytes<kColumns> + group * kChunkBytes);
    const int64_t first_token = static_cast<int64_t>(tile % job.token_tiles) * kTokens + 64 * group;
    const int64_t first_row = static_cast<int64_t>(tile / job.token_tiles) * outputs;
    if (is_usual) {
      char* corner = reinterpret_cast<char*>(chunk) + warp * 16 * kCornerRow;
      if (is_gated) {
        finish_usual<T, kColumns, true>(p, sum, corner, first_token + 16 * warp, first_row, lane);
      } else {
        finish_usual<T, kColumns, false>(p, sum, corner, first_token + 16 * warp, first_row, lane);
      }
      continue;
    }
    const int eights = is_gated ? kChunk / 16 : kChunk / 8;  // of a token in a chunk
    const int thread = static_cast<int>(threadIdx.x) % 128, column = thread % eights;
#pragma unroll 1
    for (int c = 0; c < kColumns / kChunk; ++c) {
      float* mine = chunk + (16 * warp + lane / 4) * kChunkRow + 2 * (lane % 4);
#pragma unroll
      for (int k = 0; k < kColumns / kChunk; ++k) {
        if (k != c) continue;
#pragma unroll
        for (int j = 0; j < kChunk / 8; ++j) {
          const int plain = 4 * (kChunk / 8 * k + j);
          const int halves = 4 * (kChunk / 16 * k + j % (kChunk / 16) + (j < kChunk / 16 ? 0 : kColumns / 16));
#pragma unroll
          for (int half = 0; half < 2; ++half) {
            const float2 pair = is_gated ? make_float2(sum[halves + 2 * half], sum[halves + 2 * half + 1])
                                         : make_float2(sum[plain + 2 * half], sum[plain + 2 * half + 1]);
            *reinterpret_cast<float2*>(mine + 8 * half * kChunkRow + 8 * j) = pair;
          }
        }
      }
      // Each thread has one or two eights of the chunk.
      const int64_t row = first_row + 8 * (eights * c + column);
      uint4 residual[2] = {};
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int64_t token = first_token + thread / eights + 128 / eights * i;
        if (p.residual == nullptr || token >= p.tokens || row + 8 > p.weight.rows || (i == 1 && is_gated)) continue;
        residual[i] =
            *reinterpret_cast<const uint4*>(static_cast<const T*>(p.residual) + token * p.residual_stride + row);
      }
      group_barrier(group);
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int r = thread / eights + 128 / eights * i;
        if (r >= 64 || first_token + r >= p.tokens || row >= p.weight.rows) continue;
        const float* from = chunk + r * kChunkRow + 8 * column;
        finish8<T>(p, first_token + r, row, from, is_gated ? from + kChunk / 2 : nullptr, residual[i]);
      }
      group_barrier(group);
    }
  }
#endif
}

template <typename T, int kColumns>
void launch_many(const LinearParams& p, const Queue& queue) {
  const bool is_gated = p.weight_up.data != nullptr;
  const int outputs = is_gated ? kColumns / 2 : kColumns;
  ManyJob job = {.p = p};
  job.x = tile_map(p.element, p.x, p.tokens, p.weight.cols, p.x_stride, kTokens);
  job.weight = tile_map(p.element, p.weight.data, p.weight.rows, p.weight.cols, p.weight.stride, outputs);
  if (is_gated)
    job.weight_up =
        tile_map(p.element, p.weight_up.data, p.weight_up.rows, p.weight_up.cols, p.weight_up.stride, outputs);
  job.token_tiles = static_cast<int>(blocks_for(p.tokens, kTokens));
  job.tiles = job.token_tiles * static_cast<int>(blocks_for(p.weight.rows, outputs));
  const int blocks = job.tiles < device_traits().multiprocessors ? job.tiles : device_traits().multiprocessors;
  launch(linear_many_kernel<T, kColumns>, job,
         {.grid = dim3(static_cast<unsigned>(blocks)),
          .threads = kThreads,
          .shared_bytes = kStages * kStageBytes<kColumns> + 2 * kChunkBytes + 1024},
         queue);
}

template <typename T>
void linear_many_of(const LinearParams& p, const Queue& queue) {
  const int64_t token_tiles = (p.tokens + kTokens - 1) / kTokens,
                outputs = p.weight.rows * (p.weight_up.data != nullptr ? 2 : 1);
  const int64_t wanted = 3 * device_traits().multiprocessors / 4;
  if (token_tiles * (outputs / 256) >= wanted) return launch_many<T, 256>(p, queue);
  if (token_tiles * (outputs / 128) >= wanted) return launch_many<T, 128>(p, queue);
  return launch_many<T, 64>(p, queue);
}

}  // namespace

bool can_linear_many() {
  return can_map_tiles();
}

void linear_many(const LinearParams& params, const Queue& queue) {
  params.element == Element::kF16 ? linear_many_of<__half>(params, queue)
                                  : linear_many_of<__nv_bfloat16>(params, queue);
}

}  // namespace nereid::kernels::cuda
