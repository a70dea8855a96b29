// SPDX-License-Identifier: Apache-2.0
// Row-wise and elementwise kernels against the ops' evaluators, on every instruction set of this machine.
#include "kernels/cpu/elementwise.h"

#include <gtest/gtest.h>

#include <limits>

#include "kernels/cpu/test_kernels.h"
#include "ops/activation.h"
#include "ops/op_fixture.h"

namespace nereid::kernels {
namespace {

using testing::isas_here;
using testing::random_floats;
using testing::run_kernel;

constexpr int64_t kWidths[] = {1, 2, 15, 16, 17, 31, 32, 33, 100};
constexpr int64_t kTokens = 5;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// Rows further apart than they are long, so that a write past a row's end shows.
struct Rows {
  int64_t cols, stride;
  std::vector<float> data;

  static Rows random(int64_t cols, uint32_t seed, int64_t tokens = kTokens) {
    Rows r{cols, cols + 3, {}};
    r.data = random_floats(static_cast<size_t>(tokens * r.stride), seed);
    return r;
  }
  std::vector<double> dense() const {
    std::vector<double> out;
    for (size_t row = 0; row < data.size(); row += static_cast<size_t>(stride))
      for (size_t c = 0; c < static_cast<size_t>(cols); ++c) out.push_back(data[row + c]);
    return out;
  }
  ops::Tensor tensor() const { return ops::f32({static_cast<int64_t>(data.size()) / stride, cols}, dense()); }
  // True if what lies between the rows is as in `other`.
  bool gaps_equal(const Rows& other) const {
    for (size_t i = 0; i < data.size(); ++i)
      if (static_cast<int64_t>(i) % stride >= cols && data[i] != other.data[i]) return false;
    return true;
  }
};

void expect_near(const Rows& got, const std::vector<double>& want, double tolerance, const std::string& what) {
  double largest = 0;
  for (double w : want) largest = std::max(largest, std::fabs(w));
  const std::vector<double> values = got.dense();
  ASSERT_EQ(values.size(), want.size()) << what;
  for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(values[i], want[i], tolerance * largest) << what << " at " << i;
  EXPECT_TRUE(got.gaps_equal(Rows::random(got.cols, 99, static_cast<int64_t>(got.data.size()) / got.stride)))
      << what << " writes between the rows";
}

// Where results go: filled, so that expect_near can see what else was written.
Rows results(int64_t cols, int64_t tokens = kTokens) {
  return Rows::random(cols, 99, tokens);
}

TEST(Embedding, gives_the_rows_that_every_format_decodes) {
  for (Isa isa : isas_here())
    for (DType dtype : testing::kWeightDTypes) {
      const int64_t cols = is_block_format(dtype) ? 256 : 33;
      const testing::Weights table = testing::make_weights(dtype, 37, cols, 7);
      const std::vector<int32_t> ids = {0, 36, 5, 5, 16};
      Rows y = results(cols);
      run_kernel(
          isa_kernels(isa).embedding,
          {.ids = ids.data(), .tokens = kTokens, .weight = table.weight, .y = y.data.data(), .y_stride = y.stride});
      const ops::Tensor raw{dtype, {37, cols}, table.raw};
      // Scales of the formats with two levels are rounded to f16 when they are packed.
      expect_near(y, ops::numbers_of("embedding", {ops::i32({kTokens}, {0, 36, 5, 5, 16}), raw}),
                  is_block_format(dtype) ? 1e-3 : 0, std::string(dtype_name(dtype)) + " " + std::string(isa_name(isa)));
    }
}

TEST(Embedding, an_id_outside_the_table_gives_zeros) {
  const testing::Weights table = testing::make_weights(DType::f16, 5, 20, 7);
  const std::vector<int32_t> ids = {-1, 5, INT32_MAX, INT32_MIN, 4};
  for (Isa isa : isas_here()) {
    Rows y = results(20);
    run_kernel(isa_kernels(isa).embedding,
               {.ids = ids.data(), .tokens = 5, .weight = table.weight, .y = y.data.data(), .y_stride = y.stride});
    const std::vector<double> values = y.dense();
    EXPECT_TRUE(std::all_of(values.begin(), values.begin() + 80, [](double v) { return v == 0; }));
    EXPECT_NE(values[80], 0);
  }
}

TEST(RmsNorm, agrees_with_the_evaluator_with_and_without_weight_residual_and_groups) {
  for (Isa isa : isas_here())
    for (int64_t group : kWidths)
      for (int64_t groups : {1, 3})
        for (bool weighted : {false, true})
          for (bool added : {false, true}) {
            const int64_t cols = group * groups;
            const Rows x = Rows::random(cols, 1), residual = Rows::random(cols, 2);
            const std::vector<float> weight = random_floats(static_cast<size_t>(group), 3);
            Rows y = results(cols);
            run_kernel(isa_kernels(isa).rms_norm, {.x = x.data.data(),
                                                   .x_stride = x.stride,
                                                   .tokens = kTokens,
                                                   .cols = cols,
                                                   .group = group,
                                                   .weight = weighted ? weight.data() : nullptr,
                                                   .eps = 1e-6f,
                                                   .residual = added ? residual.data.data() : nullptr,
                                                   .residual_stride = residual.stride,
                                                   .y = y.data.data(),
                                                   .y_stride = y.stride});
            expect_near(y,
                        ops::numbers_of(
                            "rms_norm",
                            {x.tensor(), weighted ? ops::f32({group}, {weight.begin(), weight.end()}) : ops::absent(),
                             added ? residual.tensor() : ops::absent()},
                            {{"eps", 1e-6}, {"group", group}}),
                        ops::find_op("rms_norm")->tolerance_f32,
                        fmt::format("{} groups of {} on {}", groups, group, isa_name(isa)));
          }
}

TEST(RmsNorm, works_in_place_on_its_input_and_on_its_residual) {
  for (Isa isa : isas_here()) {
    const Rows x = Rows::random(33, 1), residual = Rows::random(33, 2);
    const auto run = [&](const Rows& source, const Rows& add, Rows& y) {
      run_kernel(isa_kernels(isa).rms_norm, {.x = source.data.data(),
                                             .x_stride = source.stride,
                                             .tokens = kTokens,
                                             .cols = 33,
                                             .group = 11,
                                             .eps = 1e-5f,
                                             .residual = add.data.data(),
                                             .residual_stride = add.stride,
                                             .y = y.data.data(),
                                             .y_stride = y.stride});
    };
    Rows apart = results(33), over_x = x, over_residual = residual;
    run(x, residual, apart);
    run(over_x, residual, over_x);
    run(x, over_residual, over_residual);
    EXPECT_EQ(over_x.dense(), apart.dense()) << isa_name(isa);
    EXPECT_EQ(over_residual.dense(), apart.dense()) << isa_name(isa);
  }
}

TEST(Elementwise, add_scale_softcap_and_gated_agree_with_their_evaluators) {
  for (Isa isa : isas_here()) {
    const IsaKernels& k = isa_kernels(isa);
    for (int64_t cols : kWidths) {
      const std::string what = fmt::format("{} columns on {}", cols, isa_name(isa));
      const Rows a = Rows::random(cols, 1), b = Rows::random(cols, 2);
      Rows y = results(cols);
      run_kernel(k.add, {.a = a.data.data(),
                         .a_stride = a.stride,
                         .b = b.data.data(),
                         .b_stride = b.stride,
                         .tokens = kTokens,
                         .cols = cols,
                         .y = y.data.data(),
                         .y_stride = y.stride});
      expect_near(y, ops::numbers_of("add", {a.tensor(), b.tensor()}), 1e-7, "add of " + what);
      ScaleParams scale{.x = a.data.data(),
                        .x_stride = a.stride,
                        .tokens = kTokens,
                        .cols = cols,
                        .factor = 0.3f,
                        .y = y.data.data(),
                        .y_stride = y.stride};
      run_kernel(k.scale, scale);
      expect_near(y, ops::numbers_of("scale", {a.tensor()}, {{"factor", static_cast<double>(0.3f)}}), 1e-7,
                  "scale of " + what);
      scale.cap = 0.7f;
      run_kernel(k.scale, scale);
      expect_near(y, ops::numbers_of("softcap", {a.tensor()}, {{"cap", static_cast<double>(0.7f)}}),
                  ops::find_op("softcap")->tolerance_f32, "softcap of " + what);
      for (auto [activation, name] : {std::pair{Activation::kSilu, "silu"},
                                      {Activation::kGelu, "gelu"},
                                      {Activation::kGeluTanh, "gelu_tanh"},
                                      {Activation::kRelu, "relu"}}) {
        run_kernel(k.gated, {.gate = a.data.data(),
                             .gate_stride = a.stride,
                             .up = b.data.data(),
                             .up_stride = b.stride,
                             .tokens = kTokens,
                             .cols = cols,
                             .activation = activation,
                             .y = y.data.data(),
                             .y_stride = y.stride});
        expect_near(y, ops::numbers_of("gated", {a.tensor(), b.tensor()}, {{"activation", std::string(name)}}),
                    ops::find_op("gated")->tolerance_f32, std::string(name) + " of " + what);
      }
    }
  }
}

TEST(SelectRows, copies_rows_in_any_order_and_more_than_once) {
  for (Isa isa : isas_here())
    for (int64_t cols : kWidths) {
      const Rows x = Rows::random(cols, 1);
      const std::vector<int32_t> rows = {4, 0, 0, 3};
      Rows y = results(cols, 4);
      run_kernel(isa_kernels(isa).select_rows, {.x = x.data.data(),
                                                .x_stride = x.stride,
                                                .rows = rows.data(),
                                                .count = 4,
                                                .cols = cols,
                                                .y = y.data.data(),
                                                .y_stride = y.stride});
      expect_near(y, ops::numbers_of("select_rows", {x.tensor(), ops::i32({4}, {4, 0, 0, 3})}), 0, "select_rows");
    }
}

TEST(Elementwise, no_tokens_write_nothing) {
  for (Isa isa : isas_here()) {
    const IsaKernels& k = isa_kernels(isa);
    run_kernel(k.add, AddParams{});
    run_kernel(k.scale, ScaleParams{});
    run_kernel(k.gated, GatedParams{});
    run_kernel(k.rms_norm, RmsNormParams{});
    run_kernel(k.select_rows, SelectRowsParams{});
    run_kernel(k.embedding, EmbeddingParams{});
    run_kernel(k.rope, RopeParams{});
    run_kernel(k.rope_table, RopeTableParams{});
  }
}

// The functions themselves, over all magnitudes.

std::vector<float> activation_of(Isa isa, Activation activation, const std::vector<float>& x) {
  const std::vector<float> ones(x.size(), 1.0f);
  std::vector<float> y(x.size());
  run_kernel(isa_kernels(isa).gated, {.gate = x.data(),
                                      .up = ones.data(),
                                      .tokens = 1,
                                      .cols = static_cast<int64_t>(x.size()),
                                      .activation = activation,
                                      .y = y.data()});
  return y;
}

std::vector<float> softcap_of(Isa isa, float cap, const std::vector<float>& x) {
  std::vector<float> y(x.size());
  run_kernel(isa_kernels(isa).scale,
             {.x = x.data(), .tokens = 1, .cols = static_cast<int64_t>(x.size()), .cap = cap, .y = y.data()});
  return y;
}

// Both signs of 1e-30 ... 1e30, and steps of 1/64 between -100 and 100.
std::vector<float> all_magnitudes() {
  std::vector<float> x = {0.0f, -0.0f};
  for (float m = 1e-30f; m < 2e30f; m *= 3.7f) x.insert(x.end(), {m, -m});
  for (int i = -6400; i <= 6400; ++i) x.push_back(static_cast<float>(i) / 64);
  return x;
}

TEST(VectorMath, activations_are_right_to_a_few_units_at_all_magnitudes) {
  const std::vector<float> x = all_magnitudes();
  for (Isa isa : isas_here())
    for (auto [activation, function, error] : {std::tuple{Activation::kSilu, &ops::silu, 4e-7},
                                               {Activation::kGelu, &ops::gelu, 5e-7},
                                               {Activation::kGeluTanh, &ops::gelu_tanh, 5e-7},
                                               {Activation::kRelu, &ops::relu, 0.0}}) {
      const std::vector<float> y = activation_of(isa, activation, x);
      for (size_t i = 0; i < x.size(); ++i) {
        // The share of |x| that a term of the formula may be off by; results near zero are differences of such terms.
        const double magnitude = std::fabs(static_cast<double>(x[i]));
        ASSERT_NEAR(y[i], function(x[i]), error * std::min(std::max(magnitude, 1e-30), 1e30))
            << isa_name(isa) << " activation " << static_cast<int>(activation) << " of " << x[i];
      }
    }
}

TEST(VectorMath, softcap_is_right_to_a_few_units_of_its_cap) {
  const std::vector<float> x = all_magnitudes();
  for (Isa isa : isas_here())
    for (float cap : {1.0f, 30.0f, 50.0f}) {
      const std::vector<float> y = softcap_of(isa, cap, x);
      for (size_t i = 0; i < x.size(); ++i)
        ASSERT_NEAR(y[i], cap * std::tanh(static_cast<double>(x[i]) / cap), 3e-7 * cap) << isa_name(isa) << " " << x[i];
    }
}

TEST(VectorMath, infinities_give_the_limits) {
  const std::vector<float> x = {kInfinity, -kInfinity, 3.4e38f, -3.4e38f};
  for (Isa isa : isas_here()) {
    for (Activation a : {Activation::kSilu, Activation::kGelu, Activation::kGeluTanh, Activation::kRelu}) {
      const std::vector<float> y = activation_of(isa, a, x);
      const std::string what = fmt::format("activation {} on {}", static_cast<int>(a), isa_name(isa));
      EXPECT_EQ(y[0], kInfinity) << what;
      EXPECT_NEAR(y[1], 0.0f, 1e-30) << what;
      EXPECT_EQ(y[2], 3.4e38f) << what;
      EXPECT_NEAR(y[3], 0.0f, 1e-30) << what;
    }
    EXPECT_EQ(softcap_of(isa, 30, x), (std::vector<float>{30, -30, 30, -30})) << isa_name(isa);
  }
}

// A model that computes NaN is broken; hiding that would give fluent nonsense.
TEST(VectorMath, not_a_number_stays_one) {
  const std::vector<float> x = {kNaN, -kNaN, 1.0f};
  for (Isa isa : isas_here()) {
    for (Activation a : {Activation::kSilu, Activation::kGelu, Activation::kGeluTanh, Activation::kRelu}) {
      const std::vector<float> y = activation_of(isa, a, x);
      EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]) && !std::isnan(y[2]))
          << "activation " << static_cast<int>(a) << " on " << isa_name(isa);
    }
    const std::vector<float> capped = softcap_of(isa, 30, x);
    EXPECT_TRUE(std::isnan(capped[0]) && std::isnan(capped[1]) && !std::isnan(capped[2])) << isa_name(isa);
  }
}

}  // namespace
}  // namespace nereid::kernels
