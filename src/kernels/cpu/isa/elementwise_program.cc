// SPDX-License-Identifier: Apache-2.0
// Elementwise programs: dims that lie together are joined, then tiles of rows pass through all steps while in L1.
#include "kernels/cpu/elementwise_program.h"

#include <cstring>

#include "kernels/cpu/isa/program_math.h"
#include "kernels/cpu/isa_kernels.h"

namespace nereid::kernels::NEREID_ISA {
namespace {

using simd::F32;

// The program over joined dims, and where its values live.
struct Plan {
  const ProgramParams& p;
  int rank = 1;
  int64_t dims[kProgramDims];
  int64_t in[kProgramValues][kProgramDims];  // strides
  int64_t out[kProgramValues][kProgramDims];
  uint8_t slot[kProgramValues];   // a value's tile; an input may do without
  int64_t rows = 1, columns = 1;  // of a tile
};

int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

void join_dims(Plan& plan) {
  const ProgramParams& p = plan.p;
  int n = 0;
  for (int d = 0; d < p.rank; ++d) {
    if (p.dims[d] == 1 && p.rank > 1 && !(n == 0 && d + 1 == p.rank)) continue;
    const auto follows = [&](const int64_t* strides, const int64_t* joined) {
      return joined[n - 1] == strides[d] * p.dims[d];
    };
    bool join = n > 0;
    for (int i = 0; join && i < p.input_count; ++i) join = follows(p.inputs[i].strides, plan.in[i]);
    for (int i = 0; join && i < p.output_count; ++i) join = follows(p.outputs[i].strides, plan.out[i]);
    if (!join) plan.dims[n++] = 1;
    plan.dims[n - 1] *= p.dims[d];
    for (int i = 0; i < p.input_count; ++i) plan.in[i][n - 1] = p.inputs[i].strides[d];
    for (int i = 0; i < p.output_count; ++i) plan.out[i][n - 1] = p.outputs[i].strides[d];
  }
  plan.rank = n;
}

// Arguments a primitive has.
int arity(Primitive op) {
  return op == Primitive::kConstant                             ? 0
         : op < Primitive::kAdd                                 ? 1
         : op == Primitive::kMulAdd || op == Primitive::kSelect ? 3
                                                                : 2;
}

// A value keeps its tile until its last use; outputs until the end.
void give_slots(Plan& plan) {
  const ProgramParams& p = plan.p;
  const int values = p.input_count + p.step_count;
  int last[kProgramValues];
  for (int v = 0; v < values; ++v) last[v] = v < p.input_count ? -1 : v - p.input_count;
  for (int s = 0; s < p.step_count; ++s) {
    const ProgramStep& step = p.steps[s];
    const int n = arity(step.op);
    if (n > 0) last[step.a] = s;
    if (n > 1) last[step.b] = s;
    if (n > 2) last[step.c] = s;
  }
  for (int i = 0; i < p.output_count; ++i) last[p.outputs[i].value] = p.step_count;
  bool taken[kProgramValues] = {};
  const auto take = [&](int v) {
    int slot = 0;
    while (taken[slot]) ++slot;
    taken[slot] = true;
    plan.slot[v] = static_cast<uint8_t>(slot);
  };
  for (int v = 0; v < p.input_count; ++v) take(v);
  for (int s = 0; s < p.step_count; ++s) {
    // Arguments that end here give their tiles to the result: every step reads before it writes, lane by lane.
    for (int v = 0; v < p.input_count + s; ++v)
      if (last[v] == s || (s == 0 && last[v] < 0)) taken[plan.slot[v]] = false;
    take(p.input_count + s);
  }
}

template <typename F>
[[gnu::always_inline]] inline void over(int64_t n, float* y, F f) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) simd::store(y + i, f(i, 16));
  if (i < n) simd::store_partial(y + i, f(i, static_cast<int>(n - i)), static_cast<int>(n - i));
}
[[gnu::always_inline]] inline F32 get(const float* p, int n) {
  return n == 16 ? simd::load(p) : simd::load_partial(p, n);
}
template <typename F>
[[gnu::noinline]] void unary(int64_t n, const float* a, float* y, F f) {
  over(
      n, y, [&](int64_t i, int c) __attribute__((always_inline)) { return f(get(a + i, c)); });
}
template <typename F>
[[gnu::noinline]] void binary(int64_t n, const float* a, const float* b, float* y, F f) {
  over(
      n, y, [&](int64_t i, int c) __attribute__((always_inline)) { return f(get(a + i, c), get(b + i, c)); });
}
F32 truth(simd::Mask m) {
  return simd::select(m, simd::set1(1.0f), simd::zero());
}
F32 negated(F32 a) {
  return simd::sub(simd::set1(-0.0f), a);
}

void run_unary(const ProgramStep& s, int64_t n, const float* a, float* y) {
  using namespace simd;
  const float alpha = s.alpha;
  switch (s.op) {
    case Primitive::kConstant:
      return over(n, y, [&](int64_t, int) { return set1(alpha); });
    case Primitive::kCopy:
      return unary(n, a, y, [](F32 x) { return x; });
    case Primitive::kNeg:
      return unary(n, a, y, [](F32 x) { return negated(x); });
    case Primitive::kAbs:
      return unary(n, a, y, [](F32 x) { return simd::abs(x); });
    case Primitive::kSign:
      return unary(n, a, y,
                   [](F32 x) { return select(less(zero(), x), set1(1.0f), select(less(x, zero()), set1(-1.0f), x)); });
    case Primitive::kSqrt:
      return unary(n, a, y, [](F32 x) { return simd::sqrt(x); });
    case Primitive::kReciprocal:
      return unary(n, a, y, [](F32 x) { return div(set1(1.0f), x); });
    case Primitive::kExp:
      return unary(n, a, y, [](F32 x) { return exp_whole(x); });
    case Primitive::kLog:
      return unary(n, a, y, [](F32 x) { return log_whole(x); });
    case Primitive::kSin:
      return unary(n, a, y, [](F32 x) { return by_lane(x, x, [](float v, float) { return __builtin_sinf(v); }); });
    case Primitive::kCos:
      return unary(n, a, y, [](F32 x) { return by_lane(x, x, [](float v, float) { return __builtin_cosf(v); }); });
    case Primitive::kErf:
      return unary(n, a, y, [](F32 x) { return erf(x); });
    case Primitive::kFloor:
      return unary(n, a, y, [](F32 x) { return simd::floor(x); });
    case Primitive::kCeil:
      return unary(n, a, y, [](F32 x) { return negated(simd::floor(negated(x))); });
    case Primitive::kRound:
      return unary(n, a, y, [](F32 x) { return simd::round(x); });
    case Primitive::kNot:
      return unary(n, a, y, [](F32 x) { return truth(equal(x, zero())); });
    case Primitive::kIsNan:
      return unary(n, a, y, [](F32 x) { return select(equal(x, x), zero(), set1(1.0f)); });
    case Primitive::kSoftplus:
      return unary(n, a, y, [](F32 x) { return softplus(x); });
    case Primitive::kAct:
      return unary(n, a, y, [&](F32 x) { return activate(s.act, s.alpha, s.beta, x); });
    case Primitive::kAddConstant:
      return unary(n, a, y, [&](F32 x) { return simd::add(x, set1(alpha)); });
    case Primitive::kMulConstant:
      return unary(n, a, y, [&](F32 x) { return mul(x, set1(alpha)); });
    case Primitive::kPowConstant:
      if (alpha == 2) return unary(n, a, y, [](F32 x) { return mul(x, x); });
      if (alpha == 3) return unary(n, a, y, [](F32 x) { return mul(mul(x, x), x); });
      if (alpha == 1) return unary(n, a, y, [](F32 x) { return x; });
      if (alpha == -1) return unary(n, a, y, [](F32 x) { return div(set1(1.0f), x); });
      if (alpha == 0.5f) return unary(n, a, y, [](F32 x) { return simd::sqrt(x); });
      if (alpha == -0.5f) return unary(n, a, y, [](F32 x) { return div(set1(1.0f), simd::sqrt(x)); });
      return unary(n, a, y, [&](F32 x) {
        return by_lane(x, set1(alpha), [](float v, float e) { return __builtin_powf(v, e); });
      });
    default:
      return;
  }
}

float floor_mod(float a, float b) {
  const float r = __builtin_fmodf(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

void run_binary(const ProgramStep& s, int64_t n, const float* a, const float* b, float* y) {
  using namespace simd;
  const auto bits = [](F32 x) { return equal(x, zero()); };
  switch (s.op) {
    case Primitive::kAdd:
      return binary(n, a, b, y, [](F32 u, F32 v) { return simd::add(u, v); });
    case Primitive::kSub:
      return binary(n, a, b, y, [](F32 u, F32 v) { return sub(u, v); });
    case Primitive::kMul:
      return binary(n, a, b, y, [](F32 u, F32 v) { return mul(u, v); });
    case Primitive::kDiv:
      return binary(n, a, b, y, [](F32 u, F32 v) { return div(u, v); });
    case Primitive::kMin:
      return binary(n, a, b, y, [](F32 u, F32 v) { return select(equal(u, u), simd::min(u, v), u); });
    case Primitive::kMax:
      return binary(n, a, b, y, [](F32 u, F32 v) { return select(equal(u, u), simd::max(u, v), u); });
    case Primitive::kPow:
      return binary(n, a, b, y,
                    [](F32 u, F32 v) { return by_lane(u, v, [](float x, float e) { return __builtin_powf(x, e); }); });
    case Primitive::kMod:
      return binary(n, a, b, y,
                    [](F32 u, F32 v) { return by_lane(u, v, [](float x, float m) { return floor_mod(x, m); }); });
    case Primitive::kFmod:
      return binary(n, a, b, y,
                    [](F32 u, F32 v) { return by_lane(u, v, [](float x, float m) { return __builtin_fmodf(x, m); }); });
    case Primitive::kPRelu:
      return binary(n, a, b, y, [](F32 u, F32 v) { return select(less(u, zero()), mul(u, v), u); });
    case Primitive::kEqual:
      return binary(n, a, b, y, [](F32 u, F32 v) { return truth(equal(u, v)); });
    case Primitive::kLess:
      return binary(n, a, b, y, [](F32 u, F32 v) { return truth(less(u, v)); });
    case Primitive::kLessOrEqual:
      return binary(n, a, b, y, [](F32 u, F32 v) { return truth(less_equal(u, v)); });
    case Primitive::kGreater:
      return binary(n, a, b, y, [](F32 u, F32 v) { return truth(less(v, u)); });
    case Primitive::kGreaterOrEqual:
      return binary(n, a, b, y, [](F32 u, F32 v) { return truth(less_equal(v, u)); });
    case Primitive::kAnd:
      return binary(n, a, b, y,
                    [&](F32 u, F32 v) { return select(bits(u), zero(), select(bits(v), zero(), set1(1.0f))); });
    case Primitive::kOr:
      return binary(n, a, b, y,
                    [&](F32 u, F32 v) { return select(bits(u), select(bits(v), zero(), set1(1.0f)), set1(1.0f)); });
    case Primitive::kXor:
      return binary(n, a, b, y, [&](F32 u, F32 v) {
        const F32 one = set1(1.0f), w = select(bits(v), zero(), one);
        return select(bits(u), w, sub(one, w));
      });
    default:
      return;
  }
}

void run_step(const ProgramStep& s, int64_t n, const float* const* values, float* y) {
  const int args = arity(s.op);
  if (args == 3) {
    const float *a = values[s.a], *b = values[s.b], *c = values[s.c];
    if (s.op == Primitive::kMulAdd)
      return over(n, y, [&](int64_t i, int m) { return simd::fma(get(a + i, m), get(b + i, m), get(c + i, m)); });
    return over(n, y, [&](int64_t i, int m) {
      return simd::select(simd::equal(get(a + i, m), simd::zero()), get(c + i, m), get(b + i, m));
    });
  }
  if (args == 2) return run_binary(s, n, values[s.a], values[s.b], y);
  run_unary(s, n, args ? values[s.a] : nullptr, y);
}

// Codes as numbers and back, 16 at a time where n allows.
template <LowType kType>
[[gnu::always_inline]] inline F32 widen(const std::byte* p) {
  if constexpr (kType == LowType::kU8) return simd::load_u8(reinterpret_cast<const uint8_t*>(p));
  return simd::load_s8(reinterpret_cast<const int8_t*>(p));
}
template <LowType kType>
[[gnu::noinline]] void read_codes(const std::byte* src, int64_t n, float* y) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) simd::store(y + i, widen<kType>(src + i));
  if (i < n) {
    alignas(16) std::byte t[16] = {};
    std::memcpy(t, src + i, static_cast<size_t>(n - i));
    simd::store_partial(y + i, widen<kType>(t), static_cast<int>(n - i));
  }
}
template <LowType kType>
[[gnu::always_inline]] inline void narrow(F32 v, std::byte* p) {
  // Kept where to_i32 is exact.
  v = simd::round(simd::min(simd::max(v, simd::set1(-1000.0f)), simd::set1(1000.0f)));
  if constexpr (kType == LowType::kU8)
    simd::store_u8(reinterpret_cast<uint8_t*>(p), simd::to_i32(v));
  else
    simd::store_i8(reinterpret_cast<int8_t*>(p), simd::to_i32(v));
}
template <LowType kType>
[[gnu::noinline]] void write_codes(const float* x, int64_t n, std::byte* dst) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) narrow<kType>(simd::load(x + i), dst + i);
  if (i < n) {
    alignas(16) std::byte t[16];
    narrow<kType>(simd::load_partial(x + i, static_cast<int>(n - i)), t);
    std::memcpy(dst + i, t, static_cast<size_t>(n - i));
  }
}
float code_at(LowType type, const std::byte* p) {
  return type == LowType::kU8 ? static_cast<float>(static_cast<uint8_t>(*p))
                              : static_cast<float>(static_cast<int8_t>(*p));
}

// A tile of codes as numbers.
const float* read_code_tile(LowType type, const std::byte* src, int64_t row_stride, int64_t stride, int64_t rows,
                            int64_t columns, float* tile) {
  const bool whole = stride == 1 && (rows == 1 || row_stride == columns);
  if (whole) {
    columns *= rows;
    rows = 1;
  }
  for (int64_t r = 0; r < rows; ++r, src += row_stride) {
    float* y = tile + r * columns;
    if (stride == 1)
      type == LowType::kU8 ? read_codes<LowType::kU8>(src, columns, y) : read_codes<LowType::kS8>(src, columns, y);
    else
      for (int64_t i = 0; i < columns; ++i) y[i] = code_at(type, src + i * stride);
  }
  return tile;
}

void write_code_tile(LowType type, const float* tile, int64_t row_stride, int64_t stride, int64_t rows, int64_t columns,
                     std::byte* dst) {
  for (int64_t r = 0; r < rows; ++r, dst += row_stride, tile += columns) {
    if (stride == 1) {
      type == LowType::kU8 ? write_codes<LowType::kU8>(tile, columns, dst)
                           : write_codes<LowType::kS8>(tile, columns, dst);
      continue;
    }
    alignas(16) std::byte codes[16];
    for (int64_t i = 0; i < columns; i += 16) {
      const int64_t n = least(16, columns - i);
      type == LowType::kU8 ? write_codes<LowType::kU8>(tile + i, n, codes)
                           : write_codes<LowType::kS8>(tile + i, n, codes);
      for (int64_t k = 0; k < n; ++k) dst[(i + k) * stride] = codes[k];
    }
  }
}

// A tile of input: in place where it lies as the tile does, else copied. `tile` keeps a whole value that repeats from
// tile to tile (a scalar).
const float* read_tile(const float* src, int64_t row_stride, int64_t stride, int64_t rows, int64_t columns,
                       float* tile) {
  if (stride == 1 && (rows == 1 || row_stride == columns)) return src;
  for (int64_t r = 0; r < rows; ++r, src += row_stride) {
    float* y = tile + r * columns;
    if (stride == 1)
      over(columns, y, [&](int64_t i, int n) { return get(src + i, n); });
    else if (stride == 0)
      over(columns, y, [&](int64_t, int) { return simd::set1(*src); });
    else
      for (int64_t i = 0; i < columns; ++i) y[i] = src[i * stride];
  }
  return tile;
}

void write_tile(const float* tile, int64_t row_stride, int64_t stride, int64_t rows, int64_t columns, float* dst) {
  for (int64_t r = 0; r < rows; ++r, dst += row_stride, tile += columns) {
    if (stride == 1)
      over(columns, dst, [&](int64_t i, int n) { return get(tile + i, n); });
    else
      for (int64_t i = 0; i < columns; ++i) dst[i * stride] = tile[i];
  }
}

// Tile number `at`: tiles go over columns, then over groups of rows (the second dim from inside), then the outer dims.
void run_tile(const Plan& plan, int64_t at, float* scratch) {
  const ProgramParams& p = plan.p;
  const int inner = plan.rank - 1;
  const int64_t all_columns = plan.dims[inner], all_rows = plan.rank > 1 ? plan.dims[inner - 1] : 1;
  const int64_t across = (all_columns + plan.columns - 1) / plan.columns, down = (all_rows + plan.rows - 1) / plan.rows;
  const int64_t column = at % across * plan.columns, row = at / across % down * plan.rows;
  const int64_t columns = least(plan.columns, all_columns - column), rows = least(plan.rows, all_rows - row);
  int64_t index[kProgramDims] = {};
  int64_t rest = at / across / down;
  for (int d = plan.rank - 3; d >= 0; --d) {
    index[d] = rest % plan.dims[d];
    rest /= plan.dims[d];
  }
  index[inner] = column;
  if (plan.rank > 1) index[inner - 1] = row;
  const auto offset = [&](const int64_t* strides) {
    int64_t sum = 0;
    for (int d = 0; d < plan.rank; ++d) sum += index[d] * strides[d];
    return sum;
  };
  const auto row_stride = [&](const int64_t* strides) { return plan.rank > 1 ? strides[inner - 1] : 0; };
  const float* values[kProgramValues];
  const int64_t n = rows * columns;
  for (int i = 0; i < p.input_count; ++i) {
    const ProgramInput& in = p.inputs[i];
    float* tile = scratch + plan.slot[i] * kProgramTile;
    values[i] = in.type == LowType::kF32
                    ? read_tile(static_cast<const float*>(in.data) + offset(plan.in[i]), row_stride(plan.in[i]),
                                plan.in[i][inner], rows, columns, tile)
                    : read_code_tile(in.type, static_cast<const std::byte*>(in.data) + offset(plan.in[i]),
                                     row_stride(plan.in[i]), plan.in[i][inner], rows, columns, tile);
  }
  for (int s = 0; s < p.step_count; ++s) {
    const int v = p.input_count + s;
    float* y = scratch + plan.slot[v] * kProgramTile;
    // A single result goes straight to its place.
    if (s + 1 == p.step_count && p.output_count == 1 && p.outputs[0].value == v && plan.out[0][inner] == 1 &&
        p.outputs[0].type == LowType::kF32 && (rows == 1 || row_stride(plan.out[0]) == columns)) {
      run_step(p.steps[s], n, values, static_cast<float*>(p.outputs[0].data) + offset(plan.out[0]));
      return;
    }
    run_step(p.steps[s], n, values, y);
    values[v] = y;
  }
  for (int i = 0; i < p.output_count; ++i) {
    const ProgramOutput& out = p.outputs[i];
    if (out.type == LowType::kF32)
      write_tile(values[out.value], row_stride(plan.out[i]), plan.out[i][inner], rows, columns,
                 static_cast<float*>(out.data) + offset(plan.out[i]));
    else
      write_code_tile(out.type, values[out.value], row_stride(plan.out[i]), plan.out[i][inner], rows, columns,
                      static_cast<std::byte*>(out.data) + offset(plan.out[i]));
  }
}

}  // namespace

void elementwise_program(const ProgramParams& p, Worker& worker) {
  for (int d = 0; d < p.rank; ++d)
    if (p.dims[d] == 0) return;
  Plan plan = {.p = p};
  join_dims(plan);
  give_slots(plan);
  const int inner = plan.rank - 1;
  plan.columns = least(plan.dims[inner], kProgramTile);
  const int64_t fit = kProgramTile / plan.columns;
  plan.rows = plan.rank > 1 ? least(fit, plan.dims[inner - 1]) : 1;
  int64_t tiles = (plan.dims[inner] + plan.columns - 1) / plan.columns;
  if (plan.rank > 1) tiles *= (plan.dims[inner - 1] + plan.rows - 1) / plan.rows;
  for (int d = 0; d + 2 < plan.rank; ++d) tiles *= plan.dims[d];
  float* scratch = reinterpret_cast<float*>(p.scratch) + worker.index() * (p.input_count + p.step_count) * kProgramTile;
  const auto [begin, end] = worker.slice(tiles);
  for (int64_t at = begin; at < end; ++at) run_tile(plan, at, scratch);
}

}  // namespace nereid::kernels::NEREID_ISA
