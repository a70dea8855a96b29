// SPDX-License-Identifier: Apache-2.0
// Products of 17 to 128 tokens on Hopper: weights are the rows of wgmma, tokens its columns. A tile is up to 128 rows
// of the weight and all tokens; its height is chosen so that every multiprocessor gets as many tiles as the others,
// most often one: sums left in memory for others cost more time than a small weight's whole stream. What rows an
// instruction has beyond the tile's is multiplied for nothing. Where there are few rows, tiles would be so low that x
// is read more often than weights: then a cluster shares a tile, each block a run of its columns, and sums meet through
// distributed shared memory.
//
// The copy engine brings weights and x, 64 columns at a time, into a ring of stages. A multiprocessor has room for two
// blocks: the next kernel's fetch their first weights while this one's finish.
//
// f8 goes from shared memory through registers, where it becomes f16: wgmma takes its left operand from there, too.
//
// A token's result has equal bits for any number of tokens up to 64, and from 65 on: how columns are cut depends on the
// weight.
#pragma once

#include "kernels/cuda/linear_mid.cuh"
#include "kernels/cuda/tensor_map.cuh"
#include "kernels/cuda/wgmma_left.cuh"

namespace nereid::kernels::cuda {
inline constexpr int kInner = 64, kMostRows = 128, kConsumers = 256, kThreads = kConsumers + 32, kMostStages = 12;
inline constexpr int kHalfShared = 114 * 1024 - 1024;  // half of a multiprocessor's, less what every block has besides
inline constexpr int kCornerRow = 16 + 4;              // floats; the padding keeps lanes out of each other's banks

struct MidJob {
  CUtensorMap x, weight, weight_up;
  LinearParams p;
  int rows = 0, tiles = 0, steps = 0;               // rows of a tile (of each matrix), steps of a tile
  int stages = 0, slot_bytes = 0, stage_bytes = 0;  // a slot: a matrix's part of a stage
};

template <bool kIsGated>
inline constexpr int kCorner = (kIsGated ? 2 : 1) * 16 * kCornerRow;  // floats of a warp
template <bool kIsGated>
inline constexpr int kTailBytes = 4 * kCorner<kIsGated>*(kConsumers / 32);

static __device__ __noinline__ float activate_any(Activation activation, float x) {
  return activate(activation, x);
}

__device__ __forceinline__ float activate_mid(Activation activation, float x) {
  if (activation == Activation::kNone) return x;
  if (activation == Activation::kSilu) return __fdividef(x, 1.0f + __expf(-x));
  return activate_any(activation, x);
}

__device__ __forceinline__ float f8_factor(const Weight& w, int64_t row) {
  return kF8Factor * w.scale * (w.row_scale == nullptr ? 1.0f : w.row_scale[row]);
}

// Rows row and row + 1 of a token, summed up. `row` is even.
template <typename T>
__device__ __forceinline__ void finish_pair(const LinearParams& p, int64_t token, int64_t row, float2 sum, float2 up) {
  if (token >= p.tokens || row >= p.weight.rows) return;
  const bool is_pair = row + 1 < p.weight.rows;
  if (p.weight.codes == Codes::kF8E4M3) {
    sum.x *= f8_factor(p.weight, row), sum.y *= f8_factor(p.weight, is_pair ? row + 1 : row);
    if (p.weight_up.data != nullptr) {
      up.x *= f8_factor(p.weight_up, row), up.y *= f8_factor(p.weight_up, is_pair ? row + 1 : row);
    }
  }
  if (p.bias != nullptr) {
    sum.x += p.bias[row];
    if (is_pair) sum.y += p.bias[row + 1];
  }
  sum.x = activate_mid(p.activation, sum.x), sum.y = activate_mid(p.activation, sum.y);
  if (p.weight_up.data != nullptr) {
    if (p.bias_up != nullptr) {
      up.x += p.bias_up[row];
      if (is_pair) up.y += p.bias_up[row + 1];
    }
    sum.x *= up.x, sum.y *= up.y;
  }
  if (p.residual != nullptr) {
    const T* at = static_cast<const T*>(p.residual) + token * p.residual_stride + row;
    sum.x += to_float(at[0]);
    if (is_pair) sum.y += to_float(at[1]);
  }
  const int64_t at = token * p.y_stride + row;
  if (p.y_element == Element::kF32) {
    float* y = static_cast<float*>(p.y) + at;
    if (is_pair) {
      *reinterpret_cast<float2*>(y) = sum;
    } else {
      y[0] = sum.x;
    }
  } else {
    T* y = static_cast<T*>(p.y) + at;
    if (is_pair) {
      *reinterpret_cast<uint32_t*>(y) = pack2<T>(sum.x, sum.y);
    } else {
      y[0] = from_float<T>(sum.x);
    }
  }
}

// A lane's four sums of an instruction: rows g and g + 8 of tokens 2 q and 2 q + 1. Neighbours trade, so that each has
// two rows of one token.
struct Quad {
  float2 low, high;  // rows (g & ~1) and one more; eight behind
};
__device__ __forceinline__ Quad trade(const float4& d, bool is_odd) {
  const float low = __shfl_xor_sync(0xffffffffu, is_odd ? d.x : d.y, 4);
  const float high = __shfl_xor_sync(0xffffffffu, is_odd ? d.z : d.w, 4);
  return {is_odd ? make_float2(low, d.y) : make_float2(d.x, low),
          is_odd ? make_float2(high, d.w) : make_float2(d.z, high)};
}

// Octet j of the tokens, rows in_tile to in_tile + 15 of a tile that begins at first_row.
template <typename T>
__device__ __forceinline__ void finish_octet(const LinearParams& p, int64_t first_row, int in_tile, int rows, int j,
                                             int lane, const float4& sum, const float4& up) {
  const bool is_odd = lane / 4 % 2 == 1;
  const int64_t token = 8 * j + 2 * (lane % 4) + (is_odd ? 1 : 0);
  const int at = in_tile + (lane / 4 & ~1);
  const Quad s = trade(sum, is_odd), u = trade(up, is_odd);
  if (at < rows) finish_pair<T>(p, token, first_row + at, s.low, u.low);
  if (at + 8 < rows) finish_pair<T>(p, token, first_row + at + 8, s.high, u.high);
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

__device__ __forceinline__ uint32_t cluster_rank() {
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
// Tiles first, first + grid, ... and of each the steps from begin on.
template <int kTokens, bool kIsGated, bool kIsF8>
__device__ __forceinline__ void produce(const MidJob& job, char* stages, uint64_t* full, uint64_t* empty, int first,
                                        int grid, int begin, int steps) {
  constexpr int kXBytes = 2 * kInner * kTokens;
  const int units = (job.tiles - first + grid - 1) / grid * steps;
  const int bytes = kXBytes + (kIsF8 ? 1 : 2) * kInner * job.rows * (kIsGated ? 2 : 1);
  const auto load_weights = [&](int unit, int stage) {
    const int row = (first + unit / steps * grid) * job.rows, column = (begin + unit % steps) * kInner;
    char* at = stages + stage * job.stage_bytes + kXBytes;
    barrier_expect(&full[stage], bytes);
    copy_tile(at, &job.weight, column, row, &full[stage]);
    if (kIsGated) copy_tile(at + job.slot_bytes, &job.weight_up, column, row, &full[stage]);
  };
  const auto load_x = [&](int unit, int stage) {
    copy_tile(stages + stage * job.stage_bytes, &job.x, (begin + unit % steps) * kInner, 0, &full[stage]);
  };
  const int ahead = min(units, job.stages);
  for (int unit = 0; unit < ahead; ++unit) load_weights(unit, unit);
  wait_for_previous();
  for (int unit = 0; unit < ahead; ++unit) load_x(unit, unit);
  int stage = 0, phase = 0;
  for (int unit = ahead; unit < units; ++unit) {
    barrier_wait(&empty[stage], phase);
    load_weights(unit, stage);
    load_x(unit, stage);
    if (++stage == job.stages) stage = 0, phase ^= 1;
  }
}

// A float4 of block `rank` of the cluster, where this one has `local`.
__device__ __forceinline__ float4 load_peer4(const float4* local, int rank) {
  float4 v;
  uint32_t remote;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(remote)
               : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(local))), "r"(rank));
  asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "r"(remote)
               : "memory");
  return v;
}

#endif

// Where a multiprocessor has room for one block alone: sums and what f8 becomes take the registers of two, and f8 is so
// small that more of it must be on its way.
template <int kTokens, bool kIsGated, bool kIsF8>
inline constexpr bool kIsAlone = kIsF8 || (kIsGated && kTokens == 128);

template <typename T, int kTokens, bool kIsGated, int kCluster, bool kIsF8>
__global__ void __launch_bounds__(kThreads, (kIsAlone<kTokens, kIsGated, kIsF8>) ? 1 : 2)
    linear_mid_kernel(const __grid_constant__ MidJob job) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  constexpr int kMatrices = kIsGated ? 2 : 1, kXBytes = 2 * kInner * kTokens;
  extern __shared__ uint4 shared[];
  __shared__ uint64_t full[kMostStages], empty[kMostStages];
  const uint32_t misplaced = static_cast<uint32_t>(__cvta_generic_to_shared(shared)) % 1024;
  char* stages = reinterpret_cast<char*>(shared) + (1024 - misplaced) % 1024;  // as the swizzle wants it
  const LinearParams& p = job.p;
  const int groups = job.rows > 64 ? 2 : 1;  // warpgroups that have rows
  start_next();
  if (threadIdx.x == 0) {
    for (int s = 0; s < job.stages; ++s) {
      barrier_init(&full[s], 1);
      barrier_init(&empty[s], groups);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  const int rank = kCluster == 1 ? 0 : static_cast<int>(cluster_rank());
  const int first = static_cast<int>(blockIdx.x) / kCluster, grid = static_cast<int>(gridDim.x) / kCluster;
  const int begin = job.steps * rank / kCluster, steps = job.steps * (rank + 1) / kCluster - begin;
  const int group = threadIdx.x / 128, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x == kConsumers) produce<kTokens, kIsGated, kIsF8>(job, stages, full, empty, first, grid, begin, steps);
  if (group < groups) {
    wait_for_previous();
    int stage = 0, phase = 0;
    const auto free_before = [&] {  // the stage before `stage`
      if (threadIdx.x % 128 == 0) barrier_arrive(&empty[stage == 0 ? job.stages - 1 : stage - 1]);
    };
    // Rows of 64 bytes, whose four pieces of 16 the copy engine has put in another order for each pair of rows.
    const int f8_row = 64 * group + 16 * (warp % 4) + lane / 4, turn = f8_row / 2 % 4;
    [[maybe_unused]] const auto load_f8 = [&](const char* tile, uint16_t(&codes)[kInner / 16][4]) {
      const char* row = tile + kInner * f8_row + 2 * (lane % 4);
#pragma unroll
      for (int i = 0; i < kInner / 16; ++i) {
        const char* at = row + 16 * (i ^ turn);
        codes[i][0] = *reinterpret_cast<const uint16_t*>(at);
        codes[i][1] = *reinterpret_cast<const uint16_t*>(at + 8 * kInner);
        codes[i][2] = *reinterpret_cast<const uint16_t*>(at + 8);
        codes[i][3] = *reinterpret_cast<const uint16_t*>(at + 8 * kInner + 8);
      }
    };
    for (int tile = first; tile < job.tiles; tile += grid) {
      float sum[kMatrices][kTokens / 2];
#pragma unroll
      for (int m = 0; m < kMatrices; ++m) {
#pragma unroll
        for (int i = 0; i < kTokens / 2; ++i) sum[m][i] = 0.0f;
      }
      for (int step = 0; step < steps; ++step) {
        barrier_wait(&full[stage], phase);
        const char* at = stages + stage * job.stage_bytes;
        const uint64_t x = tile_descriptor(at);
        if constexpr (!kIsF8) {
          wgmma_fence();
#pragma unroll
          for (int m = 0; m < kMatrices; ++m) {
            const uint64_t a = tile_descriptor(at + kXBytes + m * job.slot_bytes + 2 * kInner * 64 * group);
#pragma unroll
            for (int i = 0; i < kInner / 16; ++i) wgmma<T, kTokens>(sum[m], a + 2 * i, x + 2 * i);
          }
          wgmma_commit();
          wgmma_wait<1>();  // the step before has been multiplied
          if (step > 0) free_before();
        } else {
          uint32_t left[kMatrices][kInner / 16][4];
#pragma unroll
          for (int m = 0; m < kMatrices; ++m) {
            uint16_t codes[kInner / 16][4];
            load_f8(at + kXBytes + m * job.slot_bytes, codes);
            if (m == 0) {
              wgmma_wait<0>();  // the step before has been multiplied, and its registers read
              if (step > 0) free_before();
            }
#pragma unroll
            for (int i = 0; i < kInner / 16; ++i) {
#pragma unroll
              for (int k = 0; k < 4; ++k) left[m][i][k] = f8_as<T>(codes[i][k]);
            }
            wgmma_fence();
#pragma unroll
            for (int i = 0; i < kInner / 16; ++i) wgmma_left<T, kTokens, false>(sum[m], left[m][i], x + 2 * i);
          }
          wgmma_commit();
        }
        if (++stage == job.stages) stage = 0, phase ^= 1;
      }
      wgmma_wait<0>();
      if constexpr (kCluster > 1) {  // a tile is all there is to do: the stages are free
        asm volatile("bar.sync 1, %0;" ::"r"(128 * groups) : "memory");
        float4* mine = reinterpret_cast<float4*>(stages) + threadIdx.x;
#pragma unroll
        for (int m = 0; m < kMatrices; ++m) {
#pragma unroll
          for (int j = 0; j < kTokens / 8; ++j) {
            mine[(m * kTokens / 8 + j) * kConsumers] =
                make_float4(sum[m][4 * j], sum[m][4 * j + 1], sum[m][4 * j + 2], sum[m][4 * j + 3]);
          }
        }
        break;
      }
      free_before();
      // Through the warp's corner, 16 tokens at a time: what becomes of the sums is one loop, not code for each
      // register.
      const int in_tile = 64 * group + 16 * (warp % 4);
      const int64_t row = int64_t{tile} * job.rows + in_tile;
      float* corner = reinterpret_cast<float*>(stages + job.stages * job.stage_bytes) + warp * kCorner<kIsGated>;
#pragma unroll 1
      for (int c = 0; c < kTokens / 16; ++c) {
#pragma unroll
        for (int k = 0; k < kTokens / 16; ++k) {
          if (k != c) continue;
#pragma unroll
          for (int m = 0; m < kMatrices; ++m) {
#pragma unroll
            for (int i = 0; i < 8; ++i) {
              corner[(16 * m + 8 * (i / 4) + 2 * (lane % 4) + i % 2) * kCornerRow + lane / 4 + 8 * (i / 2 % 2)] =
                  sum[m][8 * k + i];
            }
          }
        }
        __syncwarp();
#pragma unroll 2
        for (int i = 0; i < 4; ++i) {
          const int token = 4 * i + lane / 8, pair = lane % 8 * 2;
          if (in_tile + pair >= job.rows) continue;
          const float* at = corner + token * kCornerRow + pair;
          finish_pair<T>(p, 16 * c + token, row + pair, *reinterpret_cast<const float2*>(at),
                         *reinterpret_cast<const float2*>(kIsGated ? at + 16 * kCornerRow : at));
        }
        __syncwarp();
      }
    }
  }
  if constexpr (kCluster > 1) {
    __syncwarp();
    cluster_arrive();
    cluster_wait();
    constexpr int kOctets = kTokens / 8 / kCluster;
    const int in_tile = 64 * group + 16 * (warp % 4);
    if (group < groups && in_tile < job.rows) {
#pragma unroll 1
      for (int j = rank * kOctets; j < (rank + 1) * kOctets; ++j) {
        float4 sum[kMatrices] = {};
#pragma unroll
        for (int m = 0; m < kMatrices; ++m) {
          const float4* at = reinterpret_cast<const float4*>(stages) + (m * kTokens / 8 + j) * kConsumers + threadIdx.x;
          float4 parts[kCluster];
#pragma unroll
          for (int c = 0; c < kCluster; ++c) parts[c] = load_peer4(at, c);
#pragma unroll
          for (int c = 0; c < kCluster; ++c) {
            sum[m].x += parts[c].x, sum[m].y += parts[c].y, sum[m].z += parts[c].z, sum[m].w += parts[c].w;
          }
        }
        finish_octet<T>(p, int64_t{first} * job.rows, in_tile, job.rows, j, lane, sum[0], sum[kMatrices - 1]);
      }
    }
    __syncwarp();
    cluster_arrive();
    cluster_wait();  // no block's shared memory goes while a peer reads it
  }
#endif
}

// The rows of a tile: a multiple of four, so that tiles are shared out evenly.
inline int tile_rows(int64_t rows, int blocks) {
  const int64_t rounds = (rows + int64_t{blocks} * kMostRows - 1) / (int64_t{blocks} * kMostRows);
  const int64_t each = (rows + blocks * rounds - 1) / (blocks * rounds);
  return static_cast<int>((each + 3) / 4 * 4);
}

template <typename T, int kTokens, bool kIsGated, int kCluster, bool kIsF8>
void launch_mid(const LinearParams& p, const Queue& queue) {
  MidJob job = {.p = p};
  const int clusters = device_traits().multiprocessors / kCluster;
  job.rows = tile_rows(p.weight.rows, clusters);
  job.tiles = static_cast<int>((p.weight.rows + job.rows - 1) / job.rows);
  if (kCluster > 1 && job.tiles > clusters) return launch_mid<T, kTokens, kIsGated, 1, kIsF8>(p, queue);
  job.steps = static_cast<int>(blocks_for(p.weight.cols, kInner));
  job.x = tile_map(p.element, p.x, p.tokens, p.weight.cols, p.x_stride, kTokens);
  const auto map_of = [&](const Weight& w) {
    return kIsF8 ? byte_tile_map(w.data, w.rows, w.cols, w.stride, job.rows)
                 : tile_map(p.element, w.data, w.rows, w.cols, w.stride, job.rows);
  };
  job.weight = map_of(p.weight);
  if (kIsGated) job.weight_up = map_of(p.weight_up);
  job.slot_bytes = ((kIsF8 ? 1 : 2) * kInner * job.rows + 1023) / 1024 * 1024;
  job.stage_bytes = 2 * kInner * kTokens + (kIsGated ? 2 : 1) * job.slot_bytes;
  const int limit = kIsAlone<kTokens, kIsGated, kIsF8> ? 227 * 1024 : kHalfShared;
  const int room = limit - 1024 - 256 - kTailBytes<kIsGated>;
  job.stages = room / job.stage_bytes < kMostStages ? room / job.stage_bytes : kMostStages;
  launch(linear_mid_kernel<T, kTokens, kIsGated, kCluster, kIsF8>, job,
         {.grid = dim3(static_cast<unsigned>(kCluster * (job.tiles < clusters ? job.tiles : clusters))),
          .threads = kThreads,
          .shared_bytes = job.stages * job.stage_bytes + kTailBytes<kIsGated> + 1024,
          .cluster = kCluster},
         queue);
}

template <typename T, int kTokens, int kCluster, bool kIsF8>
void launch_gated(const LinearParams& p, const Queue& queue) {
  p.weight_up.data != nullptr ? launch_mid<T, kTokens, true, kCluster, kIsF8>(p, queue)
                              : launch_mid<T, kTokens, false, kCluster, kIsF8>(p, queue);
}

template <typename T, int kTokens, bool kIsF8>
void launch_cluster(const LinearParams& p, int cluster, const Queue& queue) {
  if (cluster == 4) return launch_gated<T, kTokens, 4, kIsF8>(p, queue);
  if (cluster == 2) return launch_gated<T, kTokens, 2, kIsF8>(p, queue);
  launch_gated<T, kTokens, 1, kIsF8>(p, queue);
}

// Blocks that share a tile: more than one where tiles would be lower than this.
inline constexpr int kLow = 48;

inline bool has_low_tiles(const Weight& weight) {
  return tile_rows(weight.rows, device_traits().multiprocessors) < kLow;
}

template <typename T, bool kIsF8>
void linear_mid_of(const LinearParams& p, int cluster, const Queue& queue) {
  if (cluster == 0) cluster = !has_low_tiles(p.weight) ? 1 : p.tokens <= 64 ? 2 : 4;
  if (p.tokens <= 32) return launch_cluster<T, 32, kIsF8>(p, cluster, queue);
  if (p.tokens <= 64) return launch_cluster<T, 64, kIsF8>(p, cluster, queue);
  if constexpr (!kIsF8) return launch_cluster<T, 128, kIsF8>(p, cluster, queue);
}

}  // namespace nereid::kernels::cuda
