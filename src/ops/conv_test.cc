// SPDX-License-Identifier: Apache-2.0
// Convolutions and their reverses: small images worked out by hand, and a plain sum over taps as oracle for the rest.
#include <random>

#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Ints = std::vector<int64_t>;

Tensor counting(Ints sizes) {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  std::vector<double> v;
  for (int64_t i = 0; i < n; ++i) v.push_back(static_cast<double>(i));
  return f32(std::move(sizes), v);
}
Tensor ones(Ints sizes) {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  return f32(std::move(sizes), std::vector<double>(static_cast<size_t>(n), 1.0));
}

TEST(Conv, sums_the_window) {
  EXPECT_THAT(numbers_of("conv", {counting({1, 1, 3, 3}), ones({1, 1, 2, 2})}), ElementsAre(8, 12, 20, 24));
  EXPECT_THAT(
      numbers_of("conv", {counting({1, 1, 2, 2}), ones({1, 1, 3, 3}), f32({1}, {10})}, {{"pads", Ints{1, 1, 1, 1}}}),
      ElementsAre(16, 16, 16, 16));
}

TEST(Conv, is_one_dimensional_too) {
  EXPECT_THAT(numbers_of("conv", {counting({1, 1, 5}), f32({1, 1, 2}, {1, 10})}, {{"strides", Ints{2}}}),
              ElementsAre(10, 32));
  EXPECT_THAT(numbers_of("conv", {counting({1, 1, 5}), f32({1, 1, 2}, {1, 10})}, {{"dilations", Ints{3}}}),
              ElementsAre(30, 41));
}

TEST(Conv, pads_by_itself_where_asked_to) {
  const std::vector<Tensor> inputs = {counting({1, 1, 4}), ones({1, 1, 2})};
  EXPECT_THAT(numbers_of("conv", inputs, {{"auto_pad", std::string("SAME_UPPER")}}), ElementsAre(1, 3, 5, 3));
  EXPECT_THAT(numbers_of("conv", inputs, {{"auto_pad", std::string("SAME_LOWER")}}), ElementsAre(0, 1, 3, 5));
  EXPECT_THAT(numbers_of("conv", inputs, {{"auto_pad", std::string("VALID")}}), ElementsAre(1, 3, 5));
}

struct Case {
  Ints x, w, strides, dilations, pads;
  int64_t group;
};

// Every output by its definition.
std::vector<double> plain(const Case& k, const std::vector<double>& x, const std::vector<double>& w, const Ints& out) {
  const size_t axes = k.x.size() - 2;
  const int64_t per_group = k.w[0] / k.group;
  std::vector<double> y;
  std::vector<int64_t> o(axes, 0);
  int64_t positions = 1, taps = 1;
  for (size_t d = 0; d < axes; ++d) positions *= out[d + 2], taps *= k.w[d + 2];
  for (int64_t n = 0; n < k.x[0]; ++n)
    for (int64_t m = 0; m < k.w[0]; ++m)
      for (int64_t p = 0; p < positions; ++p) {
        double sum = 0;
        for (int64_t c = 0; c < k.w[1]; ++c)
          for (int64_t t = 0; t < taps; ++t) {
            int64_t at = n * k.x[1] + m / per_group * k.w[1] + c, rest_p = p, rest_t = t;
            Ints i(axes);
            for (size_t d = axes; d-- > 0;) {
              i[d] = rest_p % out[d + 2] * k.strides[d] - k.pads[d] + rest_t % k.w[d + 2] * k.dilations[d];
              rest_p /= out[d + 2];
              rest_t /= k.w[d + 2];
            }
            bool inside = true;
            for (size_t d = 0; d < axes; ++d) {
              inside = inside && i[d] >= 0 && i[d] < k.x[d + 2];
              at = at * k.x[d + 2] + i[d];
            }
            if (inside) sum += x[static_cast<size_t>(at)] * w[static_cast<size_t>((m * k.w[1] + c) * taps + t)];
          }
        y.push_back(sum);
      }
  return y;
}

TEST(Conv, agrees_with_its_definition) {
  const Case cases[] = {
      {{2, 6, 9, 11}, {4, 3, 3, 2}, {2, 1}, {1, 2}, {1, 0, 2, 1}, 2},
      {{1, 5, 13, 17}, {5, 1, 5, 3}, {1, 2}, {1, 1}, {2, 1, 2, 1}, 5},
      {{1, 130, 12, 12}, {6, 130, 1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}, 1},
      {{1, 2, 40}, {3, 2, 33}, {1}, {1}, {7}, 1},
      {{1, 2, 4, 5, 6}, {3, 2, 2, 3, 2}, {1, 2, 1}, {2, 1, 1}, {1, 1, 0, 0, 1, 1}, 1},
      {{1, 1, 3, 2, 3, 2}, {2, 1, 2, 1, 2, 2}, {1, 1, 1, 1}, {1, 1, 1, 1}, {0, 0, 0, 1, 0, 0, 0, 1}, 1},
  };
  std::mt19937 random(7);
  std::uniform_int_distribution<int> value(-4, 4);
  for (Case k : cases) {
    if (k.pads.size() == k.x.size() - 2) k.pads.insert(k.pads.end(), k.pads.begin(), k.pads.end());
    const auto fill = [&](const Ints& sizes) {
      int64_t n = 1;
      for (int64_t s : sizes) n *= s;
      std::vector<double> v(static_cast<size_t>(n));
      for (double& e : v) e = value(random);
      return v;
    };
    const std::vector<double> x = fill(k.x), w = fill(k.w);
    const auto y = run_op("conv", {f32(k.x, x), f32(k.w, w)},
                          {{"strides", k.strides}, {"dilations", k.dilations}, {"pads", k.pads}, {"group", k.group}});
    EXPECT_EQ(y[0].numbers(), plain(k, x, w, y[0].sizes)) << Shape::of(k.x).to_string();
  }
}

TEST(Conv, takes_every_float_type) {
  for (DType d : {DType::f64, DType::f16, DType::bf16}) {
    const auto y = run_op("conv", {Tensor::of(d, {1, 1, 3}, {1, 2, 3}), Tensor::of(d, {1, 1, 2}, {1, 1})});
    EXPECT_EQ(y[0].dtype, d);
    EXPECT_THAT(y[0].numbers(), ElementsAre(3, 5));
  }
}

TEST(Conv, keeps_symbols_of_sizes_that_it_keeps) {
  const TensorType x{DType::f32, Shape({symbol("batch"), Dim(3), symbol("h"), symbol("w")})};
  const TensorType w{DType::f32, Shape({8, 3, 3, 3})};
  EXPECT_EQ(infer_types("conv", {x, w}, {{"pads", Ints{1, 1, 1, 1}}}).value()[0].to_string(), "f32[batch, 8, h, w]");
  EXPECT_EQ(infer_types("conv", {x, w}, {{"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{1, 2}}}).value()[0].to_string(),
            "f32[batch, 8, h, ?]");
}

TEST(Conv, refuses_what_does_not_fit) {
  const Tensor x = ones({1, 4, 3, 3});
  EXPECT_THAT(refusal("conv", {x, ones({2, 3, 1, 1})}), HasSubstr("has 4 channels in 1 groups"));
  EXPECT_THAT(refusal("conv", {x, ones({3, 2, 1, 1})}, {{"group", int64_t{2}}}),
              HasSubstr("which 2 groups do not share"));
  EXPECT_THAT(refusal("conv", {x, ones({2, 4, 1})}), HasSubstr("should have 4 dimensions"));
  EXPECT_THAT(refusal("conv", {x, ones({2, 4, 5, 5})}), HasSubstr("does not fit the padded size 3"));
  EXPECT_THAT(refusal("conv", {x, ones({2, 4, 1, 1})}, {{"strides", Ints{0, 1}}}), HasSubstr("strides holds 0"));
  EXPECT_THAT(refusal("conv", {x, ones({2, 4, 1, 1})}, {{"pads", Ints{1, 1}}}), HasSubstr("pads has 2 numbers"));
  EXPECT_THAT(refusal("conv", {x, ones({2, 4, 1, 1})}, {{"pads", Ints{-1, 0, 0, 0}}}), HasSubstr("pads holds -1"));
  EXPECT_THAT(refusal("conv", {x, ones({2, 4, 1, 1})}, {{"kernel_shape", Ints{3, 3}}}), HasSubstr("kernel_shape"));
  EXPECT_THAT(refusal("conv", {x, ones({2, 4, 1, 1})}, {{"auto_pad", std::string("SAME")}}),
              HasSubstr("auto_pad is 'SAME'"));
  EXPECT_THAT(refusal("conv", {x, ones({2, 4, 1, 1}), ones({3})}), HasSubstr("bias"));
  EXPECT_THAT(refusal("conv", {ones({4, 3}), ones({2, 3})}), HasSubstr("at least one spatial dimension"));
  EXPECT_THAT(refusal("conv", {i32({1, 1, 2}, {1, 2}), i32({1, 1, 1}, {1})}), HasSubstr("should be f32"));
  EXPECT_THAT(refusal("conv", {x, ones({2, 4, 1, 1})}, {{"group", int64_t{0}}}), HasSubstr("group is 0"));
}

TEST(ConvTranspose, spreads_each_input) {
  EXPECT_THAT(numbers_of("conv_transpose", {f32({1, 1, 2}, {1, 10}), f32({1, 1, 3}, {1, 2, 3})}),
              ElementsAre(1, 12, 23, 30));
  EXPECT_THAT(numbers_of("conv_transpose", {f32({1, 1, 2}, {1, 10}), f32({1, 1, 2}, {1, 2}), f32({1}, {100})},
                         {{"strides", Ints{3}}, {"output_padding", Ints{1}}}),
              ElementsAre(101, 102, 100, 110, 120, 100));
  EXPECT_THAT(
      numbers_of("conv_transpose", {f32({1, 1, 2}, {1, 10}), f32({1, 1, 3}, {1, 2, 3})}, {{"pads", Ints{1, 1}}}),
      ElementsAre(12, 23));
}

TEST(ConvTranspose, takes_the_sizes_asked_for) {
  const std::vector<Tensor> inputs = {f32({1, 1, 2}, {1, 10}), f32({1, 1, 3}, {1, 2, 3})};
  EXPECT_THAT(numbers_of("conv_transpose", inputs, {{"output_shape", Ints{3}}}), ElementsAre(12, 23, 30));
  EXPECT_THAT(numbers_of("conv_transpose", inputs, {{"auto_pad", std::string("SAME_UPPER")}, {"strides", Ints{2}}}),
              ElementsAre(1, 2, 13, 20));
  EXPECT_THAT(numbers_of("conv_transpose", inputs, {{"auto_pad", std::string("SAME_LOWER")}, {"strides", Ints{2}}}),
              ElementsAre(2, 13, 20, 30));
}

TEST(ConvTranspose, keeps_groups_apart) {
  EXPECT_THAT(
      numbers_of("conv_transpose", {f32({1, 2, 1}, {2, 3}), f32({2, 2, 1}, {1, 10, 1, 10})}, {{"group", int64_t{2}}}),
      ElementsAre(2, 20, 3, 30));
}

TEST(ConvTranspose, refuses_what_does_not_fit) {
  const Tensor x = ones({1, 2, 3}), w = ones({2, 1, 2});
  EXPECT_THAT(refusal("conv_transpose", {x, ones({3, 1, 2})}), HasSubstr("dimension 1 of x"));
  EXPECT_THAT(refusal("conv_transpose", {x, w}, {{"group", int64_t{3}}}), HasSubstr("which 3 groups do not share"));
  EXPECT_THAT(refusal("conv_transpose", {x, w}, {{"pads", Ints{3, 3}}}), HasSubstr("cut more off"));
  EXPECT_THAT(refusal("conv_transpose", {x, w}, {{"output_padding", Ints{-1}}}), HasSubstr("output_padding holds -1"));
  EXPECT_THAT(refusal("conv_transpose", {x, w}, {{"output_shape", Ints{1, 2}}}), HasSubstr("output_shape has 2"));
  EXPECT_THAT(refusal("conv_transpose", {x, w, ones({2})}), HasSubstr("one an output channel"));
  EXPECT_THAT(refusal("conv_transpose", {x, w}, {{"output_shape", Ints{int64_t{1} << 50}}}), HasSubstr("GiB"));
}

TEST(DeformConv, is_a_convolution_without_offsets) {
  EXPECT_THAT(numbers_of("deform_conv",
                         {counting({1, 1, 3, 3}), ones({1, 1, 2, 2}), f32({1, 8, 2, 2}, std::vector<double>(32, 0.0))}),
              ElementsAre(8, 12, 20, 24));
}

TEST(DeformConv, reads_where_offsets_point_and_weighs_by_the_mask) {
  // One tap at (0, 0), moved by half a pixel in both directions: the mean of four.
  const std::vector<Tensor> inputs = {counting({1, 1, 2, 2}), ones({1, 1, 1, 1}),
                                      f32({1, 2, 2, 2}, {.5, 0, 0, 0, .5, 0, 0, -2}), f32({1}, {1}),
                                      f32({1, 1, 2, 2}, {1, 1, 2, 1})};
  EXPECT_THAT(numbers_of("deform_conv", inputs), ElementsAre(2.5, 2, 5, 1));
}

TEST(DeformConv, reads_nothing_outside_whatever_the_offsets) {
  const double far = 1e30;
  EXPECT_THAT(numbers_of("deform_conv",
                         {ones({1, 1, 1, 2}), ones({1, 1, 1, 1}), f32({1, 2, 1, 2}, {far, std::nan(""), -far, 0})}),
              ElementsAre(0, 0));
}

TEST(DeformConv, refuses_offsets_of_other_sizes) {
  EXPECT_THAT(refusal("deform_conv", {ones({1, 1, 2, 2}), ones({1, 1, 1, 1}), ones({1, 3, 2, 2})}),
              HasSubstr("dimension 1 of offset"));
  EXPECT_THAT(refusal("deform_conv", {ones({1, 1, 2, 2}), ones({1, 1, 1, 1}), ones({1, 2, 3, 2})}),
              HasSubstr("should be 2, the result's size"));
  EXPECT_THAT(refusal("deform_conv", {ones({1, 1, 2, 2}), ones({1, 1, 1, 1}), ones({1, 2, 2, 2})},
                      {{"offset_group", int64_t{0}}}),
              HasSubstr("offset_group is 0; it should be at least 1"));
}

Tensor i64(const std::vector<double>& values) {
  return Tensor::of(DType::i64, {static_cast<int64_t>(values.size())}, values);
}

TEST(Col2im, adds_overlapping_blocks) {
  EXPECT_THAT(numbers_of("col2im", {f32({1, 2, 3}, {1, 2, 3, 10, 20, 30}), i64({4}), i64({2})}),
              ElementsAre(1, 12, 23, 30));
  EXPECT_THAT(numbers_of("col2im", {i32({1, 1, 4}, {1, 2, 3, 4}), i64({2, 2}), i64({1, 1})}), ElementsAre(1, 2, 3, 4));
}

TEST(Col2im, refuses_blocks_that_are_not_those_of_the_image) {
  const Tensor x = ones({1, 2, 3});
  EXPECT_THAT(refusal("col2im", {x, i64({5}), i64({2})}), HasSubstr("should be 4, the number of blocks"));
  EXPECT_THAT(refusal("col2im", {x, i64({4}), i64({3})}), HasSubstr("a multiple of 3"));
  EXPECT_THAT(refusal("col2im", {x, i64({4}), i64({0})}), HasSubstr("block_shape should be positive"));
  EXPECT_THAT(refusal("col2im", {x, i64({4, 1}), i64({2})}), HasSubstr("there should be as many"));
  EXPECT_THAT(refusal("col2im", {x, i64({-4}), i64({2})}), HasSubstr("-4"));
}

}  // namespace
}  // namespace nereid::ops
