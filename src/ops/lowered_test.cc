// SPDX-License-Identifier: Apache-2.0
// The ops that lowering makes: dense, the channels-last image ops, program.
#include "ops/op_fixture.h"
#include "ops/program.h"

namespace nereid::ops {
namespace {

using testing::HasSubstr;

TEST(Dense, multiplies_adds_and_activates) {
  const Tensor x = f32({1, 2}, {1, -2}), w = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(numbers_of("dense", {x, w}), near({-7, -8, -9}));
  EXPECT_THAT(numbers_of("dense", {x, f32({3, 2}, {1, 4, 2, 5, 3, 6})}, {{"transposed", true}}), near({-7, -8, -9}));
  const Tensor b = f32({3}, {8, 8, 8}), r = f32({1, 3}, {10, 20, -30});
  EXPECT_THAT(numbers_of("dense", {x, w, b, r}, {{"activation", std::string("relu")}}), near({11, 20, 0}));
  EXPECT_THAT(numbers_of("dense", {x, w, b, r}, {{"activation", std::string("relu")}, {"residual_last", true}}),
              near({11, 20, -30}));
}

TEST(Dense, refuses_what_does_not_fit) {
  const Tensor x = f32({1, 2}, {1, 2}), w = f32({2, 1}, {1, 2});
  EXPECT_THAT(refusal("dense", {x, f32({3, 1}, {1, 2, 3})}), HasSubstr("w f32[3, 1]"));
  EXPECT_THAT(refusal("dense", {x, w, f32({2}, {1, 2})}), HasSubstr("bias f32[2]"));
  EXPECT_THAT(refusal("dense", {x, w, absent(), f32({2, 1}, {1, 2})}), HasSubstr("should be as the result"));
  EXPECT_THAT(refusal("dense", {x, w}, {{"activation", std::string("foo")}}), HasSubstr("'foo'"));
}

TEST(Dense, keeps_symbols) {
  auto types = infer_types("dense", {{DType::f32, {symbol("n"), symbol("s"), 4}}, {DType::f32, {4, 8}}});
  ASSERT_TRUE(types.is_ok()) << types.status().message();
  EXPECT_EQ((*types)[0].to_string(), "f32[n, s, 8]");
}

TEST(ConvLast, is_conv_with_the_channel_at_the_end) {
  // Two channels of 1x3; the kernel takes the sum of both at each place and its right neighbour.
  const Tensor x = f32({1, 3, 2}, {1, 10, 2, 20, 3, 30}), w = f32({1, 2, 2}, {1, 1, 1, 1});
  EXPECT_THAT(numbers_of("conv_last", {x, w}), near({33, 55}));
  EXPECT_THAT(numbers_of("conv_last", {x, w, f32({1}, {-40}), f32({1, 2, 1}, {1, 2})},
                         {{"activation", std::string("relu")}, {"residual_last", true}}),
              near({1, 17}));
  auto types =
      infer_types("conv_last", {{DType::f32, {symbol("n"), symbol("h"), symbol("w"), 3}}, {DType::f32, {8, 3, 3, 3}}},
                  {{"pads", std::vector<int64_t>{1, 1, 1, 1}}});
  ASSERT_TRUE(types.is_ok()) << types.status().message();
  EXPECT_EQ((*types)[0].to_string(), "f32[n, h, w, 8]");
}

TEST(ConvTransposeLast, is_conv_transpose_with_the_channel_at_the_end) {
  const Tensor x = f32({1, 2, 1}, {1, 2}), w = f32({1, 2, 2}, {1, 2, 10, 20});
  EXPECT_THAT(numbers_of("conv_transpose_last", {x, w}, {{"strides", std::vector<int64_t>{2}}}),
              near({1, 10, 2, 20, 2, 20, 4, 40}));
}

TEST(PoolLast, takes_largest_and_mean) {
  const Tensor x = f32({1, 2, 2}, {1, 40, 3, 20});
  const std::vector<int64_t> window{2};
  EXPECT_THAT(numbers_of("pool_last", {x}, {{"kind", std::string("max")}, {"kernel_shape", window}}), near({3, 40}));
  EXPECT_THAT(numbers_of("pool_last", {x}, {{"kind", std::string("average")}, {"kernel_shape", window}}),
              near({2, 30}));
  const auto all = run_op("global_pool_last", {x}, {{"kind", std::string("average")}});
  EXPECT_EQ(all[0].sizes, (std::vector<int64_t>{1, 1, 2}));
  EXPECT_THAT(all[0].numbers(), near({2, 30}));
  EXPECT_THAT(refusal("global_pool_last", {x}, {{"kind", std::string("median")}}), HasSubstr("'median'"));
}

TEST(Program, runs_its_steps_on_broadcast_inputs) {
  const Tensor x = f32({2, 2}, {-1, 2, 3, -4}), row = f32({2}, {10, 20});
  EXPECT_THAT(numbers_of("program", {x, row},
                         {{"steps", std::vector<std::string>{"add 0 1", "mul_constant 2 0.5", "act:clip 3 5.0 10.0",
                                                             "less 0 1", "select 5 4 1"}}}),
              near({5, 10, 6.5, 8}));
}

TEST(Program, refuses_steps_that_say_nothing) {
  const Tensor x = f32({1}, {1});
  const auto steps = [](std::string step) { return Attrs{{"steps", std::vector<std::string>{std::move(step)}}}; };
  EXPECT_THAT(refusal("program", {x}, steps("jump 0")), HasSubstr("names no primitive"));
  EXPECT_THAT(refusal("program", {x}, steps("act:jump 0 1.0 1.0")), HasSubstr("no activation 'jump'"));
  EXPECT_THAT(refusal("program", {x}, steps("add 0 1")), HasSubstr("2 of the 1 values"));
  EXPECT_THAT(refusal("program", {x}, steps("neg 0 1")), HasSubstr("too much"));
  EXPECT_THAT(refusal("program", {x}, steps("add_constant 0")), HasSubstr("1 numbers"));
  EXPECT_THAT(refusal("program", {x}, {{"steps", std::vector<std::string>{}}}), HasSubstr("empty"));
  EXPECT_THAT(refusal("program", {i32({1}, {1})}, steps("neg 0")), HasSubstr("should be f32"));
}

TEST(Program, texts_read_back) {
  const std::vector<int> operands{2};
  const std::vector<double> numbers{0, 6};
  const std::string text = program_step_text("act:clip", operands, numbers);
  EXPECT_EQ(text, "act:clip 2 0.0 6.0");
  EXPECT_EQ(parse_program_step(text, 3)->beta, 6);
}

}  // namespace
}  // namespace nereid::ops
