// SPDX-License-Identifier: Apache-2.0
// The largest logit, the k largest, and a draw.
//
// top_k: each of 1024 threads finds its largest; the k-th largest of those bounds the k-th largest of all from below,
// and what is not below it are few candidates. Where ties make them many, radix selection on the ordered bits.
#include "kernels/cuda/device.cuh"
#include "kernels/cuda/sample.h"

namespace nereid::kernels::cuda {
namespace {

// Larger floats have larger keys; NaN has the smallest.
__device__ __forceinline__ uint32_t ordered(float x) {
  const uint32_t bits = __float_as_uint(x);
  if (x != x) return 0;
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}
struct ArgmaxState {
  unsigned long long best;  // key << 32 | ~id
  int done, unused;
};

constexpr int kArgmaxThreads = 256, kArgmaxEach = 4096;

__global__ void __launch_bounds__(kArgmaxThreads) argmax_kernel(const __grid_constant__ ArgmaxParams p) {
  __shared__ unsigned long long bests[kArgmaxThreads / 32];
  start_next();
  wait_for_previous();
  const int64_t row = blockIdx.y;
  const float* logits = p.logits + row * p.stride;
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * kArgmaxEach;
  const int64_t end = begin + kArgmaxEach < p.vocab ? begin + kArgmaxEach : p.vocab;
  unsigned long long best = 0;
  for (int64_t i = begin + threadIdx.x; i < end; i += kArgmaxThreads) {
    const unsigned long long key =
        (static_cast<unsigned long long>(ordered(logits[i])) << 32) | (0xffffffffu - static_cast<uint32_t>(i));
    best = key > best ? key : best;
  }
  for (int step = 16; step > 0; step /= 2) {
    const unsigned long long other = __shfl_xor_sync(0xffffffffu, best, step);
    best = other > best ? other : best;
  }
  if (threadIdx.x % 32 == 0) bests[threadIdx.x / 32] = best;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 1; i < kArgmaxThreads / 32; ++i) best = bests[i] > best ? bests[i] : best;
  ArgmaxState* state = static_cast<ArgmaxState*>(p.workspace) + row;
  atomicMax(&state->best, best);
  __threadfence();
  if (atomicAdd(&state->done, 1) != static_cast<int>(gridDim.x) - 1) return;
  __threadfence();
  best = atomicExch(&state->best, 0ull);
  state->done = 0;
  const int64_t id = 0xffffffffu - static_cast<uint32_t>(best);
  p.ids[row] = static_cast<int32_t>(id);
  if (p.values != nullptr) p.values[row] = logits[id];
}

constexpr int kTopThreads = 1024;

constexpr int kCandidates = 1024;

struct TopShared {
  unsigned long long candidates[kCandidates];
  uint32_t largest[kTopThreads];
  int histogram[256];
  uint32_t prefix;
  int needed;  // of those with the prefix
  int count;
  float most[32], sum[32];
  unsigned long long found[kMaxTopK];
};

// f(logit, id) for all of a row; a thread has four loads of 16 bytes under way.
template <typename F>
__device__ __forceinline__ void for_each_logit(const float* logits, int64_t vocab, const F& f) {
  const int64_t quads = vocab / 4;
  for (int64_t base = threadIdx.x; base < quads; base += 4 * kTopThreads) {
    float4 v[4];
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      const int64_t at = base + u * kTopThreads;
      v[u] = at < quads ? reinterpret_cast<const float4*>(logits)[at] : make_float4(0, 0, 0, 0);
    }
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      const int64_t at = base + u * kTopThreads;
      if (at >= quads) continue;
      f(v[u].x, 4 * at), f(v[u].y, 4 * at + 1), f(v[u].z, 4 * at + 2), f(v[u].w, 4 * at + 3);
    }
  }
  const int64_t rest = 4 * quads + threadIdx.x;
  if (rest < vocab) f(logits[rest], rest);
}

__global__ void __launch_bounds__(kTopThreads) top_k_kernel(const __grid_constant__ TopKParams p) {
  __shared__ TopShared s;
  start_next();
  wait_for_previous();
  const int64_t row = blockIdx.x;
  const float* logits = p.logits + row * p.stride;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x == 0) s.prefix = 0, s.needed = p.k, s.count = 0;
  if (p.log_sum_exp != nullptr) {
    float most = -INFINITY, sum = 0.0f;
    for_each_logit(logits, p.vocab, [&](float x, int64_t) {
      if (x > most) {
        sum = sum * __expf(most - x) + 1.0f;
        most = x;
      } else if (x > -INFINITY) {
        sum += __expf(x - most);
      }
    });
    const float all = warp_max(most);
    sum = warp_sum(most == -INFINITY ? 0.0f : sum * __expf(most - all));
    if (lane == 0) s.most[warp] = all, s.sum[warp] = sum;
    __syncthreads();
    if (warp == 0) {
      const float top = warp_max(s.most[lane]);
      const float total = warp_sum(s.most[lane] == -INFINITY ? 0.0f : s.sum[lane] * __expf(s.most[lane] - top));
      if (lane == 0) p.log_sum_exp[row] = top + logf(total);
    }
  }
  uint32_t largest = 0;
  for_each_logit(logits, p.vocab, [&](float x, int64_t) { largest = max(largest, ordered(x)); });
  s.largest[threadIdx.x] = largest;
  __syncthreads();
  int above = 0, equal_before = 0;
#pragma unroll 8
  for (int i = 0; i < kTopThreads; ++i) {
    above += s.largest[i] > largest ? 1 : 0;
    equal_before += s.largest[i] == largest && i < static_cast<int>(threadIdx.x) ? 1 : 0;
  }
  if (above + equal_before == p.k - 1) s.prefix = largest;
  __syncthreads();
  const uint32_t bound = s.prefix;
  for_each_logit(logits, p.vocab, [&](float x, int64_t i) {
    const uint32_t key = ordered(x);
    if (key < bound) return;
    const int at = atomicAdd(&s.count, 1);
    if (at < kCandidates) {
      s.candidates[at] = (static_cast<unsigned long long>(key) << 32) | (0xffffffffu - static_cast<uint32_t>(i));
    }
  });
  __syncthreads();
  const int candidates = s.count;
  if (candidates <= kCandidates) {
    if (static_cast<int>(threadIdx.x) < candidates) {
      const unsigned long long mine = s.candidates[threadIdx.x];
      int place = 0;
      for (int i = 0; i < candidates; ++i) place += s.candidates[i] > mine ? 1 : 0;
      if (place < p.k) {
        const int32_t id = static_cast<int32_t>(0xffffffffu - static_cast<uint32_t>(mine));
        p.ids[row * p.k + place] = id;
        p.values[row * p.k + place] = logits[id];
      }
    }
    return;
  }
  __syncthreads();
  if (threadIdx.x == 0) s.prefix = 0, s.count = 0;
  // The key of the k-th largest, eight bits a pass.
  for (int shift = 24; shift >= 0; shift -= 8) {
    __syncthreads();
    if (threadIdx.x < 256) s.histogram[threadIdx.x] = 0;
    __syncthreads();
    const uint32_t prefix = s.prefix, mask = shift == 24 ? 0u : 0xffffffffu << (shift + 8);
    for (int64_t i = threadIdx.x; i < p.vocab; i += kTopThreads) {
      const uint32_t key = ordered(logits[i]);
      if ((key & mask) == prefix) atomicAdd(&s.histogram[(key >> shift) & 255u], 1);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      int needed = s.needed, digit = 255;
      while (digit > 0 && s.histogram[digit] < needed) needed -= s.histogram[digit--];
      s.needed = needed;
      s.prefix = prefix | (static_cast<uint32_t>(digit) << shift);
    }
  }
  __syncthreads();
  const uint32_t threshold = s.prefix;
  int ties = s.needed;
  for (int64_t i = threadIdx.x; i < p.vocab; i += kTopThreads) {
    const uint32_t key = ordered(logits[i]);
    if (key > threshold) {
      const int at = atomicAdd(&s.count, 1);
      s.found[at] = (static_cast<unsigned long long>(key) << 32) | (0xffffffffu - static_cast<uint32_t>(i));
    }
  }
  __syncthreads();
  // Those that equal it, lowest ids first.
  int at = p.k - ties;
  for (int64_t base = 0; base < p.vocab && ties > 0; base += kTopThreads) {
    const int64_t i = base + threadIdx.x;
    const bool equal = i < p.vocab && ordered(logits[i]) == threshold;
    const unsigned votes = __ballot_sync(0xffffffffu, equal);
    if (lane == 0) s.histogram[warp] = __popc(votes);
    const int all = __syncthreads_count(equal);
    int before = 0;
    for (int w = 0; w < warp; ++w) before += s.histogram[w];
    before += __popc(votes & ((1u << lane) - 1u));
    if (equal && before < ties) {
      s.found[at + before] =
          (static_cast<unsigned long long>(threshold) << 32) | (0xffffffffu - static_cast<uint32_t>(i));
    }
    at += min(all, ties);
    ties -= min(all, ties);
    __syncthreads();
  }
  __syncthreads();
  // Each finds its own place: keys differ, because ids do.
  if (threadIdx.x < static_cast<unsigned>(p.k)) {
    const unsigned long long mine = s.found[threadIdx.x];
    int place = 0;
    for (int i = 0; i < p.k; ++i) place += s.found[i] > mine ? 1 : 0;
    const int32_t id = static_cast<int32_t>(0xffffffffu - static_cast<uint32_t>(mine));
    p.ids[row * p.k + place] = id;
    p.values[row * p.k + place] = logits[id];
  }
}

__global__ void __launch_bounds__(32) draw_kernel(const __grid_constant__ DrawParams p) {
  __shared__ float weights[kMaxTopK];
  start_next();
  wait_for_previous();
  const int64_t row = blockIdx.x;
  const float* values = p.values + row * p.k;
  const float temperature = p.temperature[row];
  for (int i = threadIdx.x; i < p.k; i += 32) {
    weights[i] = temperature > 0.0f ? expf((values[i] - values[0]) / temperature) : (i == 0 ? 1.0f : 0.0f);
  }
  __syncwarp();
  if (threadIdx.x != 0) return;
  float total = 0.0f;
  for (int i = 0; i < p.k; ++i) total += weights[i];
  const float top_p = p.top_p == nullptr ? 1.0f : p.top_p[row], min_p = p.min_p == nullptr ? 0.0f : p.min_p[row];
  int kept = 0;
  float sum = 0.0f;
  while (kept < p.k && (kept == 0 || (sum < top_p * total && weights[kept] >= min_p && weights[kept] > 0.0f))) {
    sum += weights[kept++];
  }
  const float target = p.uniform[row] * sum;
  int chosen = 0;
  for (float passed = weights[0]; chosen + 1 < kept && passed <= target; passed += weights[chosen]) ++chosen;
  p.tokens[row] = p.ids[row * p.k + chosen];
}

}  // namespace

void argmax(const ArgmaxParams& params, const Queue& queue) {
  if (params.rows == 0) return;
  launch(argmax_kernel, params,
         {.grid = dim3(blocks_for(params.vocab, kArgmaxEach), static_cast<unsigned>(params.rows)),
          .threads = kArgmaxThreads},
         queue);
}

void top_k(const TopKParams& params, const Queue& queue) {
  if (params.rows == 0) return;
  launch(top_k_kernel, params, {.grid = dim3(static_cast<unsigned>(params.rows)), .threads = kTopThreads}, queue);
}

void draw(const DrawParams& params, const Queue& queue) {
  if (params.rows == 0) return;
  launch(draw_kernel, params, {.grid = dim3(static_cast<unsigned>(params.rows)), .threads = 32}, queue);
}

}  // namespace nereid::kernels::cuda
