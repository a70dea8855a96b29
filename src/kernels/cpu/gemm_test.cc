// SPDX-License-Identifier: Apache-2.0
// gemm against a plain f64 product, on every instruction set this machine has.
#include "kernels/cpu/gemm.h"

#include <gtest/gtest.h>

#include "kernels/cpu/test_epilogue.h"
#include "kernels/cpu/test_kernels.h"

namespace nereid::kernels {
namespace {

using testing::isas_here;
using testing::kSome;
using testing::random_floats;
using testing::reference_act;

struct Case {
  int64_t m = 1, n = 1, k = 1;
  int64_t a_gap = 0, c_gap = 0;  // elements between the end of a row and the next one
  bool transposed = false;
  bool unpacked = false;
  Epilogue epilogue;
};

struct Problem {
  Case c;
  std::vector<float> a, b, bias, residual;
  Buffer packed;

  explicit Problem(const Case& which) : c(which) {
    const auto floats = [](int64_t n, uint32_t seed) { return random_floats(static_cast<size_t>(n), seed); };
    a = floats(c.m * (c.k + c.a_gap), 1);
    b = floats(c.k * c.n, 2);
    bias = floats(c.n, 3);
    residual = floats(c.m * (c.n + c.c_gap), 4);
    packed = Buffer::allocate(static_cast<size_t>(gemm_packed_elements(c.k, c.n) * 4)).value();
    gemm_pack({.b = b.data(),
               .b_stride = c.transposed ? c.k : c.n,
               .transposed = c.transposed,
               .k = c.k,
               .n = c.n,
               .packed = reinterpret_cast<float*>(packed.data())});
  }

  float element_b(int64_t k, int64_t n) const {
    return b[static_cast<size_t>(c.transposed ? n * c.k + k : k * c.n + n)];
  }

  std::vector<float> run(Isa isa, int threads, int64_t first_row = 0, int64_t rows = -1) const {
    if (rows < 0) rows = c.m;
    std::vector<float> y = residual;  // the gaps keep what was there, and the residual may be the result itself
    GemmParams p{.a = a.data() + first_row * (c.k + c.a_gap),
                 .a_stride = c.k + c.a_gap,
                 .b = c.unpacked ? b.data() : reinterpret_cast<const float*>(packed.data()),
                 .b_stride = c.unpacked ? c.n : 0,
                 .m = rows,
                 .n = c.n,
                 .k = c.k,
                 .c = y.data() + first_row * (c.n + c.c_gap),
                 .c_stride = c.n + c.c_gap,
                 .epilogue = c.epilogue};
    if (p.epilogue.bias) p.epilogue.bias = bias.data();
    if (p.epilogue.residual) {
      p.epilogue.residual = p.c;
      p.epilogue.residual_stride = p.c_stride;
    }
    testing::run_kernel(isa_kernels(isa).gemm, p, threads);
    return y;
  }

  void check(Isa isa, int threads) const {
    const std::vector<float> y = run(isa, threads);
    const Epilogue& e = c.epilogue;
    for (int64_t i = 0; i < c.m; ++i)
      for (int64_t j = 0; j < c.n + c.c_gap; ++j) {
        const size_t at = static_cast<size_t>(i * (c.n + c.c_gap) + j);
        if (j >= c.n) {
          ASSERT_EQ(y[at], residual[at]) << "a gap was written at row " << i;
          continue;
        }
        double sum = 0, size = 0;
        for (int64_t k = 0; k < c.k; ++k) {
          const double product = double{a[static_cast<size_t>(i * (c.k + c.a_gap) + k)]} * double{element_b(k, j)};
          sum += product;
          size += std::fabs(product);
        }
        if (e.bias) sum += double{bias[static_cast<size_t>(j)]};
        if (e.residual && !e.residual_last) sum += double{residual[at]};
        double want = reference_act(e.act, double{e.alpha}, double{e.beta}, sum);
        if (e.residual && e.residual_last) want += double{residual[at]};
        ASSERT_NEAR(y[at], want, 2e-6 * size + 3e-6) << isa_name(isa) << " m " << c.m << " n " << c.n << " k " << c.k
                                                     << " act " << static_cast<int>(e.act) << " at " << i << ", " << j;
      }
  }
};

TEST(Gemm, agrees_with_the_plain_product_at_odd_sizes) {
  for (Isa isa : isas_here())
    for (int64_t m : {1, 2, 5, 6, 7, 13, 14, 15, 29, 61})
      for (int64_t n : {1, 8, 15, 16, 17, 31, 32, 33, 48, 64, 80, 95})
        for (int64_t k : {1, 3, 4, 16, 37}) {
          const Problem problem({.m = m, .n = n, .k = k, .a_gap = m % 3, .c_gap = n % 4});
          problem.check(isa, 2);
          if (HasFatalFailure()) return;
        }
}

TEST(Gemm, takes_transposed_and_unpacked_matrices) {
  for (Isa isa : isas_here())
    for (int64_t m : {1, 9, 40})
      for (int64_t n : {16, 48, 128}) {
        Problem({.m = m, .n = n, .k = 33, .transposed = true}).check(isa, 2);
        Problem({.m = m, .n = n, .k = 33, .unpacked = true}).check(isa, 2);
        const Problem packed({.m = m, .n = n, .k = 33}), plain({.m = m, .n = n, .k = 33, .unpacked = true});
        EXPECT_EQ(packed.run(isa, 1), plain.run(isa, 1));
      }
}

TEST(Gemm, fuses_bias_residual_and_every_activation) {
  for (Isa isa : isas_here())
    for (const testing::ActCase& a : testing::kActCases)
      for (int form = 0; form < 4; ++form) {
        Epilogue e{.act = a.act, .alpha = a.alpha, .beta = a.beta};
        e.bias = form & 1 ? &kSome : nullptr;
        e.residual = form & 2 ? &kSome : nullptr;
        for (const bool last : {false, true}) {
          e.residual_last = last;
          for (int64_t n : {33, 64}) {
            Problem({.m = 17, .n = n, .k = 5, .epilogue = e}).check(isa, 2);
            if (HasFatalFailure()) return;
          }
        }
      }
}

TEST(Gemm, a_matrix_comes_back_from_its_packed_form) {
  for (const bool transposed : {false, true}) {
    const Problem problem({.m = 1, .n = 37, .k = 19, .transposed = transposed});
    std::vector<float> raw(problem.b.size(), -1);
    gemm_unpack({.packed = reinterpret_cast<const float*>(problem.packed.data()),
                 .b = raw.data(),
                 .b_stride = transposed ? 19 : 37,
                 .transposed = transposed,
                 .k = 19,
                 .n = 37});
    EXPECT_EQ(raw, problem.b);
  }
}

TEST(Gemm, gives_the_same_bits_on_any_number_of_threads_and_for_any_part_of_the_rows) {
  const Epilogue e{.bias = &kSome, .residual = &kSome, .act = Act::kGelu};
  for (Isa isa : isas_here())
    for (int64_t n : {24, 96, 336}) {
      const Problem problem({.m = 75, .n = n, .k = 100, .epilogue = e});
      const std::vector<float> all = problem.run(isa, 1);
      for (int threads : {2, 3, 5, 8}) EXPECT_EQ(problem.run(isa, threads), all) << threads;
      for (int64_t row = 0; row < 75; row += 7) {
        const std::vector<float> one = problem.run(isa, 1, row, 1);
        EXPECT_TRUE(std::equal(one.begin() + row * n, one.begin() + (row + 1) * n, all.begin() + row * n)) << row;
      }
    }
}

TEST(Gemm, nan_and_infinity_go_through) {
  for (Isa isa : isas_here())
    for (Act act : {Act::kNone, Act::kRelu, Act::kSilu, Act::kGelu}) {
      Problem problem({.m = 20, .n = 40, .k = 8, .epilogue = {.act = act}});
      problem.a[8 * 3] = std::nanf("");
      const std::vector<float> y = problem.run(isa, 2);
      for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(std::isnan(y[i]), i / 40 == 3) << static_cast<int>(act);
    }
}

// Attention's products: heads lie side by side in a row, keys are packed transposed, at run time.
TEST(Gemm, multiplies_batches_of_heads) {
  const int64_t sequences = 2, heads = 3, tokens = 21, size = 20, width = heads * size;
  const auto q = random_floats(static_cast<size_t>(sequences * tokens * width), 1);
  const auto k = random_floats(static_cast<size_t>(sequences * tokens * width), 2);
  for (Isa isa : isas_here())
    for (const bool transposed : {true, false}) {
      // transposed: scores = q . k^T; otherwise the first `size` rows of k as a [size, size] matrix
      const int64_t n = transposed ? tokens : size;
      const int64_t elements = gemm_packed_elements(size, n);
      Buffer packed = Buffer::allocate(static_cast<size_t>(sequences * heads * elements * 4)).value();
      GemmPackParams pack{.b = k.data(),
                          .b_stride = width,
                          .transposed = transposed,
                          .k = size,
                          .n = n,
                          .batch = heads,
                          .b_batch_stride = size,
                          .batch_outer = sequences,
                          .b_outer_stride = tokens * width,
                          .packed = reinterpret_cast<float*>(packed.data())};
      std::vector<float> plain(static_cast<size_t>(sequences * heads * elements));
      testing::run_kernel(isa_kernels(isa).gemm_pack, pack, 3);
      pack.packed = plain.data();
      gemm_pack(pack);
      EXPECT_TRUE(std::equal(plain.begin(), plain.end(), reinterpret_cast<const float*>(packed.data())));
      std::vector<float> y(static_cast<size_t>(sequences * heads * tokens * n));
      GemmParams p{.a = q.data(),
                   .a_stride = width,
                   .b = reinterpret_cast<const float*>(packed.data()),
                   .m = tokens,
                   .n = n,
                   .k = size,
                   .c = y.data(),
                   .c_stride = n,
                   .outer = {.count = sequences, .a = tokens * width, .b = heads * elements, .c = heads * tokens * n},
                   .inner = {.count = heads, .a = size, .b = elements, .c = tokens * n}};
      testing::run_kernel(isa_kernels(isa).gemm, p, 3);
      size_t at = 0;
      for (int64_t s = 0; s < sequences; ++s)
        for (int64_t h = 0; h < heads; ++h)
          for (int64_t i = 0; i < tokens; ++i)
            for (int64_t j = 0; j < n; ++j, ++at) {
              double sum = 0;
              for (int64_t d = 0; d < size; ++d) {
                const int64_t row = transposed ? j : d, column = transposed ? d : j;
                sum += double{q[static_cast<size_t>((s * tokens + i) * width + h * size + d)]} *
                       double{k[static_cast<size_t>((s * tokens + row) * width + h * size + column)]};
              }
              ASSERT_NEAR(y[at], sum, 1e-4) << s << " " << h << " " << i << " " << j;
            }
    }
}

}  // namespace
}  // namespace nereid::kernels
