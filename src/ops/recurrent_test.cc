// SPDX-License-Identifier: Apache-2.0
// rnn, gru and lstm on numbers that can be followed by hand.
#include "ops/recurrent.h"

#include <cmath>

#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Ints = std::vector<int64_t>;
using Texts = std::vector<std::string>;

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

// Three steps of one sample and one input.
const Tensor kX = f32({3, 1, 1}, {1, 2, 3});

TEST(Rnn, sums_when_nothing_is_squashed) {
  const Attrs linear{{"activations", Texts{"Affine"}}};
  const auto y = run_op("rnn", {kX, f32({1, 1, 1}, {1}), f32({1, 1, 1}, {1})}, linear);
  EXPECT_EQ(y[0].sizes, (Ints{3, 1, 1, 1}));
  EXPECT_THAT(y[0].numbers(), ElementsAre(1, 3, 6));
  EXPECT_EQ(y[1].sizes, (Ints{1, 1, 1}));
  EXPECT_THAT(y[1].numbers(), ElementsAre(6));
}

TEST(Rnn, goes_both_ways) {
  const Attrs both{{"activations", Texts{"Affine", "Affine"}}, {"direction", std::string("bidirectional")}};
  const auto y = run_op("rnn", {kX, f32({2, 1, 1}, {1, 10}), f32({2, 1, 1}, {1, 1})}, both);
  EXPECT_THAT(y[0].numbers(), ElementsAre(1, 60, 3, 50, 6, 30));
  EXPECT_THAT(y[1].numbers(), ElementsAre(6, 60));
}

TEST(Rnn, short_samples_end_early_and_start_from_their_state) {
  const Tensor x = f32({2, 2, 1}, {1, 2, 3, 4});
  const Attrs linear{{"activations", Texts{"Affine"}}};
  const auto y = run_op(
      "rnn", {x, f32({1, 1, 1}, {1}), f32({1, 1, 1}, {1}), absent(), i32({2}, {1, 2}), f32({1, 2, 1}, {100, 200})},
      linear);
  EXPECT_THAT(y[0].numbers(), ElementsAre(101, 202, 0, 206));
  EXPECT_THAT(y[1].numbers(), ElementsAre(101, 206));
}

TEST(Rnn, samples_may_come_first) {
  const Tensor x = f32({1, 3, 1}, {1, 2, 3});
  const Attrs attrs{{"activations", Texts{"Affine"}}, {"layout", int64_t{1}}, {"direction", std::string("reverse")}};
  const auto y = run_op("rnn", {x, f32({1, 1, 1}, {1}), f32({1, 1, 1}, {1})}, attrs);
  EXPECT_EQ(y[0].sizes, (Ints{1, 3, 1, 1}));
  EXPECT_THAT(y[0].numbers(), ElementsAre(6, 5, 3));
}

TEST(Rnn, activations_have_parameters_and_a_bound) {
  const auto one = [](const char* name, std::vector<double> alpha, std::vector<double> beta, double x) {
    return numbers_of("rnn", {f32({1, 1, 1}, {x}), f32({1, 1, 1}, {1}), f32({1, 1, 1}, {0})},
                      {{"activations", Texts{name}}, {"activation_alpha", alpha}, {"activation_beta", beta}})[0];
  };
  EXPECT_NEAR(one("LeakyRelu", {0.5}, {}, -2), -1, 1e-6);
  EXPECT_NEAR(one("LeakyRelu", {}, {}, -2), -0.02, 1e-6);
  EXPECT_NEAR(one("HardSigmoid", {0.5}, {0.25}, 1), 0.75, 1e-6);
  EXPECT_NEAR(one("Elu", {2}, {}, -1), 2 * (std::exp(-1) - 1), 1e-6);
  EXPECT_NEAR(one("ScaledTanh", {2}, {3}, 0.5), 2 * std::tanh(1.5), 1e-6);
  EXPECT_NEAR(one("Softplus", {}, {}, 1), std::log(1 + std::exp(1)), 1e-6);
  EXPECT_NEAR(one("softsign", {}, {}, -1), -0.5, 1e-6);
  EXPECT_NEAR(one("ThresholdedRelu", {1.5}, {}, 1), 0, 1e-6);
  EXPECT_THAT(numbers_of("rnn", {kX, f32({1, 1, 1}, {1}), f32({1, 1, 1}, {0})},
                         {{"activations", Texts{"Relu"}}, {"clip", 1.5}}),
              ElementsAre(1, 1.5, 1.5));
}

TEST(Gru, mixes_the_old_state_and_the_new) {
  const Tensor w = f32({1, 3, 1}, {1, 2, 3});
  const Tensor r = f32({1, 3, 1}, {0.1, 0.2, 0.3});
  const Tensor b = f32({1, 6}, {0, 0, 0, 0, 0, 0.5});
  const Tensor x = f32({1, 1, 1}, {1});
  const Tensor h = f32({1, 1, 1}, {2});
  const double z = sigmoid(1.2), reset = sigmoid(2.4);
  const auto state = [&](double hidden) { return (1 - z) * hidden + z * 2; };
  EXPECT_THAT(numbers_of("gru", {x, w, r, b, absent(), h}), near({state(std::tanh(3 + 0.3 * reset * 2 + 0.5))}));
  EXPECT_THAT(numbers_of("gru", {x, w, r, b, absent(), h}, {{"linear_before_reset", true}}),
              near({state(std::tanh(3 + reset * (0.3 * 2 + 0.5)))}));
}

TEST(Lstm, remembers_in_a_cell_with_peepholes) {
  const Tensor w = f32({1, 4, 1}, {1, 2, 3, 4});
  const Tensor r = f32({1, 4, 1}, {0.1, 0.2, 0.3, 0.4});
  const Tensor p = f32({1, 3}, {0.5, 0.6, 0.7});
  const Tensor x = f32({1, 1, 1}, {0.1});
  const Tensor h = f32({1, 1, 1}, {2}), c = f32({1, 1, 1}, {3});
  const double in = sigmoid(0.1 + 0.2 + 0.5 * 3), forget = sigmoid(0.3 + 0.6 + 0.7 * 3);
  const double cell = forget * 3 + in * std::tanh(0.4 + 0.8);
  const double out = sigmoid(0.2 + 0.4 + 0.6 * cell);
  const auto y = run_op("lstm", {x, w, r, absent(), absent(), h, c, p});
  EXPECT_THAT(y[0].numbers(), near({out * std::tanh(cell)}));
  EXPECT_THAT(y[1].numbers(), near({out * std::tanh(cell)}));
  EXPECT_THAT(y[2].numbers(), near({cell}));
  const double coupled = (1 - in) * 3 + in * std::tanh(1.2);
  EXPECT_THAT(run_op("lstm", {x, w, r, absent(), absent(), h, c, p}, {{"input_forget", true}})[2].numbers(),
              near({coupled}));
}

TEST(Recurrent, refuses_what_does_not_fit) {
  const Tensor w = f32({1, 1, 1}, {1});
  EXPECT_THAT(refusal("rnn", {kX, w, w}, {{"direction", std::string("both")}}), HasSubstr("the direction is 'both'"));
  EXPECT_THAT(refusal("rnn", {kX, w, w}, {{"activations", Texts{"Sin"}}}), HasSubstr("no activation 'sin'"));
  EXPECT_THAT(refusal("rnn", {kX, w, w}, {{"activations", Texts{"Tanh", "Tanh"}}}), HasSubstr("2 activations"));
  EXPECT_THAT(refusal("rnn", {kX, w, w}, {{"hidden_size", int64_t{2}}}), HasSubstr("should be 2 (the hidden size)"));
  EXPECT_THAT(refusal("gru", {kX, w, w}), HasSubstr("3 times the hidden size"));
  EXPECT_THAT(refusal("rnn", {kX, f32({1, 1, 2}, {1, 2}), w}), HasSubstr("dimension 2 of x"));
  EXPECT_EQ(refusal("rnn", {kX, w, w, absent(), i32({1}, {4})}), "sample 0 has 4 steps of 3");
  EXPECT_EQ(refusal("rnn", {kX, w, w, absent(), i32({1}, {-1})}), "sample 0 has -1 steps of 3");
}

}  // namespace
}  // namespace nereid::ops
