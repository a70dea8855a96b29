// SPDX-License-Identifier: Apache-2.0
// Resampling: resize, grid_sample, affine_grid, crop_and_resize.
#include <cmath>
#include <limits>

#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using Ints = std::vector<int64_t>;

Tensor i64(const std::vector<double>& values) {
  return Tensor::of(DType::i64, {static_cast<int64_t>(values.size())}, values);
}
Tensor scales(const std::vector<double>& values) {
  return f32({static_cast<int64_t>(values.size())}, values);
}

std::vector<double> to_scale(const std::vector<double>& x, double scale, Attrs attrs = {}) {
  return numbers_of("resize", {scales(x), absent(), scales({scale})}, std::move(attrs));
}
std::vector<double> to_size(const std::vector<double>& x, double size, Attrs attrs = {}) {
  return numbers_of("resize", {scales(x), absent(), absent(), i64({size})}, std::move(attrs));
}
Attrs how(const char* mode, const char* coordinates = "half_pixel") {
  return {{"mode", std::string(mode)}, {"coordinate_transformation_mode", std::string(coordinates)}};
}

TEST(Resize, repeats_the_nearest) {
  EXPECT_THAT(to_scale({1, 2}, 2), ElementsAre(1, 1, 2, 2));
  EXPECT_THAT(to_size({1, 2, 3}, 2, how("nearest", "asymmetric")), ElementsAre(1, 2));
  Attrs ceil = how("nearest", "asymmetric");
  ceil.set("nearest_mode", std::string("ceil"));
  EXPECT_THAT(to_size({1, 2, 3}, 2, ceil), ElementsAre(1, 3));
}

TEST(Resize, interpolates_by_every_rule_of_coordinates) {
  EXPECT_THAT(to_scale({1, 3}, 2, how("linear")), near({1, 1.5, 2.5, 3}));
  EXPECT_THAT(to_scale({1, 3}, 2, how("linear", "align_corners")), near({1, 5.0 / 3, 7.0 / 3, 3}));
  EXPECT_THAT(to_scale({1, 3}, 2, how("linear", "asymmetric")), near({1, 2, 3, 3}));
  EXPECT_THAT(to_size({1, 3}, 1, how("linear", "pytorch_half_pixel")), near({1}));
  EXPECT_THAT(to_size({1, 3}, 1, how("linear")), near({2}));
  // 5 * 0.5 is cut to 2: what is lost is shared by both ends.
  EXPECT_THAT(to_scale({0, 1, 2, 3, 4}, 0.5, how("linear", "half_pixel_symmetric")), near({1, 3}));
}

TEST(Resize, filters_by_cubic_kernels) {
  EXPECT_THAT(to_scale({0, 0, 1, 0}, 0.5, how("cubic")), near({-0.09375 + 0.59375, 0.59375 - 0.09375 * 0}, 0.6));
  EXPECT_THAT(to_scale({5, 5, 5}, 2, how("cubic")), near({5, 5, 5, 5, 5, 5}, 1e-5));
}

TEST(Resize, widens_filters_where_asked_to) {
  Attrs attrs = how("linear");
  attrs.set("antialias", true);
  // A triangle over four pixels: weights 1, 3, 3, 1 of 8; at the edges the outermost pixel stands for those outside.
  EXPECT_THAT(to_scale({0, 0, 8, 8}, 0.5, attrs), near({1, 7}));
  attrs.set("exclude_outside", true);
  EXPECT_THAT(to_scale({0, 0, 7, 7}, 0.5, attrs), near({1, 6}));
}

TEST(Resize, crops) {
  Attrs attrs = how("linear", "tf_crop_and_resize");
  attrs.set("extrapolation_value", 9.0);
  EXPECT_THAT(numbers_of("resize", {scales({0, 1, 2, 3}), scales({1.0 / 3, 4.0 / 3}), absent(), i64({4})}, attrs),
              near({1, 2, 3, 9}));
}

TEST(Resize, keeps_proportions_where_asked_to) {
  const Tensor x = f32({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const auto sizes_by = [&](const char* policy) {
    return run_op("resize", {x, absent(), absent(), i64({6, 8})},
                  {{"keep_aspect_ratio_policy", std::string(policy)}})[0]
        .sizes;
  };
  EXPECT_EQ(sizes_by("stretch"), (Ints{6, 8}));
  EXPECT_EQ(sizes_by("not_larger"), (Ints{4, 8}));
  EXPECT_EQ(sizes_by("not_smaller"), (Ints{6, 12}));
}

TEST(Resize, speaks_of_some_axes_only) {
  const Tensor x = f32({1, 2, 2}, {1, 2, 3, 4});
  const auto y = run_op("resize", {x, absent(), scales({2, 1}), absent()}, {{"axes", Ints{-1, 1}}});
  EXPECT_EQ(y[0].sizes, (Ints{1, 2, 4}));
  EXPECT_THAT(y[0].numbers(), ElementsAre(1, 1, 2, 2, 3, 3, 4, 4));
}

TEST(Resize, copies_whatever_the_element_type) {
  Tensor x = Tensor::zeros(DType::string, {2}).value();
  x.strings = {"a", "b"};
  std::vector<Tensor> inputs = {x, absent(), scales({2})};
  // Strings have no bytes, which the fixture takes for absence; the sizes tell.
  EXPECT_EQ(run_op("resize", inputs)[0].strings, (std::vector<std::string>{"a", "a", "b", "b"}));
  EXPECT_THAT(numbers_of("resize", {Tensor::of(DType::i64, {2}, {0, 10}), absent(), scales({2})}, how("linear")),
              ElementsAre(0, 2, 7, 10));
}

TEST(Resize, keeps_symbols_of_dimensions_that_it_leaves) {
  const OpDef* op = find_op("resize");
  const TensorType x{DType::f32, Shape({symbol("n"), Dim(3), symbol("h")})}, s{DType::f32, Shape({3})};
  const Tensor factors = scales({1, 1, 2});
  const ConstTensorView view = factors.view();
  const TensorType* types[] = {&x, nullptr, &s, nullptr};
  const ConstTensorView* values[] = {nullptr, nullptr, &view, nullptr};
  Attrs attrs;
  ASSERT_TRUE(complete_attrs(*op, attrs).is_ok());
  EXPECT_EQ(op->infer({.inputs = types, .constants = values, .attrs = attrs}).value()[0].to_string(), "f32[n, 3, ?]");
}

TEST(Resize, refuses_what_makes_no_sizes) {
  const Tensor x = f32({2}, {1, 2});
  EXPECT_THAT(refusal("resize", {x}), HasSubstr("neither scales nor sizes"));
  EXPECT_THAT(refusal("resize", {x, absent(), scales({2}), i64({4})}), HasSubstr("both scales and sizes"));
  EXPECT_THAT(refusal("resize", {x, absent(), scales({2, 2})}), HasSubstr("scales has 2 numbers"));
  EXPECT_THAT(refusal("resize", {x, absent(), scales({-1})}), HasSubstr("scales holds -1"));
  EXPECT_THAT(refusal("resize", {x, absent(), scales({std::nan("")})}), HasSubstr("should be positive"));
  EXPECT_THAT(refusal("resize", {x, absent(), scales({1e30})}), HasSubstr("asks for"));
  EXPECT_THAT(refusal("resize", {x, absent(), absent(), i64({-4})}), HasSubstr("sizes holds -4"));
  EXPECT_THAT(refusal("resize", {x, absent(), absent(), i64({1e12})}), HasSubstr("GiB"));
  EXPECT_THAT(refusal("resize", {f32({0}, {}), absent(), absent(), i64({4})}), HasSubstr("is empty"));
  EXPECT_THAT(refusal("resize", {x, absent(), scales({2})}, how("sinc")), HasSubstr("mode is 'sinc'"));
  EXPECT_THAT(refusal("resize", {x, absent(), scales({2})}, how("linear", "x")), HasSubstr("is 'x'"));
  EXPECT_THAT(refusal("resize", {x, absent(), scales({2})}, {{"axes", Ints{1}}}), HasSubstr("axes holds 1"));
  EXPECT_THAT(refusal("resize", {f32({1, 1}, {1}), absent(), scales({2, 2})}, {{"axes", Ints{0, -2}}}),
              HasSubstr("names dimension 0 twice"));
  EXPECT_THAT(refusal("resize", {x, absent(), scales({2})}, {{"nearest_mode", std::string("round")}}),
              HasSubstr("nearest_mode is 'round'"));
}

Attrs sampling(const char* mode, const char* padding, bool align = true) {
  return {{"mode", std::string(mode)}, {"padding_mode", std::string(padding)}, {"align_corners", align}};
}

// A line of three pixels, read at these positions.
std::vector<double> sample(const std::vector<double>& at, const Attrs& attrs) {
  return numbers_of("grid_sample", {f32({1, 1, 3}, {1, 2, 4}), f32({1, static_cast<int64_t>(at.size()), 1}, at)},
                    attrs);
}

TEST(GridSample, reads_between_pixels) {
  EXPECT_THAT(sample({-1, -0.5, 0, 1}, sampling("linear", "zeros")), near({1, 1.5, 2, 4}));
  EXPECT_THAT(sample({-0.4, -0.5, 0.5}, sampling("nearest", "zeros")), near({2, 1, 4}));
  EXPECT_THAT(sample({-1, 0}, sampling("linear", "zeros", false)), near({0.5, 2}));
}

TEST(GridSample, knows_what_is_outside) {
  EXPECT_THAT(sample({-1.5, 3}, sampling("linear", "zeros")), near({0.5, 0}));
  EXPECT_THAT(sample({-1.5, 3}, sampling("linear", "border")), near({1, 4}));
  EXPECT_THAT(sample({-1.5, 2, 3}, sampling("linear", "reflection")), near({1.5, 2, 1}));
}

TEST(GridSample, takes_whatever_a_grid_may_hold) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const char* mode : {"linear", "nearest", "cubic"})
    for (const char* padding : {"zeros", "border", "reflection"})
      EXPECT_THAT(sample({inf, -inf, std::nan(""), 1e30}, sampling(mode, padding)), testing::SizeIs(4));
  EXPECT_THAT(sample({inf, -inf, std::nan("")}, sampling("linear", "zeros")), Each(0.0));
}

TEST(GridSample, names_the_last_axis_first) {
  EXPECT_THAT(numbers_of("grid_sample", {f32({1, 1, 2, 2}, {1, 2, 3, 4}), f32({1, 1, 2, 2}, {1, -1, -1, 1})},
                         sampling("linear", "zeros")),
              near({2, 3}));
}

TEST(GridSample, refuses_what_does_not_fit) {
  const Tensor x = f32({1, 1, 3}, {1, 2, 4}), grid = f32({1, 1, 1}, {0});
  EXPECT_THAT(refusal("grid_sample", {x, f32({1, 1, 2}, {0, 0})}), HasSubstr("one coordinate a spatial axis"));
  EXPECT_THAT(refusal("grid_sample", {x, f32({2, 1, 1}, {0, 0})}), HasSubstr("dimension 0"));
  EXPECT_THAT(refusal("grid_sample", {x, grid}, sampling("area", "zeros")), HasSubstr("mode is 'area'"));
  EXPECT_THAT(refusal("grid_sample", {x, grid}, sampling("linear", "wrap")), HasSubstr("padding_mode is 'wrap'"));
}

TEST(AffineGrid, maps_positions) {
  const Tensor identity = f32({1, 2, 3}, {1, 0, 0, 0, 1, 0});
  EXPECT_THAT(numbers_of("affine_grid", {identity, i64({1, 1, 1, 2})}), near({-0.5, 0, 0.5, 0}));
  EXPECT_THAT(numbers_of("affine_grid", {identity, i64({1, 1, 1, 2})}, {{"align_corners", true}}), near({-1, 0, 1, 0}));
  EXPECT_THAT(refusal("affine_grid", {identity, i64({1, 1, 2})}), HasSubstr("dimension 0 of size"));
  EXPECT_THAT(refusal("affine_grid", {identity, i64({2, 1, 1, 1})}), HasSubstr("a batch of 2"));
  EXPECT_THAT(refusal("affine_grid", {identity, i64({1, 1, -1, 1})}), HasSubstr("size holds -1"));
}

TEST(CropAndResize, cuts_boxes) {
  const Tensor x = f32({1, 1, 2, 2}, {1, 2, 3, 4}), image = i32({1}, {0}), size = i32({2}, {1, 2});
  EXPECT_THAT(numbers_of("crop_and_resize", {x, f32({1, 4}, {0, 0, 1, 1}), image, size}), near({2, 3}));
  EXPECT_THAT(
      numbers_of("crop_and_resize", {x, f32({1, 4}, {0, 0, 0, 2}), image, size}, {{"extrapolation_value", 7.0}}),
      near({1, 7}));
  EXPECT_THAT(refusal("crop_and_resize", {x, f32({1, 4}, {0, 0, 1, 1}), i32({1}, {1}), size}), HasSubstr("of image 1"));
  EXPECT_THAT(refusal("crop_and_resize", {x, f32({1, 4}, {0, 0, 1, 1}), image, i32({2}, {0, 2})}),
              HasSubstr("crop_size is 0 x 2"));
}

}  // namespace
}  // namespace nereid::ops
