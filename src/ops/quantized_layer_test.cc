// SPDX-License-Identifier: Apache-2.0
// dense_q and conv_last_q: literal codes, by hand.
#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

using testing::HasSubstr;

Tensor u8(std::vector<int64_t> sizes, const std::vector<double>& values) {
  return Tensor::of(DType::u8, std::move(sizes), values);
}
Tensor i8(std::vector<int64_t> sizes, const std::vector<double>& values) {
  return Tensor::of(DType::i8, std::move(sizes), values);
}
Tensor scalar(double v) {
  return f32({}, {v});
}

// (3 - 1, 0 - 1) . ((1, 2), (3, 4)) = (-1, 0), scaled by 0.5 and (1, 2).
const std::vector<Tensor> kProduct = {u8({1, 2}, {3, 0}), i8({2, 2}, {1, 2, 3, 4}), scalar(0.5), f32({2}, {1, 2}),
                                      u8({}, {1})};

std::vector<Tensor> with(std::vector<Tensor> inputs, std::initializer_list<std::pair<size_t, Tensor>> more) {
  inputs.resize(14, absent());
  for (const auto& [i, t] : more) inputs[i] = t;
  return inputs;
}

TEST(DenseQ, scales_exact_sums) {
  EXPECT_THAT(numbers_of("dense_q", kProduct), near({-0.5, 0}));
  EXPECT_THAT(numbers_of("dense_q", with(kProduct, {{5, f32({2}, {1, -1})}})), near({0.5, -1}));
  EXPECT_THAT(numbers_of("dense_q", with(kProduct, {{5, f32({2}, {1, -1})}}), {{"activation", std::string("relu")}}),
              near({0.5, 0}));
}

TEST(DenseQ, adds_residuals_as_numbers_or_codes) {
  EXPECT_THAT(numbers_of("dense_q", with(kProduct, {{6, f32({1, 2}, {10, 20})}})), near({9.5, 20}));
  EXPECT_THAT(numbers_of("dense_q", with(kProduct, {{6, i8({1, 2}, {-3, 5})}, {7, scalar(2)}, {8, i8({}, {1})}})),
              near({-8.5, 8}));
}

TEST(DenseQ, rounds_before_it_adds_where_a_network_does) {
  // -0.5 is between the codes of 0.4: -0.4 is nearer than -0.8.
  EXPECT_THAT(numbers_of("dense_q", with(kProduct, {{6, f32({1, 2}, {10, 20})}, {9, scalar(0.4)}, {10, u8({}, {7})}})),
              near({9.6, 20}));
  // Without room below the zero point it is 0.
  EXPECT_THAT(numbers_of("dense_q", with(kProduct, {{6, f32({1, 2}, {10, 20})}, {9, scalar(0.4)}, {10, u8({}, {0})}})),
              near({10, 20}));
}

TEST(DenseQ, gives_codes_that_saturate) {
  EXPECT_THAT(numbers_of("dense_q", with(kProduct, {{5, f32({2}, {0, 1000})}, {11, scalar(0.25)}, {12, u8({}, {9})}})),
              near({7, 255}));
  EXPECT_THAT(numbers_of("dense_q", with(kProduct, {{11, scalar(1)}, {12, i8({}, {-3})}})),
              near({-3, -3}));  // -0.5: even
}

TEST(DenseQ, looks_its_codes_up) {
  std::vector<double> map(256);
  for (size_t i = 0; i < 256; ++i) map[i] = static_cast<double>(255 - i);
  const auto mapped = [&](Tensor zero) {
    return with(kProduct, {{5, f32({2}, {0, 1000})}, {11, scalar(0.25)}, {12, std::move(zero)}, {13, u8({256}, map)}});
  };
  EXPECT_THAT(numbers_of("dense_q", mapped(u8({}, {9}))), near({255 - 7, 0}));
  EXPECT_THAT(refusal("dense_q", mapped(i8({}, {9}))), HasSubstr("are no u8"));
  EXPECT_THAT(refusal("dense_q", with(kProduct, {{11, scalar(1)}, {12, u8({}, {9})}, {13, u8({2}, {0, 1})}})),
              HasSubstr("should be u8[256]"));
}

TEST(DenseQ, refuses_what_does_not_fit) {
  EXPECT_THAT(refusal("dense_q", with(kProduct, {{1, u8({2, 2}, {1, 2, 3, 4})}})),
              HasSubstr("w u8[2, 2] should be i8"));
  EXPECT_THAT(refusal("dense_q", with(kProduct, {{4, i8({}, {1})}})), HasSubstr("should have one element type"));
  EXPECT_THAT(refusal("dense_q", with(kProduct, {{3, f32({3}, {1, 2, 3})}})), HasSubstr("as many numbers"));
  EXPECT_THAT(refusal("dense_q", with(kProduct, {{11, scalar(1)}})), HasSubstr("y_zero belong together"));
  EXPECT_THAT(refusal("dense_q", with(kProduct, {{6, u8({1, 2}, {1, 2})}})),
              HasSubstr("should be f32 or have a scale"));
}

TEST(ConvLastQ, pads_with_the_code_of_zero) {
  // One pixel of code 5 (4 above zero) under a 3x3 window of ones: the padding adds nothing.
  const std::vector<Tensor> inputs = {u8({1, 1, 1, 1}, {5}), i8({1, 1, 3, 3}, {1, 1, 1, 1, 1, 1, 1, 1, 1}), scalar(0.5),
                                      f32({1}, {1}), u8({}, {1})};
  EXPECT_THAT(numbers_of("conv_last_q", inputs, {{"pads", std::vector<int64_t>{1, 1, 1, 1}}}), near({2}));
}

TEST(ConvLastQ, keeps_symbols) {
  std::vector<TensorType> types = {{DType::u8, {symbol("n"), symbol("h"), symbol("w"), 3}},
                                   {DType::i8, {8, 3, 3, 3}},
                                   {DType::f32, {}},
                                   {DType::f32, {8}},
                                   {DType::u8, {}}};
  auto y = infer_types("conv_last_q", types, {{"pads", std::vector<int64_t>{1, 1, 1, 1}}});
  ASSERT_TRUE(y.is_ok()) << y.status().message();
  EXPECT_EQ((*y)[0].to_string(), "f32[n, h, w, 8]");
}

TEST(PoolLast, takes_the_largest_code_and_the_mean_of_codes) {
  const std::vector<int64_t> window{2};
  EXPECT_THAT(
      numbers_of("pool_last", {u8({1, 2, 1}, {3, 200})}, {{"kind", std::string("max")}, {"kernel_shape", window}}),
      near({200}));
  EXPECT_THAT(
      numbers_of("pool_last", {u8({1, 2, 1}, {3, 200})}, {{"kind", std::string("average")}, {"kernel_shape", window}}),
      near({101.5}));
}

TEST(Program, takes_and_gives_codes) {
  EXPECT_THAT(numbers_of("program", {u8({3}, {0, 3, 200})},
                         {{"dtype", std::string("i8")}, {"steps", std::vector<std::string>{"mul_constant 0 0.5"}}}),
              near({0, 2, 100}));
}

}  // namespace
}  // namespace nereid::ops
