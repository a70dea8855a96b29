// SPDX-License-Identifier: Apache-2.0
// Low-precision products and convolutions on AMX tiles: 32 rows by 2 panels, four tiles of sums.
//
// What the sums become is worked out while the next tile is multiplied: the tile unit takes 64 cycles for 64 bytes of
// all rows, and vectors have nothing to do in that time. Sums begin with the bias (or the offset of codes), so that few
// operations are left: with one tile after the other 32 columns of 32 rows took as long to finish as to multiply for
// k = 128.
//
// A row tile is 16 rows by 64 bytes, read from memory with the rows' stride; a panel's next 16 steps are 16 rows of 64
// bytes, or fewer of both where that divides a segment evenly. Where it does not, the rest of its rows goes through a
// small buffer with zeros behind it, and the panel's tile may reach into what follows: finite numbers times zero.
#include "kernels/cpu/isa/bytes_avx512.h"
#include "kernels/cpu/isa/low_code_sums.h"
#include "kernels/cpu/isa/low_driver.h"
#include "kernels/cpu/isa_kernels.h"

namespace nereid::kernels::avx512 {
void put_low_codes(const LowCodes& c, const std::byte* sums, int64_t rows);
}

namespace nereid::kernels::amx {
namespace {

// Sums in tiles 0..3 (upper or lower rows, panel), rows in 4 and 5, panels in 6 and 7. Configuring costs as much as
// dozens of products, and most tiles of a layer have the same shape: it is done when the shape changes.
class Tiles {
 public:
  Tiles() = default;
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;
  ~Tiles() {
    if (upper_ > 0) simd::release_tiles();
  }
  // Steps of k in one product: 16, or fewer where that leaves no rest, which would have to be copied.
  int product_steps(int64_t steps) {
    if (steps == all_steps_) return product_;
    all_steps_ = steps;
    product_ = 16;
    const int64_t least = (steps + 15) / 16;
    for (int64_t n = least; n <= 2 * least; ++n)
      if (steps % n == 0) {
        product_ = static_cast<int>(steps / n);
        break;
      }
    return product_;
  }
  // 1 to 16 upper rows, 0 to 16 lower ones.
  void configure(int upper, int lower, int steps) {
    if (upper == upper_ && lower == lower_ && steps == steps_) return;
    upper_ = upper;
    lower_ = lower;
    steps_ = steps;
    load(upper, lower, steps);
  }

 private:
  static void load(int upper, int lower, int steps);
  int upper_ = 0, lower_ = 0, steps_ = 0, product_ = 16;
  int64_t all_steps_ = 0;
};

void Tiles::load(int upper, int lower, int steps) {
  simd::TileConfig c;
  if (lower == 0) lower = 1;
  for (int t = 0; t < 8; ++t) c.row_bytes[t] = 64;
  c.rows[0] = c.rows[1] = c.rows[4] = static_cast<uint8_t>(upper);
  c.rows[2] = c.rows[3] = c.rows[5] = static_cast<uint8_t>(lower);
  c.row_bytes[4] = c.row_bytes[5] = static_cast<uint16_t>(4 * steps);
  c.rows[6] = c.rows[7] = static_cast<uint8_t>(steps);
  simd::load_tile_config(c);
}

template <bool kInt8, int kC, int kA, int kB>
[[gnu::always_inline]] inline void dot() {
  if constexpr (kInt8)
    simd::tile_dot_u8s8<kC, kA, kB>();
  else
    simd::tile_dot_bf16<kC, kA, kB>();
}

// A product's rows: some, and some more `lower` bytes behind them (16 rows further down, or in the next group). The
// lower sums follow the upper ones.
struct TileRows {
  int upper = 0, lower = 0;
  int64_t step = 0;  // bytes from the first upper row to the first lower one
};

// 64 bytes of all rows against 16 steps of the panels.
template <bool kInt8, bool kLower, bool kSecond>
[[gnu::always_inline]] inline void multiply_step(const std::byte* upper, const std::byte* lower, int64_t stride,
                                                 const std::byte* b, int64_t panel_stride) {
  simd::tile_load<4>(upper, stride);
  simd::tile_load<6>(b, 64);
  dot<kInt8, 0, 4, 6>();
  if constexpr (kSecond) {
    simd::tile_load<7>(b + panel_stride, 64);
    dot<kInt8, 1, 4, 7>();
  }
  if constexpr (kLower) {
    simd::tile_load<5>(lower, stride);
    dot<kInt8, 2, 5, 6>();
    if constexpr (kSecond) dot<kInt8, 3, 5, 7>();
  }
}

// t.begin (not null) has what the sums of 32 columns begin with. `beside` is called between two steps.
template <bool kInt8, bool kLower, bool kSecond, typename Beside>
[[gnu::always_inline]] inline void multiply(const LowTile& t, const TileRows& rows, int64_t product, Beside&& beside) {
  const auto* begin = reinterpret_cast<const std::byte*>(t.begin);
  simd::tile_load<0>(begin, 0);
  if constexpr (kSecond) simd::tile_load<1>(begin + 64, 0);
  if constexpr (kLower) simd::tile_load<2>(begin, 0);
  if constexpr (kLower && kSecond) simd::tile_load<3>(begin + 64, 0);
  const std::byte* b = t.b;
  const int64_t bytes = 4 * product, whole = t.steps / product, left = t.steps % product * 4;
  for (int64_t i = 0; i < t.segments; ++i) {
    const std::byte* a = t.a[i];
    for (int64_t k = 0; k < whole; ++k, a += bytes, b += 16 * bytes) {
      // Without it layers at batch 1 that weigh more than they move took a tenth longer.
      if (t.ahead != 0)
        for (int64_t line = 0; line < 1024; line += 64) simd::fetch_into_l2(b + t.ahead + line);
      multiply_step<kInt8, kLower, kSecond>(a, a + rows.step, t.a_stride, b, t.panel_stride);
      beside();
    }
    if (left == 0) continue;
    alignas(64) std::byte end[32 * 64];
    for (int r = 0; r < rows.upper + rows.lower; ++r) {
      const bool upper = r < rows.upper;
      std::byte* to = end + (upper ? 64 * r : 1024 + 64 * (r - rows.upper));
      std::memset(to, 0, 64);
      std::memcpy(to, a + (upper ? r * t.a_stride : rows.step + (r - rows.upper) * t.a_stride),
                  static_cast<size_t>(left));
    }
    multiply_step<kInt8, kLower, kSecond>(end, end + 1024, 64, b, t.panel_stride);
    b += left * 16;
  }
  constexpr int64_t kRow = kSecond ? 128 : 64;
  std::byte* lower = t.sums + rows.upper * kRow;
  simd::tile_store<0>(t.sums, kRow);
  if constexpr (kSecond) simd::tile_store<1>(t.sums + 64, kRow);
  if constexpr (kLower) simd::tile_store<2>(lower, kRow);
  if constexpr (kLower && kSecond) simd::tile_store<3>(lower + 64, kRow);
}

// Where some rows of y begin, and what is added to them.
struct Place {
  std::byte* y = nullptr;
  const std::byte* r = nullptr;
};

// A panel's columns of a row are one cache line of many, which nothing fetches by itself. Two tiles further on is soon
// enough.
template <typename Type>
[[gnu::always_inline]] inline void fetch_ahead(bool fetch, Type* y, int64_t stride) {
  if (fetch) simd::fetch_for_writing(y + 64 * stride);
}
// Whether a layer's results are more than what stays in L2 anyway.
inline bool are_far(const LowRegion& g, const LowEpilogue& e) {
  return g.y_rows * g.y_stride * low_bytes(e.y_type) >= int64_t{512} << 10;
}

// Numbers that nothing happens to but a residual and bounds.
inline bool makes_numbers(const LowEpilogue& e) {
  return is_plain(e) && !low_is_int8(e.y_type) &&
         (!e.residual || (is_number_sum(e) && e.residual_type == LowType::kBF16));
}
template <LowType kType, bool kResidual, bool kSecond>
class NumberRows {
  using Type = std::conditional_t<kType == LowType::kBF16, uint16_t, float>;

 public:
  NumberRows(const LowEpilogue& e, int64_t columns, int64_t y_stride, bool fetch)
      : fetch_(fetch),
        bounds_(bounds_of<kType>(e)),
        columns_(simd::first_columns(columns)),
        y_stride_(y_stride),
        r_stride_(e.residual_stride) {}
  [[gnu::always_inline]] void put(const std::byte* sums, const Place& at, int64_t first, int64_t rows) const {
    const NumberRows own = *this;  // in registers, which what is written could not change
    auto* y = reinterpret_cast<Type*>(at.y) + first * y_stride_;
    const auto* r = reinterpret_cast<const uint16_t*>(at.r) + (kResidual ? first * r_stride_ : 0);
    const auto* s = reinterpret_cast<const float*>(sums) + first * kRow;
    int64_t i = 0;
    for (; i + 4 <= rows; i += 4, s += 4 * kRow, y += 4 * own.y_stride_, r += kResidual ? 4 * own.r_stride_ : 0)
      own.put_rows<4>(s, y, r);
    for (; i < rows; ++i, s += kRow, y += own.y_stride_, r += kResidual ? own.r_stride_ : 0) own.put_rows<1>(s, y, r);
  }
  void finish(const Place&, int64_t, int64_t) const {}

 private:
  static constexpr int64_t kRow = kSecond ? 32 : 16;  // of sums

  // All is read before anything is written: a row that begins in the cache line where the one before ends would wait
  // for it.
  template <int kRows>
  [[gnu::always_inline]] void put_rows(const float* s, Type* y, const uint16_t* r) const {
    simd::F32 a[kRows], b[kRows];
    unrolled<kRows>([&]<int i>() __attribute__((always_inline)) {
      fetch_ahead(fetch_, y + i * y_stride_, y_stride_);
      a[i] = simd::load(s + i * kRow);
      b[i] = kSecond ? simd::load(s + i * kRow + 16) : simd::zero();
      if constexpr (kResidual) {
        simd::F32 c, d;
        simd::load_columns(r + i * r_stride_, c, d, columns_);
        a[i] = simd::add(a[i], c);
        b[i] = simd::add(b[i], d);
      }
      // The second operand wins where one is NaN.
      a[i] = simd::min(bounds_.high, simd::max(bounds_.low, a[i]));
      b[i] = simd::min(bounds_.high, simd::max(bounds_.low, b[i]));
    });
    unrolled<kRows>([&]<int i>() __attribute__((always_inline)) {
      simd::store_columns(y + i * y_stride_, a[i], b[i], columns_);
    });
  }
  bool fetch_;
  LowBounds bounds_;
  simd::Columns columns_;
  int64_t y_stride_, r_stride_;
};

// Codes of 32 whole columns.
template <bool kResidual, bool kBounded>
class CodesOfRows {
 public:
  CodesOfRows(const LowCodes& codes, const LowEpilogue& e, bool fetch)
      : fetch_(fetch), codes_(codes), rows_(codes), e_(e) {}
  [[gnu::always_inline]] void put(const std::byte* sums, const Place& at, int64_t first, int64_t rows) const {
    const CodeRows<kResidual, kBounded, true> own = rows_;
    std::byte* y = at.y + first * codes_.y_stride;
    for (int64_t i = 0; fetch_ && i < rows; ++i) fetch_ahead(true, y + i * codes_.y_stride, codes_.y_stride);
    own.put(sums + 128 * first, rows, y, kResidual ? at.r + first * codes_.residual_stride : nullptr);
  }
  void finish(const Place& at, int64_t first, int64_t rows) const {
    if (e_.map) e_.map_codes(e_.map, at.y + first * codes_.y_stride, codes_.y_stride, rows, 32);
  }

 private:
  bool fetch_;
  const LowCodes& codes_;
  CodeRows<kResidual, kBounded, true> rows_;
  const LowEpilogue& e_;
};

template <bool kInt8>
struct AmxKernel {
  static constexpr int rows_for(int) { return 32; }
  static constexpr int kMostRows = 32, kFewRows = 0;
  static constexpr bool kBegins = false, kOverlaps = true;
  Tiles* tiles;

  static void widen(LowType from, const std::byte* src, int64_t pixels, std::byte* dst) {
    if (from == LowType::kF32)
      for (; pixels >= 8; pixels -= 8, src += 96, dst += 64)
        simd::widen_colours(reinterpret_cast<const float*>(src), reinterpret_cast<uint16_t*>(dst));
    widen_colours(from, src, pixels, dst);
  }
  static void widen_three(const float* src, int64_t plane, int64_t pixels, std::byte* dst) {
    for (; pixels >= 16; pixels -= 16, src += 16, dst += 128)
      simd::widen_planes(src, src + plane, src + 2 * plane, reinterpret_cast<uint16_t*>(dst));
    widen_planes(src, plane, pixels, dst);
  }
  static void put_codes(const LowCodes& c, const std::byte* sums, int64_t rows) {
    avx512::put_low_codes(c, sums, rows);
  }
  template <bool kSecond, typename Beside>
  [[gnu::always_inline]] void run_tile(const LowTile& t, const TileRows& rows, Beside&& beside) const {
    const int product = tiles->product_steps(t.steps);
    tiles->configure(rows.upper, rows.lower, product);
    if (rows.lower > 0)
      multiply<kInt8, true, kSecond>(t, rows, product, beside);
    else
      multiply<kInt8, false, kSecond>(t, rows, product, beside);
  }
  static TileRows rows_of(int64_t height, int64_t a_stride) {
    const auto rows = static_cast<int>(height);
    return {rows < 16 ? rows : 16, rows < 16 ? 0 : rows - 16, 16 * a_stride};
  }
  // One tile, finished by the caller.
  void run(LowTile t, int rows, int panels) const {
    alignas(64) static constexpr int32_t kZeros[32] = {};
    t.begin = kZeros;
    const auto nothing = [] {};
    panels == 2 ? run_tile<true>(t, rows_of(rows, t.a_stride), nothing)
                : run_tile<false>(t, rows_of(rows, t.a_stride), nothing);
  }

  // All tiles of some groups beside one or two panels, if there are rows for what becomes of them.
  bool run_rows(const LowRegion& g, const LowEpilogue& e, int64_t group, int64_t groups, int64_t panel,
                int panels) const {
    const int64_t column = g.column + 16 * panel, columns = least(16 * panels, g.columns - 16 * panel);
    if constexpr (kInt8) {
      if (columns < 32 || !makes_codes(e)) return false;
      LowCodes codes;
      prepare_codes(e, column, 32, codes);
      codes.y_stride = g.y_stride;
      codes.residual_stride = e.residual_stride;
      const auto run_as = [&]<bool kResidual, bool kBounded>() {
        overlap<true>(g, e, group, groups, panel, codes.begin,
                      CodesOfRows<kResidual, kBounded>(codes, e, are_far(g, e)));
      };
      if (e.residual)
        codes.bounded ? run_as.template operator()<true, true>() : run_as.template operator()<true, false>();
      else
        codes.bounded ? run_as.template operator()<false, true>() : run_as.template operator()<false, false>();
    } else {
      if (!makes_numbers(e)) return false;
      alignas(64) float begin[32] = {};
      if (e.bias) std::memcpy(begin, e.bias + column, static_cast<size_t>(columns) * 4);
      const auto run_as = [&]<LowType kType, bool kResidual, bool kSecond>() {
        overlap<kSecond>(g, e, group, groups, panel, reinterpret_cast<const int32_t*>(begin),
                         NumberRows<kType, kResidual, kSecond>(e, columns, g.y_stride, are_far(g, e)));
      };
      const auto run_type = [&]<LowType kType>() {
        if (e.residual)
          panels == 2 ? run_as.template operator()<kType, true, true>()
                      : run_as.template operator()<kType, true, false>();
        else
          panels == 2 ? run_as.template operator()<kType, false, true>()
                      : run_as.template operator()<kType, false, false>();
      };
      e.y_type == LowType::kBF16 ? run_type.template operator()<LowType::kBF16>()
                                 : run_type.template operator()<LowType::kF32>();
    }
    return true;
  }

  // While a tile is multiplied, the rows of the one before it are put where they belong. Where a group has at most 16
  // rows, the next one's are the lower half of its tile.
  template <bool kSecond, typename Rows>
  [[gnu::noinline]] void overlap(const LowRegion& g, const LowEpilogue& e, int64_t group, int64_t groups, int64_t panel,
                                 const int32_t* begin, const Rows& put) const {
    alignas(64) std::byte sums[2][32 * 128];
    const std::byte* a[kMostSegments];
    const int64_t column = g.column + 16 * panel;
    const int64_t r_bytes = low_bytes(e.residual_type), y_bytes = low_bytes(e.y_type);
    LowTile t;
    t.a = a;
    t.a_stride = g.a_stride;
    t.segments = g.segments;
    t.steps = g.steps;
    t.b = g.b + panel * g.panel_stride;
    t.panel_stride = g.panel_stride;
    t.begin = begin;
    const int64_t pieces = g.segments * (g.steps / tiles->product_steps(g.steps));
    const int64_t tiles_of_group = (g.rows + 31) / 32;
    Place last;
    int64_t last_rows = 0, first = 0, done = 0, slice = 0, tile = 0;
    int now = 0;
    const auto beside = [&]() __attribute__((always_inline)) {
      if (done >= last_rows) return;
      const int64_t rows = least(slice, last_rows - done);
      put.put(sums[now ^ 1], last, done, rows);
      done += rows;
    };
    const auto finish = [&]() __attribute__((always_inline)) {
      if (done < last_rows) put.put(sums[now ^ 1], last, done, last_rows - done);
      if (last_rows > 0) put.finish(last, first, last_rows - first);
    };
    for (int64_t n = group; n < group + groups;) {
      const bool two = g.rows <= 16 && n + 1 < group + groups;
      for (int64_t i = 0; i < tiles_of_group; ++i) {
        // All of one height, for configuring costs four steps: the last one begins in the one before.
        const int64_t height = least(32, g.rows), row = least(32 * i, g.rows - height);
        for (int64_t s = 0; s < g.segments; ++s) a[s] = g.a[s] + n * g.a_group_stride + row * g.a_stride;
        const int half = static_cast<int>(height);
        const TileRows rows = two ? TileRows{half, half, g.a_group_stride} : rows_of(height, g.a_stride);
        t.sums = sums[now];
        t.ahead = ahead_of(g, panel, kSecond ? 2 : 1, tile++);
        run_tile<kSecond>(t, rows, beside);
        finish();
        const int64_t to = g.row + n * g.rows + row;
        last.y = g.y + (to * g.y_stride + column) * y_bytes;
        if (e.residual)
          last.r = static_cast<const std::byte*>(e.residual) + (to * e.residual_stride + column) * r_bytes;
        last_rows = rows.upper + rows.lower;
        done = first = 32 * i - row;
        slice = pieces > 0 ? (last_rows + 4 * pieces - 1) / (4 * pieces) * 4 : last_rows;
        now ^= 1;
      }
      n += two ? 2 : 1;
    }
    finish();
  }
};

}  // namespace

void low_gemm(const LowGemmParams& p, Worker& worker) {
  Tiles tiles;
  low_is_int8(p.a_type) ? drive_low_gemm<AmxKernel<true>, true>({&tiles}, p, worker)
                        : drive_low_gemm<AmxKernel<false>, false>({&tiles}, p, worker);
}

void low_conv(const LowConvParams& p, Worker& worker) {
  if (low_conv_is_depthwise(p.shape)) return avx512bf16::low_conv(p, worker);
  Tiles tiles;
  low_is_int8(p.x_type) ? drive_low_conv<AmxKernel<true>, true>({&tiles}, p, worker)
                        : drive_low_conv<AmxKernel<false>, false>({&tiles}, p, worker);
}

}  // namespace nereid::kernels::amx
