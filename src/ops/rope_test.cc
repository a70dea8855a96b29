// SPDX-License-Identifier: Apache-2.0
#include <numbers>

#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

constexpr double kQuarter = std::numbers::pi / 2;  // radians a position: a quarter turn
const Attrs kHead4{{"head_dim", int64_t{4}}};

TEST(Rope, halves_are_paired_and_turned_by_position_times_frequency) {
  const Tensor x = f32({2, 4}, {1, 2, 3, 4, 1, 2, 3, 4});
  // Position 0 stays; position 1 turns (1, 3) by a quarter to (-3, 1) and leaves (2, 4).
  EXPECT_THAT(numbers_of("rope", {x, i32({2}, {0, 1}), f32({2}, {kQuarter, 0})}, kHead4),
              near({1, 2, 3, 4, -3, 2, 1, 4}));
}

TEST(Rope, interleaved_pairs_are_neighbours) {
  const auto y = numbers_of("rope", {f32({1, 4}, {1, 2, 3, 4}), i32({1}, {1}), f32({2}, {kQuarter, 0})},
                            {{"head_dim", int64_t{4}}, {"interleaved", true}});
  EXPECT_THAT(y, near({-2, 1, 3, 4}));
}

TEST(Rope, every_head_turns_alike_and_elements_past_the_frequencies_stay) {
  const auto y =
      numbers_of("rope", {f32({1, 8}, {1, 2, 3, 4, 5, 6, 7, 8}), i32({1}, {1}), f32({1}, {kQuarter})}, kHead4);
  EXPECT_THAT(y, near({-2, 1, 3, 4, -6, 5, 7, 8}));
}

TEST(Rope, scale_multiplies_what_turns) {
  const auto y = numbers_of("rope", {f32({1, 2}, {1, 2}), i32({1}, {0}), f32({1}, {1})},
                            {{"head_dim", int64_t{2}}, {"scale", 0.5}});
  EXPECT_THAT(y, near({0.5, 1}));
}

TEST(Rope, head_sizes_that_do_not_fit_are_refused) {
  const Tensor x = f32({1, 6}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(refusal("rope", {x, i32({1}, {0}), f32({1}, {1})}, kHead4), "x f32[1, 6] does not split into heads of 4");
  EXPECT_EQ(refusal("rope", {f32({1, 4}, {1, 2, 3, 4}), i32({1}, {0}), f32({3}, {1, 1, 1})}, kHead4),
            "inv_freq f32[3] has more frequencies than a head of 4 has pairs");
  EXPECT_EQ(refusal("rope", {f32({1, 4}, {1, 2, 3, 4}), i32({2}, {0, 1}), f32({2}, {1, 1})}, kHead4),
            "dimension 0 of x f32[1, 4] is 1, but dimension 0 of positions i32[2] is 2");
  EXPECT_EQ(refusal("rope", {x, i32({1}, {0}), f32({1}, {1})}), "attribute 'head_dim' of rope is required and missing");
}

}  // namespace
}  // namespace nereid::ops
