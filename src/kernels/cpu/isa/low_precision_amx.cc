// SPDX-License-Identifier: Apache-2.0
// Low-precision products and convolutions on AMX tiles: 32 rows by 2 panels, four tiles of sums.
//
// A row tile is 16 rows by 64 bytes, read from memory with the rows' stride; a panel's next 16 steps are 16 rows of 64
// bytes, or fewer of both where that divides a segment evenly. Where it does not, the rest of its rows goes through a
// small buffer with zeros behind it, and the panel's tile may reach into what follows: finite numbers times zero.
#include "kernels/cpu/isa/low_driver.h"
#include "kernels/cpu/isa_kernels.h"

namespace nereid::kernels::avx512 {
void put_low_codes(const LowCodes& c, const std::byte* sums, int64_t rows);
}

namespace nereid::kernels::amx {
namespace {

// Sums in tiles 0..3 (rows / 16, panel), rows in 4 and 5, panels in 6 and 7. Configuring costs as much as dozens of
// products, and most tiles of a layer have the same shape: it is done when the shape changes.
class Tiles {
 public:
  Tiles() = default;
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;
  ~Tiles() {
    if (rows_ > 0) simd::release_tiles();
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
  void configure(int rows, int steps) {
    if (rows == rows_ && steps == steps_) return;
    rows_ = rows;
    steps_ = steps;
    load(rows, steps);
  }

 private:
  static void load(int rows, int steps);
  int rows_ = 0, steps_ = 0, product_ = 16;
  int64_t all_steps_ = 0;
};

void Tiles::load(int rows, int steps) {
  simd::TileConfig c;
  const int upper = rows < 16 ? rows : 16, lower = rows > 16 ? rows - 16 : 1;
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

template <bool kInt8>
struct AmxKernel {
  static constexpr int rows_for(int) { return 32; }
  static constexpr int kMostRows = 32, kFewRows = 0;
  static constexpr bool kBegins = false;
  Tiles* tiles;

  // 64 bytes of all rows against 16 steps of the panels.
  template <bool kLower, bool kSecond>
  [[gnu::always_inline]] static void step(const std::byte* upper, const std::byte* lower, int64_t stride,
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

  template <bool kLower, bool kSecond>
  static void run_tile(const LowTile& t, int rows, int64_t product) {
    simd::tile_zero<0>();
    if constexpr (kSecond) simd::tile_zero<1>();
    if constexpr (kLower) simd::tile_zero<2>();
    if constexpr (kLower && kSecond) simd::tile_zero<3>();
    const std::byte* b = t.b;
    const int64_t bytes = 4 * product, whole = t.steps / product, left = t.steps % product * 4;
    for (int64_t i = 0; i < t.segments; ++i) {
      const std::byte* a = t.a[i];
      for (int64_t k = 0; k < whole; ++k, a += bytes, b += 16 * bytes)
        step<kLower, kSecond>(a, a + 16 * t.a_stride, t.a_stride, b, t.panel_stride);
      if (left == 0) continue;
      alignas(64) std::byte end[32 * 64];
      for (int r = 0; r < rows; ++r) {
        std::memset(end + 64 * r, 0, 64);
        std::memcpy(end + 64 * r, a + r * t.a_stride, static_cast<size_t>(left));
      }
      step<kLower, kSecond>(end, end + 1024, 64, b, t.panel_stride);
      b += left * 16;
    }
    constexpr int64_t kRow = kSecond ? 128 : 64;
    simd::tile_store<0>(t.sums, kRow);
    if constexpr (kSecond) simd::tile_store<1>(t.sums + 64, kRow);
    if constexpr (kLower) simd::tile_store<2>(t.sums + 16 * kRow, kRow);
    if constexpr (kLower && kSecond) simd::tile_store<3>(t.sums + 16 * kRow + 64, kRow);
  }

  static void put_codes(const LowCodes& c, const std::byte* sums, int64_t rows) {
    avx512::put_low_codes(c, sums, rows);
  }
  void run(const LowTile& t, int rows, int panels) const {
    const int product = tiles->product_steps(t.steps);
    tiles->configure(rows, product);
    if (rows > 16)
      panels == 2 ? run_tile<true, true>(t, rows, product) : run_tile<true, false>(t, rows, product);
    else
      panels == 2 ? run_tile<false, true>(t, rows, product) : run_tile<false, false>(t, rows, product);
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
