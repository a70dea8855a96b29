// SPDX-License-Identifier: Apache-2.0
// Pooling: windows worked out by hand, on images and over regions of interest.
#include <cmath>
#include <limits>

#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Ints = std::vector<int64_t>;

Tensor image() {  // 0 1 2 / 3 4 5 / 6 7 8
  return f32({1, 1, 3, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8});
}

TEST(MaxPool, takes_the_largest_of_each_window) {
  EXPECT_THAT(numbers_of("max_pool", {image()}, {{"kernel_shape", Ints{2, 2}}}), ElementsAre(4, 5, 7, 8));
  EXPECT_THAT(numbers_of("max_pool", {image()}, {{"kernel_shape", Ints{2, 2}}, {"dilations", Ints{2, 1}}}),
              ElementsAre(7, 8));
  EXPECT_THAT(
      numbers_of("max_pool", {image()}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}, {"ceil_mode", true}}),
      ElementsAre(4, 5, 7, 8));
}

TEST(MaxPool, leaves_padding_out) {
  const Tensor x = f32({1, 1, 2}, {-3, -2});
  EXPECT_THAT(numbers_of("max_pool", {x}, {{"kernel_shape", Ints{2}}, {"pads", Ints{1, 1}}}), ElementsAre(-3, -2, -2));
}

TEST(MaxPool, says_where_the_largest_was) {
  Attrs attrs = {{"kernel_shape", Ints{2, 2}}, {"with_indices", true}};
  auto results = run_op("max_pool", {f32({1, 2, 2, 3}, {0, 5, 5, 1, 2, 3, 9, 1, 1, 1, 1, 9})}, attrs);
  EXPECT_THAT(results[0].numbers(), ElementsAre(5, 5, 9, 9));
  EXPECT_THAT(results[1].numbers(), ElementsAre(1, 1, 6, 11));
  attrs.set("storage_order", int64_t{1});
  EXPECT_THAT(run_op("max_pool", {f32({1, 1, 2, 3}, {0, 5, 4, 1, 2, 6})}, attrs)[1].numbers(), ElementsAre(2, 5));
}

TEST(MaxPool, passes_on_what_is_no_number_and_takes_bytes) {
  const double nan = std::nan("");
  EXPECT_TRUE(std::isnan(numbers_of("max_pool", {f32({1, 1, 3}, {1, nan, 3})}, {{"kernel_shape", Ints{3}}})[0]));
  EXPECT_THAT(numbers_of("max_pool", {Tensor::of(DType::i8, {1, 1, 2}, {-7, -9})}, {{"kernel_shape", Ints{2}}}),
              ElementsAre(-7));
}

TEST(AveragePool, divides_by_what_counts) {
  const Tensor x = f32({1, 1, 2}, {2, 4});
  Attrs attrs = {{"kernel_shape", Ints{2}}, {"pads", Ints{1, 1}}};
  EXPECT_THAT(numbers_of("average_pool", {x}, attrs), ElementsAre(2, 3, 4));
  attrs.set("count_include_pad", true);
  EXPECT_THAT(numbers_of("average_pool", {x}, attrs), ElementsAre(1, 3, 2));
}

TEST(AveragePool, cuts_the_last_window_off_where_sizes_round_up) {
  const Tensor x = f32({1, 1, 4}, {1, 2, 3, 6});
  EXPECT_THAT(numbers_of("average_pool", {x}, {{"kernel_shape", Ints{3}}, {"strides", Ints{2}}, {"ceil_mode", true}}),
              ElementsAre(2, 4.5));
  // A window that would begin in the padding behind does not count.
  EXPECT_EQ(run_op("average_pool", {x},
                   {{"kernel_shape", Ints{2}}, {"strides", Ints{3}}, {"pads", Ints{1, 1}}, {"ceil_mode", true}})[0]
                .sizes,
            (Ints{1, 1, 2}));
}

TEST(LpPool, is_the_norm_of_each_window) {
  EXPECT_THAT(numbers_of("lp_pool", {f32({1, 1, 2}, {3, -4})}, {{"kernel_shape", Ints{2}}}), near({5}));
  EXPECT_THAT(numbers_of("lp_pool", {f32({1, 1, 2}, {3, -4})}, {{"kernel_shape", Ints{2}}, {"p", 1.0}}), near({7}));
}

TEST(Pooling, keeps_symbols_of_sizes_that_it_keeps) {
  const TensorType x{DType::f32, Shape({symbol("n"), Dim(3), symbol("h"), symbol("w")})};
  const Attrs attrs = {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{1, 2}}};
  EXPECT_EQ(infer_types("max_pool", {x}, attrs).value()[0].to_string(), "f32[n, 3, h, ?]");
}

TEST(Pooling, refuses_what_makes_no_windows) {
  EXPECT_THAT(refusal("max_pool", {image()}, {{"kernel_shape", Ints{2}}}), HasSubstr("kernel_shape has 1 numbers"));
  EXPECT_THAT(refusal("max_pool", {image()}, {{"kernel_shape", Ints{4, 4}}}), HasSubstr("does not fit"));
  EXPECT_THAT(refusal("max_pool", {image()}, {{"kernel_shape", Ints{0, 1}}}), HasSubstr("size 0"));
  EXPECT_THAT(refusal("average_pool", {image()}, {{"kernel_shape", Ints{2, 2}}, {"pads", Ints{2, 0, 0, 0}}}),
              HasSubstr("should be smaller than the window"));
  EXPECT_THAT(refusal("max_pool", {image()}, {{"kernel_shape", Ints{2, 2}}, {"storage_order", int64_t{2}}}),
              HasSubstr("storage_order is 2"));
  EXPECT_THAT(refusal("lp_pool", {image()}, {{"kernel_shape", Ints{2, 2}}, {"p", 0.0}}), HasSubstr("p is 0"));
  EXPECT_THAT(refusal("average_pool", {i32({1, 1, 2}, {1, 2})}, {{"kernel_shape", Ints{2}}}),
              HasSubstr("should be f32"));
  EXPECT_THAT(refusal("max_pool", {f32({2, 2}, {1, 2, 3, 4})}, {{"kernel_shape", Ints{}}}), HasSubstr("spatial"));
}

TEST(GlobalPooling, goes_over_all_positions) {
  EXPECT_THAT(numbers_of("global_average_pool", {image()}), ElementsAre(4));
  EXPECT_THAT(numbers_of("global_max_pool", {f32({1, 2, 2}, {-1, -5, 2, 3})}), ElementsAre(-1, 3));
  EXPECT_THAT(numbers_of("global_lp_pool", {f32({1, 1, 2}, {3, 4})}), near({5}));
  EXPECT_THAT(refusal("global_average_pool", {f32({2}, {1, 2})}), HasSubstr("at least 2 dimensions"));
  EXPECT_THAT(refusal("global_lp_pool", {image()}, {{"p", -1.0}}), HasSubstr("p is -1"));
}

Tensor i64(Ints sizes, const std::vector<double>& values) {
  return Tensor::of(DType::i64, std::move(sizes), values);
}

TEST(MaxUnpool, puts_elements_back) {
  const Attrs attrs = {{"kernel_shape", Ints{2}}, {"strides", Ints{2}}};
  EXPECT_THAT(numbers_of("max_unpool", {f32({1, 1, 2}, {5, 6}), i64({1, 1, 2}, {1, 2})}, attrs),
              ElementsAre(0, 5, 6, 0));
  // In a larger result what was pooled is the corner.
  EXPECT_THAT(numbers_of("max_unpool", {f32({1, 1, 2}, {5, 6}), i64({1, 1, 2}, {1, 2}), i64({3}, {1, 1, 6})}, attrs),
              ElementsAre(0, 5, 6, 0, 0, 0));
}

TEST(MaxUnpool, refuses_indices_outside) {
  const Attrs attrs = {{"kernel_shape", Ints{2}}, {"strides", Ints{2}}};
  const Tensor x = f32({1, 1, 2}, {5, 6});
  EXPECT_THAT(refusal("max_unpool", {x, i64({1, 1, 2}, {1, 4})}, attrs), HasSubstr("index 4 points outside the 4"));
  EXPECT_THAT(refusal("max_unpool", {x, i64({1, 1, 2}, {1, -1})}, attrs), HasSubstr("index -1"));
  EXPECT_THAT(refusal("max_unpool", {x, i64({1, 1, 2}, {1, 1}), i64({3}, {2, 1, 4})}, attrs),
              HasSubstr("output_shape has 2"));
  EXPECT_THAT(refusal("max_unpool", {x, i64({1, 1, 1}, {1})}, attrs), HasSubstr("dimension 2"));
  EXPECT_THAT(refusal("max_unpool", {x, i32({1, 1, 2}, {1, 1})}, attrs), HasSubstr("should be i64"));
}

TEST(MaxRoiPool, takes_the_largest_of_each_bin) {
  const Tensor rois = f32({2, 5}, {0, 0, 0, 1, 1, 0, 1, 1, 2, 2});
  EXPECT_THAT(numbers_of("max_roi_pool", {image(), rois}, {{"pooled_shape", Ints{1, 1}}}), ElementsAre(4, 8));
  EXPECT_THAT(numbers_of("max_roi_pool", {image(), f32({1, 5}, {0, 0, 0, 2, 2})}, {{"pooled_shape", Ints{2, 2}}}),
              ElementsAre(4, 5, 7, 8));
  EXPECT_THAT(refusal("max_roi_pool", {image(), f32({1, 5}, {1, 0, 0, 1, 1})}, {{"pooled_shape", Ints{1, 1}}}),
              HasSubstr("of image 1, but there are 1"));
  EXPECT_THAT(numbers_of("max_roi_pool", {image(), f32({1, 5}, {0, 1e30, -1e30, std::nan(""), 2})},
                         {{"pooled_shape", Ints{1, 1}}}),
              testing::SizeIs(1));
}

TEST(RoiAlign, interpolates_points) {
  const Tensor batch = i64({1}, {0});
  const Tensor whole = f32({1, 4}, {0, 0, 2, 2});
  EXPECT_THAT(numbers_of("roi_align", {image(), whole, batch}, {{"sampling_ratio", int64_t{1}}}), near({2}));
  EXPECT_THAT(numbers_of("roi_align", {image(), whole, batch},
                         {{"sampling_ratio", int64_t{1}},
                          {"coordinate_transformation_mode", std::string("output_half_pixel")}}),
              near({4}));
  EXPECT_THAT(numbers_of("roi_align", {image(), f32({1, 4}, {1e30, -1e30, std::nan(""), 5}), batch}),
              testing::SizeIs(1));
}

TEST(RoiAlign, refuses_what_does_not_fit) {
  const Tensor batch = i64({1}, {0}), roi = f32({1, 4}, {0, 0, 1, 1});
  EXPECT_THAT(refusal("roi_align", {image(), roi, i64({1}, {3})}), HasSubstr("of image 3"));
  EXPECT_THAT(refusal("roi_align", {image(), f32({1, 3}, {0, 0, 1}), batch}), HasSubstr("dimension 1 of rois"));
  EXPECT_THAT(refusal("roi_align", {image(), roi, batch}, {{"mode", std::string("sum")}}), HasSubstr("mode is 'sum'"));
  EXPECT_THAT(refusal("roi_align", {image(), roi, batch}, {{"output_height", int64_t{0}}}), HasSubstr("0 x 1"));
  EXPECT_THAT(refusal("roi_align", {image(), roi, batch}, {{"sampling_ratio", int64_t{-1}}}),
              HasSubstr("sampling_ratio is -1"));
}

}  // namespace
}  // namespace nereid::ops
