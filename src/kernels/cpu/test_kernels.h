// SPDX-License-Identifier: Apache-2.0
// For tests only: this machine's instruction sets, random rows, packed weights, and one kernel run on a pool.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "base/cpu_info.h"
#include "kernels/cpu/isa_kernels.h"
#include "quant/format_table.h"

namespace nereid::kernels::testing {

inline std::vector<Isa> isas_here() {
  static const Isa kBest = best_isa(read_cpu_info()).value();
  std::vector<Isa> out;
  for (Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512, Isa::amx})
    if (isa <= kBest) out.push_back(isa);
  return out;
}

inline std::vector<float> random_floats(size_t n, uint32_t seed) {
  std::mt19937 rng(seed);
  std::normal_distribution<float> normal;
  std::vector<float> v(n);
  for (float& x : v) x = normal(rng);
  return v;
}

// Every dtype that weights may have.
inline constexpr DType kWeightDTypes[] = {DType::f32,  DType::f16,  DType::bf16, DType::q4_0,   DType::q4_1,
                                          DType::q5_0, DType::q5_1, DType::q8_0, DType::q2_k,   DType::q3_k,
                                          DType::q4_k, DType::q5_k, DType::q6_k, DType::iq4_nl, DType::iq4_xs};

struct Weights {
  std::vector<std::byte> raw;
  Buffer packed;
  PackedWeight weight;
  std::vector<float> decoded;  // [rows, cols], as the format decodes
};

inline Weights make_weights(DType dtype, int64_t rows, int64_t cols, uint32_t seed) {
  Weights w;
  const quant::Format& format = quant::format(dtype);
  const int64_t row_bytes = *dtype_bytes(dtype, cols);
  w.raw.resize(static_cast<size_t>(rows * row_bytes));
  w.decoded.resize(static_cast<size_t>(rows * cols));
  const std::vector<float> values = random_floats(w.decoded.size(), seed);
  for (int64_t r = 0; r < rows; ++r) {
    format.encode(values.data() + r * cols, w.raw.data() + r * row_bytes, cols);
    format.decode(w.raw.data() + r * row_bytes, w.decoded.data() + r * cols, cols);
  }
  const PackedLayout layout = packed_layout(dtype, rows, cols).value();
  w.packed = Buffer::allocate(static_cast<size_t>(layout.bytes())).value();
  const ConstTensorView part(w.raw.data(), dtype, {rows, cols});
  pack_tiles(layout, {&part, 1}, 0, layout.tiles(), w.packed.data());
  w.weight = {layout, w.packed.data()};
  return w;
}

template <typename Params>
void run_kernel(void (*kernel)(const Params&, Worker&), const Params& params, int threads = 2) {
  ThreadPool pool({.threads = threads, .pin = false});
  pool.run([&](Worker& w) { kernel(params, w); });
}

}  // namespace nereid::kernels::testing
