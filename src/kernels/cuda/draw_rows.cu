// SPDX-License-Identifier: Apache-2.0
// One block of 1024 threads a row: passes over the row from the second-level cache, and a short list of candidates in
// shared memory that is ranked and drawn from.
//
// Weights are computed as llm/sample/logits.cc does, operation by operation and without fused ones, so that they have
// the same bits.
#include "kernels/cuda/device.cuh"
#include "kernels/cuda/draw_rows.h"

namespace nereid::kernels::cuda {
namespace {

using U64 = unsigned long long;

constexpr int kThreads = 1024;
constexpr int kTile = 128;  // logits whose weights are summed together
constexpr int kTiles = static_cast<int>(kDrawVocabulary / kTile);
constexpr int kBins = 1024;
constexpr float kBinsPerUnit = 16.0f;
constexpr double kMassUnit = 17592186044416.0;  // 2^44: weights are summed as integers, in any order the same

struct Shared {
  U64 list[kDrawCandidates];  // key << 32 | ~token
  U64 sorted[kDrawCandidates];
  float weights[kDrawCandidates];
  union {
    double tiles[kTiles];
    U64 mass[kBins];
    uint32_t largest[kThreads];
  };
  double partial[32];
  U64 best[32];
  double total;
  uint32_t bound;
  int count, token, kept, border;
};

// Larger floats have larger keys, both zeros the same, NaN that of -inf.
__device__ __forceinline__ uint32_t key_of(float x) {
  const uint32_t bits = __float_as_uint(__fadd_rn(x, 0.0f));
  if (x != x) return 0x007fffffu;
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}
constexpr uint32_t kNothing = 0x007fffffu;  // key of -inf
__device__ __forceinline__ float logit_of(U64 entry) {
  const uint32_t key = static_cast<uint32_t>(entry >> 32);
  return __uint_as_float((key & 0x80000000u) != 0 ? key & 0x7fffffffu : ~key);
}
__device__ __forceinline__ int token_of(U64 entry) {
  return static_cast<int>(0xffffffffu - static_cast<uint32_t>(entry));
}
__device__ __forceinline__ U64 entry_of(uint32_t key, int64_t token) {
  return static_cast<U64>(key) << 32 | (0xffffffffu - static_cast<uint32_t>(token));
}

// llm/sample's exp_of.
__device__ __forceinline__ float weight_of(float x) {
  const float clamped = x > -87.0f ? x : -87.0f;
  const float shifted = __fadd_rn(__fmul_rn(clamped, 1.44269504f), 12582912.0f);
  const float n = __fsub_rn(shifted, 12582912.0f);
  const float r = __fsub_rn(__fsub_rn(clamped, __fmul_rn(n, 0.693359375f)), __fmul_rn(n, -2.12194440e-4f));
  float p = 1.98412698e-4f;
  p = __fadd_rn(__fmul_rn(p, r), 1.38888889e-3f);
  p = __fadd_rn(__fmul_rn(p, r), 8.33333333e-3f);
  p = __fadd_rn(__fmul_rn(p, r), 4.16666667e-2f);
  p = __fadd_rn(__fmul_rn(p, r), 1.66666667e-1f);
  p = __fadd_rn(__fmul_rn(p, r), 0.5f);
  p = __fadd_rn(__fmul_rn(p, r), 1.0f);
  p = __fadd_rn(__fmul_rn(p, r), 1.0f);
  return x > -87.0f ? __uint_as_float(__float_as_uint(p) + (__float_as_uint(shifted) << 23)) : 0.0f;
}

struct Row {
  const float* logits;
  const uint32_t* mask;  // null: none
  int64_t vocab;
  // Four from 4 * quad on, as far as there are.
  __device__ __forceinline__ float4 load(int64_t quad) const {
    const int64_t at = 4 * quad;
    float4 v = make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
    if (at + 3 < vocab) {
      v = *reinterpret_cast<const float4*>(logits + at);
    } else {
      if (at < vocab) v.x = logits[at];
      if (at + 1 < vocab) v.y = logits[at + 1];
      if (at + 2 < vocab) v.z = logits[at + 2];
    }
    if (mask == nullptr || at >= vocab) return v;
    const uint32_t bits = mask[quad / 8] >> (quad % 8 * 4);
    v.x = (bits & 1u) != 0 ? v.x : -INFINITY;
    v.y = (bits & 2u) != 0 ? v.y : -INFINITY;
    v.z = (bits & 4u) != 0 ? v.z : -INFINITY;
    v.w = (bits & 8u) != 0 ? v.w : -INFINITY;
    return v;
  }
  // f(logit, token), four loads of 16 bytes under way; what lies past the end is -inf.
  template <typename F>
  __device__ __forceinline__ void each(const F& f) const {
    const int64_t quads = (vocab + 3) / 4;
    for (int64_t base = threadIdx.x; base < quads; base += 4 * kThreads) {
      float4 v[4];
#pragma unroll
      for (int u = 0; u < 4; ++u) v[u] = load(base + u * kThreads);
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        const int64_t at = 4 * (base + u * kThreads);
        f(v[u].x, at), f(v[u].y, at + 1), f(v[u].z, at + 2), f(v[u].w, at + 3);
      }
    }
  }
};

__device__ double warp_add(double x) {
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
  return x;
}
// To all threads; in an order that is always the same.
__device__ double block_add(double x, Shared& s) {
  x = warp_add(x);
  __syncthreads();
  if (threadIdx.x % 32 == 0) s.partial[threadIdx.x / 32] = x;
  __syncthreads();
  return warp_add(s.partial[threadIdx.x % 32]);
}
__device__ U64 block_most(U64 x, Shared& s) {
  for (int turn = 0; turn < 2; ++turn) {
    for (int step = 16; step > 0; step /= 2) {
      const U64 other = __shfl_xor_sync(0xffffffffu, x, step);
      x = other > x ? other : x;
    }
    if (turn == 1) break;
    __syncthreads();
    if (threadIdx.x % 32 == 0) s.best[threadIdx.x / 32] = x;
    __syncthreads();
    x = s.best[threadIdx.x % 32];
  }
  return x;
}
__device__ U64 best_of(const Row& row, Shared& s) {
  U64 best = 0;
  row.each([&](float x, int64_t token) {
    const U64 entry = entry_of(key_of(x), token);
    best = entry > best ? entry : best;
  });
  return block_most(best, s);
}
template <typename F>
__device__ double sum_of(const Row& row, Shared& s, const F& weight) {
  double sum = 0;
  row.each([&](float x, int64_t) { sum += weight(x); });
  return block_add(sum, s);
}

// One warp: the first place in [from, count) up to which, with `before`, the sum passes the target (or reaches it); -1
// where it never does. `last`: the last place with a weight.
template <typename F>
__device__ int place_of(int from, int count, double before, double target, bool reaches, const F& weight, int* last,
                        double* sum_before) {
  const int lane = threadIdx.x % 32;
  for (int base = from; base < count; base += 32) {
    const double own = base + lane < count ? static_cast<double>(weight(base + lane)) : 0.0;
    double sum = own;
    for (int step = 1; step < 32; step *= 2) {
      const double other = __shfl_up_sync(0xffffffffu, sum, step);
      if (lane >= step) sum += other;
    }
    const double all = before + sum;
    const unsigned there =
        __ballot_sync(0xffffffffu, base + lane < count && (reaches ? all >= target : all > target && own > 0));
    const unsigned weighs = __ballot_sync(0xffffffffu, own > 0);
    if (there != 0) {
      const int first = __ffs(static_cast<int>(there)) - 1;
      *sum_before = before + __shfl_sync(0xffffffffu, sum - own, first);
      return base + first;
    }
    if (weighs != 0) *last = base + 31 - __clz(static_cast<int>(weighs));
    before += __shfl_sync(0xffffffffu, sum, 31);
  }
  return -1;
}

// Candidates of at least this key into the list; more than it holds are only counted.
template <typename F>
__device__ void gather(const Row& row, Shared& s, const F& belongs) {
  __syncthreads();
  if (threadIdx.x == 0) s.count = 0;
  __syncthreads();
  row.each([&](float x, int64_t token) {
    if (!belongs(x)) return;
    const int at = atomicAdd(&s.count, 1);
    if (at < kDrawCandidates) s.list[at] = entry_of(key_of(x), token);
  });
  __syncthreads();
}
// The list in the order of `rank`, smallest first; ranks differ.
template <typename F>
__device__ void sort(Shared& s, const F& rank) {
  const int count = s.count;
  if (static_cast<int>(threadIdx.x) < count) {
    const U64 mine = s.list[threadIdx.x], own = rank(mine);
    int place = 0;
    for (int i = 0; i < count; ++i) place += rank(s.list[i]) < own ? 1 : 0;
    s.sorted[place] = mine;
  }
  __syncthreads();
}

// The k best, best first, in `sorted`; s.count of them. False: ties made them too many. Each thread's largest are
// ranked; the k-th of those bounds the k-th largest of all from below.
__device__ bool select_top(const Row& row, Shared& s, int k) {
  uint32_t largest = 0;
  row.each([&](float x, int64_t) { largest = max(largest, key_of(x)); });
  __syncthreads();
  s.largest[threadIdx.x] = largest;
  if (threadIdx.x == 0) s.bound = 0;
  __syncthreads();
  int before = 0;
#pragma unroll 8
  for (int i = 0; i < kThreads; ++i)
    before += s.largest[i] > largest || (s.largest[i] == largest && i < static_cast<int>(threadIdx.x)) ? 1 : 0;
  if (before == k - 1) s.bound = largest;
  __syncthreads();
  const uint32_t bound = max(s.bound, kNothing + 1);
  gather(row, s, [&](float x) { return key_of(x) >= bound; });
  if (s.count > kDrawCandidates) return false;
  sort(s, [](U64 entry) { return ~entry; });
  if (threadIdx.x == 0) s.count = min(s.count, k);
  __syncthreads();
  return true;
}

// As the raw logits have it; -inf or 0 where they hold an infinity.
__device__ float logprob_of(float logit, float most, double total) {
  if (isinf(most)) return logit == most ? 0.0f : -INFINITY;
  return static_cast<float>(logit - total);
}

// From all tokens, in their order.
__device__ int draw_any(const Row& row, Shared& s, const DrawRule& rule, float best) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int tiles = static_cast<int>((row.vocab + kTile - 1) / kTile);
  const float scale = __fdiv_rn(1.0f, rule.temperature);
  const auto weight = [&](float x) { return static_cast<double>(weight_of(__fmul_rn(__fsub_rn(x, best), scale))); };
  __syncthreads();
  for (int first = warp; first < tiles; first += 4 * 32) {
    float4 v[4];
#pragma unroll
    for (int u = 0; u < 4; ++u) v[u] = row.load(static_cast<int64_t>(first + 32 * u) * 32 + lane);
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      const double sum = warp_add(weight(v[u].x) + weight(v[u].y) + weight(v[u].z) + weight(v[u].w));
      if (lane == 0 && first + 32 * u < tiles) s.tiles[first + 32 * u] = sum;
    }
  }
  __syncthreads();
  double all = 0;
  for (int i = threadIdx.x; i < tiles; i += kThreads) all += s.tiles[i];
  all = block_add(all, s);
  if (warp == 0) {
    int last = 0;
    double before = 0;
    const double target = rule.uniform * all;
    int tile = place_of(
        0, tiles, 0, target, false, [&](int i) { return s.tiles[i]; }, &last, &before);
    const bool is_past = tile < 0;
    if (is_past) tile = last;
    const int64_t begin = static_cast<int64_t>(tile) * kTile;
    const int count = static_cast<int>(row.vocab - begin < kTile ? row.vocab - begin : kTile);
    const auto one = [&](int i) {
      const float4 v = row.load((begin + i) / 4);
      return weight(i % 4 == 0 ? v.x : i % 4 == 1 ? v.y : i % 4 == 2 ? v.z : v.w);
    };
    int last_in = 0;
    double unused = 0;
    int place = place_of(0, count, is_past ? 0 : before, is_past ? INFINITY : target, false, one, &last_in, &unused);
    if (place < 0) place = last_in;
    if (lane == 0) s.token = static_cast<int>(begin) + place;
  }
  __syncthreads();
  return s.token;
}

__device__ __forceinline__ int bin_of(float logit, float best) {
  const float bin = __fmul_rn(__fsub_rn(best, logit), kBinsPerUnit);
  return bin < kBins - 1 ? static_cast<int>(bin) : kBins - 1;
}

// The best tokens that together reach top_p of everything, as llm/sample's keep_until leaves them: those of bins before
// the border by token, then those of the border's best first. False: too many.
__device__ bool keep_top_p(const Row& row, Shared& s, const DrawRule& rule, float best, float floor) {
  const double all = sum_of(row, s, [&](float x) { return static_cast<double>(weight_of(__fsub_rn(x, best))); });
  const double wanted = all * static_cast<double>(rule.top_p);
  __syncthreads();
  for (int i = threadIdx.x; i < kBins; i += kThreads) s.mass[i] = 0;
  __syncthreads();
  row.each([&](float x, int64_t) {
    if (!(x >= floor) || !(x > best - 30.0f)) return;  // what lies lower weighs less than a unit
    atomicAdd(&s.mass[bin_of(x, best)],
              static_cast<U64>(__double2ull_rn(static_cast<double>(weight_of(__fsub_rn(x, best))) * kMassUnit)));
  });
  __syncthreads();
  double before = 0;
  if (threadIdx.x < 32) {
    int last = 0;
    const int border = place_of(
        0, kBins, 0, wanted, true, [&](int i) { return static_cast<double>(s.mass[i]) / kMassUnit; }, &last, &before);
    if (threadIdx.x == 0) s.border = border < 0 ? kBins - 1 : border, s.total = before;
  }
  __syncthreads();
  const int border = s.border;
  before = s.total;
  gather(row, s, [&](float x) { return x >= floor && x > -INFINITY && bin_of(x, best) <= border; });
  if (s.count > kDrawCandidates) return false;
  sort(s, [&](U64 entry) {
    if (bin_of(logit_of(entry), best) < border) return static_cast<U64>(token_of(entry));
    return U64{1} << 63 | (~entry >> 32) << 31 | static_cast<U64>(token_of(entry));
  });
  const int count = s.count;
  if (static_cast<int>(threadIdx.x) < count) s.weights[threadIdx.x] = weight_of(logit_of(s.sorted[threadIdx.x]) - best);
  const int whole = __syncthreads_count(static_cast<int>(threadIdx.x) < count &&
                                        bin_of(logit_of(s.sorted[threadIdx.x]), best) < border);
  if (border == kBins - 1) return true;  // never reached: all stay
  if (threadIdx.x < 32) {
    int last = 0;
    double unused = 0;
    const int at = place_of(
        whole, count, before, wanted, true, [&](int i) { return s.weights[i]; }, &last, &unused);
    if (threadIdx.x == 0 && at >= 0) s.count = at + 1;
  }
  __syncthreads();
  return true;
}

// The candidates in `sorted`, s.count of them, weighed by temperature.
__device__ int draw_listed(Shared& s, const DrawRule& rule, float best) {
  const int count = s.count;
  const float top = __fdiv_rn(best, rule.temperature);
  if (static_cast<int>(threadIdx.x) < count)
    s.weights[threadIdx.x] = weight_of(__fsub_rn(__fdiv_rn(logit_of(s.sorted[threadIdx.x]), rule.temperature), top));
  __syncthreads();
  const double all = block_add(static_cast<int>(threadIdx.x) < count ? s.weights[threadIdx.x] : 0.0, s);
  if (threadIdx.x < 32) {
    int last = 0;
    double unused = 0;
    const int at = place_of(
        0, count, 0, rule.uniform * all, false, [&](int i) { return s.weights[i]; }, &last, &unused);
    if (threadIdx.x == 0) s.token = token_of(s.sorted[at < 0 ? last : at]);
  }
  __syncthreads();
  return s.token;
}

__device__ int draw_filtered(const Row& row, Shared& s, const DrawRule& rule, float best) {
  const float floor = __fadd_rn(best, rule.log_min_p);
  if (rule.top_k > 0 && rule.top_k < row.vocab) {
    if (!select_top(row, s, rule.top_k)) return -1;
    const int count = s.count;
    if (rule.top_p < 1.0f) {
      if (static_cast<int>(threadIdx.x) < count)
        s.weights[threadIdx.x] = weight_of(__fsub_rn(logit_of(s.sorted[threadIdx.x]), best));
      __syncthreads();
      const double all = block_add(static_cast<int>(threadIdx.x) < count ? s.weights[threadIdx.x] : 0.0, s);
      if (threadIdx.x < 32) {
        int last = 0;
        double unused = 0;
        const int at = place_of(
            0, count, 0, all * static_cast<double>(rule.top_p), true, [&](int i) { return s.weights[i]; }, &last,
            &unused);
        if (threadIdx.x == 0 && at >= 0) s.count = at + 1;
      }
      __syncthreads();
    }
    const int kept =
        __syncthreads_count(static_cast<int>(threadIdx.x) < s.count && logit_of(s.sorted[threadIdx.x]) >= floor);
    if (threadIdx.x == 0) s.count = kept;
    __syncthreads();
    return draw_listed(s, rule, best);
  }
  if (rule.top_p < 1.0f) {
    if (!keep_top_p(row, s, rule, best, floor)) return -1;
    return draw_listed(s, rule, best);
  }
  gather(row, s, [&](float x) { return x >= floor && x > -INFINITY; });
  if (s.count > kDrawCandidates) return -1;
  sort(s, [](U64 entry) { return static_cast<U64>(token_of(entry)); });
  return draw_listed(s, rule, best);
}

__global__ void __launch_bounds__(kThreads) draw_rows_kernel(const __grid_constant__ DrawRowsParams p) {
  __shared__ Shared s;
  start_next();
  wait_for_previous();
  const int64_t draw = blockIdx.x;
  const DrawRule rule = p.rules[draw];
  float* logits = p.logits + rule.row * p.stride;
  bool is_whole = true;
  double total = 0;
  float raw_most = 0;
  if (rule.logprobs >= 0) {
    const Row raw{logits, nullptr, p.vocab};
    raw_most = logit_of(best_of(raw, s));
    if (!isinf(raw_most))
      total = raw_most + log(sum_of(raw, s, [&](float x) { return static_cast<double>(weight_of(x - raw_most)); }));
    if (rule.logprobs > 0) {
      is_whole = select_top(raw, s, rule.logprobs);
      if (threadIdx.x < kDrawTops) {
        const bool is_one = is_whole && static_cast<int>(threadIdx.x) < s.count;
        const U64 entry = s.sorted[threadIdx.x];
        p.top_tokens[draw * kDrawTops + threadIdx.x] = is_one ? token_of(entry) : -1;
        p.top_logprobs[draw * kDrawTops + threadIdx.x] =
            is_one ? logprob_of(logit_of(entry), raw_most, total) : -INFINITY;
      }
    }
    __syncthreads();
  }
  DrawEdit* edits = p.edits + rule.first_edit;
  for (int i = threadIdx.x; i < rule.edits; i += kThreads) {
    float& x = logits[edits[i].token];
    edits[i].was = x;
    float y = __fadd_rn(x, edits[i].add);
    y = y > 0 ? __fdiv_rn(y, edits[i].factor) : __fmul_rn(y, edits[i].factor);
    x = __fsub_rn(y, edits[i].less);
  }
  __syncthreads();
  const Row row{logits, rule.mask < 0 ? nullptr : p.masks + rule.mask * ((p.vocab + 31) / 32), p.vocab};
  const U64 most = best_of(row, s);
  const float best = logit_of(most);
  int token = -1;
  if (best > -INFINITY && is_whole) {
    token = token_of(most);
    if (best < INFINITY && rule.kind == DrawKind::kAny) token = draw_any(row, s, rule, best);
    if (best < INFINITY && rule.kind == DrawKind::kFiltered) token = draw_filtered(row, s, rule, best);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < rule.edits; i += kThreads) logits[edits[i].token] = edits[i].was;
  __syncthreads();
  if (threadIdx.x != 0) return;
  p.tokens[draw] = token;
  p.logprobs[draw] = rule.logprobs >= 0 && token >= 0 ? logprob_of(logits[token], raw_most, total) : 0.0f;
}

}  // namespace

void draw_rows(const DrawRowsParams& params, const Queue& queue) {
  if (params.draws == 0) return;
  launch(draw_rows_kernel, params, {.grid = dim3(static_cast<unsigned>(params.draws)), .threads = kThreads}, queue);
}

}  // namespace nereid::kernels::cuda
