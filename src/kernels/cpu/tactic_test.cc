// SPDX-License-Identifier: Apache-2.0
// Problems and tactics as text, and the promise that blockings change no bit.
#include "kernels/cpu/tactic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/cpu/gemm.h"
#include "kernels/cpu/test_kernels.h"

namespace nereid::kernels {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kConv = "conv f32 n=2 h=13 w=20 c=24 o=40 y=13x20 k=3x3 s=1x1 d=1x1 p=1x1 g=1";

TEST(Tactic, texts_of_problems_are_read_as_they_are_printed) {
  for (std::string_view text :
       {kConv, std::string_view("gemm f32 m=1 n=2 k=3"), std::string_view("gemm f32|bf16 m=128 n=384 k=64"),
        std::string_view("conv f32|bf16 n=1 h=1 w=100 c=8 o=8 y=1x50 k=1x4 s=1x2 d=1x3 p=0x2 g=4")})
    EXPECT_EQ(parse_problem(text)->text(), text);
}

TEST(Tactic, texts_of_tactics_are_read_as_they_are_printed) {
  for (std::string_view text : {"gemm", "gemm rows=banded band=128 block=96 panels=4 across=2", "winograd4 tiles=team",
                                "winograd2 panels=1 tiles=56", "depthwise", "bf16"})
    EXPECT_EQ(parse_tactic(text)->text(), text);
}

TEST(Tactic, what_is_none_is_a_sentence) {
  for (std::string_view text : {"", "gemm", "gemm f32", "gemm f64 m=1 n=1 k=1", "gemm f32 m=0 n=1 k=1",
                                "gemm f32 m=1 n=1 k=1 ", "gemm f32 n=1 m=1 k=1", "gemm f32 m=1x1 n=1 k=1",
                                "gemm f32 m=-1 n=1 k=1", "gemm f32 m=1099511627776 n=1099511627776 k=1099511627776",
                                "conv f32 n=1 h=8 w=8 c=3 o=4 y=8x8 k=3x3 s=1x1 d=1x1 p=1x1 g=2",
                                "conv f32 n=1 h=8 w=8 c=3 o=4 y=8x8 k=3x3 s=0x1 d=1x1 p=1x1 g=1"}) {
    const auto problem = parse_problem(text);
    ASSERT_FALSE(problem.is_ok()) << text;
    EXPECT_THAT(problem.status().message(), HasSubstr("is no problem of a kernel"));
  }
  for (std::string_view text : {"", "gem", "gemm panels=3", "gemm block=0", "gemm block=99999999",
                                "gemm rows=", "gemm rows=x", "gemm block", "gemm tiles=teams", "gemm  panels=1"}) {
    const auto tactic = parse_tactic(text);
    ASSERT_FALSE(tactic.is_ok()) << text;
    EXPECT_THAT(tactic.status().message(), HasSubstr("is no way to solve a problem"));
  }
}

TEST(Tactic, a_setting_that_means_nothing_for_a_problem_does_not_solve_it) {
  const Problem conv = parse_problem(kConv).value(), gemm = parse_problem("gemm f32 m=8 n=8 k=8").value();
  const auto can = [](const Problem& p, std::string_view tactic) { return solves(parse_tactic(tactic).value(), p); };
  EXPECT_TRUE(can(conv, "gemm rows=gathered"));
  EXPECT_TRUE(can(conv, "winograd4 tiles=28"));
  EXPECT_FALSE(can(conv, "gemm rows=in-place")) << "it is padded";
  EXPECT_FALSE(can(conv, "gemm rows=gathered band=64"));
  EXPECT_FALSE(can(conv, "gemm tiles=28"));
  EXPECT_FALSE(can(conv, "depthwise"));
  EXPECT_FALSE(can(conv, "bf16"));
  EXPECT_TRUE(can(gemm, "gemm panels=1"));
  EXPECT_FALSE(can(gemm, "gemm rows=gathered"));
  EXPECT_FALSE(can(gemm, "winograd2"));
}

// y of one convolution as a tactic does it.
std::vector<float> run_conv(const Problem& problem, const Tactic& tactic, Isa isa, int threads) {
  const ConvShape& s = problem.conv;
  const ConvAlgorithm algorithm = conv_algorithm(tactic.way);
  const auto floats = [](int64_t n, uint32_t seed) { return testing::random_floats(static_cast<size_t>(n), seed); };
  const std::vector<float> x = floats(s.batch * s.in_h * s.in_w * s.in_c, 1);
  const std::vector<float> w = floats(s.out_c * s.in_c / s.groups * s.kernel_h * s.kernel_w, 2);
  std::vector<float> y(static_cast<size_t>(s.batch * s.out_h * s.out_w * s.out_c));
  const Buffer packed = Buffer::allocate(static_cast<size_t>(conv_weight_elements(s, algorithm) * 4 + 256)).value();
  conv_pack_weight(s, algorithm, w.data(), packed.as<float>());
  const Buffer scratch =
      Buffer::allocate(static_cast<size_t>(conv_scratch_bytes(s, algorithm, threads, tactic.blocking) + 64)).value();
  const ConvParams p{.shape = s,
                     .algorithm = algorithm,
                     .x = x.data(),
                     .x_stride = s.in_c,
                     .weight = packed.as<float>(),
                     .y = y.data(),
                     .y_stride = s.out_c,
                     .blocking = tactic.blocking,
                     .scratch = scratch.data()};
  testing::run_kernel(isa_kernels(isa).conv, p, threads);
  return y;
}

TEST(Tactic, blockings_of_a_convolution_change_no_bit) {
  for (std::string_view text :
       {kConv, std::string_view("conv f32 n=1 h=30 w=31 c=16 o=33 y=14x15 k=3x3 s=2x2 d=1x1 p=0x0 g=1"),
        std::string_view("conv f32 n=1 h=9 w=40 c=64 o=64 y=9x40 k=1x1 s=1x1 d=1x1 p=0x0 g=1")}) {
    const Problem problem = parse_problem(text).value();
    for (Isa isa : testing::isas_here())
      for (std::string_view tactic :
           {"gemm rows=gathered", "gemm rows=banded", "gemm rows=in-place", "gemm rows=banded band=1", "gemm band=7",
            "gemm block=1", "gemm block=9999", "gemm panels=1", "gemm panels=2", "gemm panels=4", "gemm across=1",
            "gemm across=2", "gemm across=3", "winograd2 tiles=1", "winograd2 tiles=28", "winograd2 tiles=team",
            "winograd4 tiles=3 panels=4", "winograd4 tiles=team block=1"}) {
        const Tactic t = parse_tactic(tactic).value();
        if (!solves(t, problem)) continue;
        const std::vector<float> expected = run_conv(problem, {.way = t.way, .blocking = {}}, isa, 1);
        for (int threads : {1, 2, 3})
          EXPECT_EQ(run_conv(problem, t, isa, threads), expected)
              << text << ", " << tactic << ", " << isa_name(isa) << ", " << threads << " threads";
      }
  }
}

std::vector<float> run_gemm(int64_t m, int64_t n, int64_t k, const GemmBlocking& blocking, Isa isa, int threads) {
  const std::vector<float> a = testing::random_floats(static_cast<size_t>(m * k), 1);
  const std::vector<float> b = testing::random_floats(static_cast<size_t>(n * k), 2);
  std::vector<float> c(static_cast<size_t>(m * n));
  const Buffer packed = Buffer::allocate(static_cast<size_t>(gemm_packed_elements(k, n) * 4 + 256)).value();
  gemm_pack({.b = b.data(), .b_stride = n, .k = k, .n = n, .packed = packed.as<float>()});
  const GemmParams p{.a = a.data(),
                     .a_stride = k,
                     .b = packed.as<float>(),
                     .m = m,
                     .n = n,
                     .k = k,
                     .c = c.data(),
                     .c_stride = n,
                     .blocking = blocking};
  testing::run_kernel(isa_kernels(isa).gemm, p, threads);
  return c;
}

TEST(Tactic, blockings_of_a_product_change_no_bit) {
  for (Isa isa : testing::isas_here())
    for (int64_t m : {1, 7, 45}) {
      const std::vector<float> expected = run_gemm(m, 83, 70, {}, isa, 1);
      for (std::string_view tactic : {"gemm panels=1", "gemm panels=2", "gemm panels=4", "gemm block=1",
                                      "gemm across=1", "gemm across=2", "gemm across=3 panels=4", "gemm across=64"})
        for (int threads : {1, 2, 3})
          EXPECT_EQ(run_gemm(m, 83, 70, parse_tactic(tactic)->blocking.gemm, isa, threads), expected)
              << "m " << m << ", " << tactic << ", " << isa_name(isa) << ", " << threads << " threads";
    }
}

}  // namespace
}  // namespace nereid::kernels
