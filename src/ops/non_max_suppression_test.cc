// SPDX-License-Identifier: Apache-2.0
// Boxes: which are kept.
#include <cmath>

#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Two that overlap by half and one apart; scores of one class.
const std::vector<double> kBoxes = {0, 0, 2, 2, 0, 1, 2, 3, 10, 10, 12, 12};

std::vector<double> select(const std::vector<double>& scores, std::vector<Tensor> rest, Attrs attrs = {}) {
  std::vector<Tensor> inputs = {f32({1, 3, 4}, kBoxes), f32({1, 1, 3}, scores)};
  inputs.insert(inputs.end(), rest.begin(), rest.end());
  return numbers_of("non_max_suppression", inputs, std::move(attrs));
}
Tensor most(int64_t n) {
  return Tensor::of(DType::i64, {1}, {static_cast<double>(n)});
}

TEST(NonMaxSuppression, keeps_the_best_of_what_overlaps) {
  EXPECT_THAT(select({.5, .9, .1}, {most(9), f32({1}, {.3})}), ElementsAre(0, 0, 1, 0, 0, 2));
  EXPECT_THAT(select({.5, .9, .1}, {most(9), f32({1}, {.4})}), ElementsAre(0, 0, 1, 0, 0, 0, 0, 0, 2));
}

TEST(NonMaxSuppression, stops_at_limits) {
  EXPECT_THAT(select({.5, .9, .1}, {most(1), f32({1}, {.3})}), ElementsAre(0, 0, 1));
  EXPECT_THAT(select({.5, .9, .1}, {most(9), f32({1}, {.3}), f32({1}, {.1})}), ElementsAre(0, 0, 1));
  EXPECT_THAT(select({.5, .9, .1}, {}), IsEmpty());
  EXPECT_THAT(select({.5, .9, .1}, {most(-1)}), IsEmpty());
}

TEST(NonMaxSuppression, reads_boxes_by_their_centers_and_takes_corners_in_any_order) {
  const std::vector<double> centers = {1, 1, 2, 2, 2, 1, 2, 2, 11, 11, 2, 2};
  EXPECT_THAT(numbers_of("non_max_suppression",
                         {f32({1, 3, 4}, centers), f32({1, 1, 3}, {.5, .9, .1}), most(9), f32({1}, {.3})},
                         {{"center_point_box", true}}),
              ElementsAre(0, 0, 1, 0, 0, 2));
  EXPECT_THAT(numbers_of("non_max_suppression",
                         {f32({1, 2, 4}, {2, 2, 0, 0, 0, 0, 2, 2}), f32({1, 1, 2}, {.5, .9}), most(9), f32({1}, {.3})}),
              ElementsAre(0, 0, 1));
}

TEST(NonMaxSuppression, passes_over_scores_that_are_no_numbers) {
  EXPECT_THAT(select({std::nan(""), .9, .1}, {most(9), f32({1}, {.4})}), ElementsAre(0, 0, 1, 0, 0, 2));
}

TEST(NonMaxSuppression, refuses_what_does_not_fit) {
  const Tensor boxes = f32({1, 3, 4}, kBoxes);
  EXPECT_THAT(refusal("non_max_suppression", {boxes, f32({1, 1, 2}, {1, 2})}), HasSubstr("dimension 1 of boxes"));
  EXPECT_THAT(refusal("non_max_suppression", {f32({1, 4, 3}, kBoxes), f32({1, 1, 4}, {1, 2, 3, 4})}),
              HasSubstr("the numbers of a box"));
}

}  // namespace
}  // namespace nereid::ops
