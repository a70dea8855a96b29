// SPDX-License-Identifier: Apache-2.0
// Elementwise operators in the forms of old and new operator sets.
#include "import/onnx/node_fixture.h"

namespace nereid::import::onnx {
namespace {

using Attrs = std::vector<std::pair<std::string, ops::AttrValue>>;
using testing::HasSubstr;

const ops::Tensor kA = f32({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});

TEST(BroadcastAxis, the_second_input_stands_where_axis_says) {
  const ops::Tensor b = f32({2}, {10, 20});
  const auto add = [&](const ops::Tensor& other, Attrs attrs) {
    return numbers_of({.op = "Add", .version = 6, .inputs = {kA, other}, .attrs = std::move(attrs)});
  };
  EXPECT_THAT(add(b, {{"broadcast", int64_t{1}}}), near({10, 21, 12, 23, 14, 25, 16, 27}));
  EXPECT_THAT(add(b, {{"broadcast", int64_t{1}}, {"axis", int64_t{1}}}), near({10, 11, 22, 23, 14, 15, 26, 27}));
  EXPECT_THAT(add(b, {{"broadcast", int64_t{1}}, {"axis", int64_t{0}}}), near({10, 11, 12, 13, 24, 25, 26, 27}));
  EXPECT_THAT(add(b, {{"broadcast", int64_t{1}}, {"axis", int64_t{-2}}}), near({10, 11, 22, 23, 14, 15, 26, 27}));
  EXPECT_THAT(add(f32({2, 2}, {10, 20, 30, 40}), {{"broadcast", int64_t{1}}, {"axis", int64_t{0}}}),
              near({10, 11, 22, 23, 34, 35, 46, 47}));
}

TEST(BroadcastAxis, every_operator_that_had_it_is_read) {
  const ops::Tensor b = f32({2}, {2, 3});
  const Attrs attrs = {{"broadcast", int64_t{1}}, {"axis", int64_t{0}}};
  const auto run = [&](const char* op) {
    return numbers_of({.op = op, .version = 6, .inputs = {kA, b}, .attrs = attrs})[5];
  };
  EXPECT_NEAR(run("Sub"), 2, 1e-6);
  EXPECT_NEAR(run("Mul"), 15, 1e-6);
  EXPECT_NEAR(run("Div"), 5.0 / 3, 1e-6);
  EXPECT_NEAR(run("Pow"), 125, 1e-6);
  EXPECT_EQ(run("Greater"), 1);
  EXPECT_EQ(run("Less"), 0);
  const ops::Tensor t = tensor_of(DType::boolean, {2, 2}, {0, 1, 0, 1});
  const ops::Tensor u = tensor_of(DType::boolean, {2}, {0, 1});
  const auto logic = [&](const char* op) {
    return numbers_of({.op = op, .version = 1, .inputs = {t, u}, .attrs = attrs});
  };
  EXPECT_THAT(logic("And"), near({0, 0, 0, 1}));
  EXPECT_THAT(logic("Or"), near({0, 1, 1, 1}));
  EXPECT_THAT(logic("Xor"), near({0, 1, 1, 0}));
  EXPECT_THAT(logic("Equal"), near({1, 0, 0, 1}));
}

TEST(BroadcastAxis, an_axis_that_does_not_fit_is_refused) {
  EXPECT_THAT(refusal({.op = "Add",
                       .version = 6,
                       .inputs = {f32({2}, {1, 2}), kA},
                       .attrs = {{"broadcast", int64_t{1}}, {"axis", int64_t{0}}}}),
              HasSubstr("its second input f32[2, 2, 2] does not fit at axis 0 of the first, which has 1 dimensions"));
  EXPECT_THAT(refusal({.op = "Add",
                       .version = 6,
                       .inputs = {kA, f32({2}, {1, 2})},
                       .attrs = {{"broadcast", int64_t{1}}, {"axis", int64_t{3}}}}),
              HasSubstr("does not fit at axis 3"));
}

TEST(OldForms, hints_about_consumed_inputs_are_passed_over) {
  EXPECT_THAT(numbers_of({.op = "Relu",
                          .version = 1,
                          .inputs = {f32({2}, {-1, 2})},
                          .attrs = {{"consumed_inputs", std::vector<int64_t>{0}}}}),
              near({0, 2}));
}

TEST(Prelu, slopes_were_one_a_channel_before_opset_7) {
  const ops::Tensor x = f32({1, 2, 2}, {-1, -2, -3, -4});
  EXPECT_THAT(numbers_of({.op = "PRelu", .version = 6, .inputs = {x, f32({2}, {1, 10})}}), near({-1, -2, -30, -40}));
  EXPECT_THAT(numbers_of({.op = "PRelu", .version = 6, .inputs = {x, f32({1}, {2})}}), near({-2, -4, -6, -8}));
  EXPECT_THAT(numbers_of({.op = "PRelu", .version = 9, .inputs = {x, f32({2}, {1, 10})}}), near({-1, -20, -3, -40}));
}

TEST(Clip, bounds_are_attributes_before_opset_11_and_inputs_after) {
  const ops::Tensor x = f32({3}, {-2, 0, 2});
  EXPECT_THAT(numbers_of({.op = "Clip", .version = 6, .inputs = {x}, .attrs = {{"min", -1.0}, {"max", 1.0}}}),
              near({-1, 0, 1}));
  EXPECT_THAT(numbers_of({.op = "Clip", .version = 6, .inputs = {x}, .attrs = {{"max", 1.0}}}), near({-2, 0, 1}));
  EXPECT_THAT(numbers_of({.op = "Clip", .version = 13, .inputs = {x, std::nullopt, f32({}, {1})}}), near({-2, 0, 1}));
}

TEST(Selu, the_defaults_had_fewer_digits_before_opset_6) {
  const ops::Tensor x = f32({1}, {-1});
  EXPECT_NEAR(numbers_of({.op = "Selu", .version = 1, .inputs = {x}})[0], -1.1112876, 1e-6);
  EXPECT_NEAR(numbers_of({.op = "Selu", .version = 6, .inputs = {x}})[0], -1.1113307, 1e-6);
}

TEST(Gelu, the_approximation_is_chosen_by_name) {
  const ops::Tensor x = f32({1}, {2});
  EXPECT_NEAR(numbers_of({.op = "Gelu", .version = 20, .inputs = {x}})[0], 1.9544997, 1e-6);
  EXPECT_NEAR(
      numbers_of({.op = "Gelu", .version = 20, .inputs = {x}, .attrs = {{"approximate", std::string("tanh")}}})[0],
      1.9545977, 1e-6);
  EXPECT_THAT(refusal({.op = "Gelu", .version = 20, .inputs = {x}, .attrs = {{"approximate", std::string("fast")}}}),
              HasSubstr("approximate is 'fast' and should be none or tanh"));
}

TEST(Gelu, microsofts_forms_take_a_bias) {
  const ops::Tensor x = f32({2}, {1, 0});
  const ops::Tensor b = f32({2}, {1, 2});
  const auto run = [&](const char* op, std::vector<std::optional<ops::Tensor>> inputs) {
    return numbers_of({.op = op, .version = 1, .inputs = std::move(inputs), .domain = "com.microsoft"});
  };
  EXPECT_THAT(run("BiasGelu", {x, b}), near({1.9544997, 1.9544997}));
  EXPECT_THAT(run("FastGelu", {x, b}), near({1.9545977, 1.9545977}));
  EXPECT_THAT(run("FastGelu", {b}), near({0.8411920, 1.9545977}));
  EXPECT_THAT(run("Gelu", {b}), near({0.8413447, 1.9544997}));
  EXPECT_THAT(run("QuickGelu", {x}), near({0.8457958, 0}));
}

TEST(Cast, types_are_words_before_opset_6_and_numbers_after) {
  const ops::Tensor x = f32({2}, {1.7, -1.7});
  const ops::Tensor y = run_node({.op = "Cast", .version = 1, .inputs = {x}, .attrs = {{"to", std::string("INT32")}}});
  EXPECT_EQ(y.dtype, DType::i32);
  EXPECT_THAT(y.numbers(), near({1, -1}));
  EXPECT_EQ(run_node({.op = "Cast", .version = 13, .inputs = {x}, .attrs = {{"to", int64_t{11}}}}).dtype, DType::f64);
  EXPECT_EQ(run_node({.op = "CastLike", .version = 19, .inputs = {x, tensor_of(DType::u8, {1}, {0})}}).dtype,
            DType::u8);
  EXPECT_EQ(run_node({.op = "BitCast", .version = 26, .inputs = {x}, .attrs = {{"to", int64_t{12}}}}).dtype,
            DType::u32);
  EXPECT_THAT(refusal({.op = "Cast", .version = 13, .inputs = {x}, .attrs = {{"to", int64_t{99}}}}), HasSubstr("99"));
}

}  // namespace
}  // namespace nereid::import::onnx
