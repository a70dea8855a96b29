// SPDX-License-Identifier: Apache-2.0
// Elementwise programs against the C library in f64, on every instruction set this machine has.
#include "kernels/cpu/elementwise_program.h"

#include <gtest/gtest.h>

#include "kernels/cpu/test_kernels.h"

namespace nereid::kernels {
namespace {

using testing::isas_here;
using testing::random_floats;

size_t at(int64_t i) {
  return static_cast<size_t>(i);
}
constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kNan = std::nanf("");

void run(Isa isa, ProgramParams p, int threads = 3) {
  Buffer scratch =
      Buffer::allocate(static_cast<size_t>(program_scratch_bytes(p.input_count, p.step_count, threads))).value();
  p.scratch = scratch.data();
  testing::run_kernel(isa_kernels(isa).elementwise_program, p, threads);
}

std::vector<float> run_unary(Isa isa, const ProgramStep& step, const std::vector<float>& x) {
  std::vector<float> y(x.size());
  const ProgramInput in{.data = x.data(), .strides = {1}};
  const ProgramOutput out{.data = y.data(), .strides = {1}, .value = 1};
  run(isa, {.steps = &step,
            .step_count = 1,
            .inputs = &in,
            .input_count = 1,
            .outputs = &out,
            .output_count = 1,
            .dims = {static_cast<int64_t>(x.size())}});
  return y;
}

double round_even(double x) {
  return std::nearbyint(x);
}

struct UnaryCase {
  Primitive op;
  double (*want)(double);
  float low, high;            // where it is tried
  double relative, absolute;  // error
};
const UnaryCase kUnaryCases[] = {
    {Primitive::kNeg, [](double x) { return -x; }, -9, 9, 0, 0},
    {Primitive::kAbs, [](double x) { return std::fabs(x); }, -9, 9, 0, 0},
    {Primitive::kSign, [](double x) { return double(x > 0) - double(x < 0); }, -9, 9, 0, 0},
    {Primitive::kSqrt, [](double x) { return std::sqrt(x); }, 0, 1e9f, 1e-7, 0},
    {Primitive::kReciprocal, [](double x) { return 1 / x; }, 1e-3f, 1e9f, 1e-7, 0},
    {Primitive::kExp, [](double x) { return std::exp(x); }, -87, 88.7f, 2e-7, 0},
    {Primitive::kLog, [](double x) { return std::log(x); }, 1e-6f, 5, 2e-7, 1e-10},
    {Primitive::kLog, [](double x) { return std::log(x); }, 1, 1e30f, 2e-7, 0},
    {Primitive::kSin, [](double x) { return std::sin(x); }, -100, 100, 1e-7, 1e-7},
    {Primitive::kCos, [](double x) { return std::cos(x); }, -100, 100, 1e-7, 1e-7},
    {Primitive::kErf, [](double x) { return std::erf(x); }, -4, 4, 0, 2.5e-7},
    {Primitive::kErf, [](double x) { return std::erf(x); }, -0.8f, 0.8f, 3e-7, 0},
    {Primitive::kFloor, [](double x) { return std::floor(x); }, -9e6f, 9e6f, 0, 0},
    {Primitive::kCeil, [](double x) { return std::ceil(x); }, -9e6f, 9e6f, 0, 0},
    {Primitive::kRound, round_even, -9e6f, 9e6f, 0, 0},
    {Primitive::kRound, round_even, -9, 9, 0, 0},
    {Primitive::kNot, [](double x) { return double(x == 0); }, -1, 1, 0, 0},
    {Primitive::kSoftplus, [](double x) { return std::log1p(std::exp(x)); }, -40, 40, 4e-7, 0},
};

TEST(Program, unary_steps_are_as_accurate_as_promised) {
  for (Isa isa : isas_here())
    for (const UnaryCase& c : kUnaryCases) {
      std::vector<float> x;
      for (int i = 0; i < 3001; ++i) x.push_back(c.low + (c.high - c.low) * static_cast<float>(i) / 3000.0f);
      if (c.low < 0)
        for (float v : {0.0f, 1e-3f, -1e-4f, 0.5f, -0.5f, 1.5f, 2.5f, -3e-8f}) x.push_back(v);
      const std::vector<float> y = run_unary(isa, {.op = c.op}, x);
      for (size_t i = 0; i < x.size(); ++i) {
        const double want = c.want(double{x[i]});
        ASSERT_NEAR(y[i], want, c.relative * std::fabs(want) + c.absolute)
            << isa_name(isa) << " primitive " << static_cast<int>(c.op) << " of " << x[i];
      }
    }
}

TEST(Program, tanh_sigmoid_and_elu_are_accurate_near_zero) {
  for (Isa isa : isas_here()) {
    std::vector<float> x;
    for (int i = -2000; i <= 2000; ++i) x.push_back(static_cast<float>(i) * (std::abs(i) < 1000 ? 1e-4f : 1e-2f));
    const auto t = run_unary(isa, {.op = Primitive::kAct, .act = Act::kTanh}, x);
    const auto s = run_unary(isa, {.op = Primitive::kAct, .act = Act::kSigmoid}, x);
    const auto e = run_unary(isa, {.op = Primitive::kAct, .act = Act::kElu, .alpha = 1}, x);
    for (size_t i = 0; i < x.size(); ++i) {
      const double v = double{x[i]};
      ASSERT_NEAR(t[i], std::tanh(v), 4e-7 * std::fabs(std::tanh(v))) << v;
      ASSERT_NEAR(s[i], 1 / (1 + std::exp(-v)), 4e-7 / (1 + std::exp(-v))) << v;
      ASSERT_NEAR(e[i], v < 0 ? std::expm1(v) : v, 4e-7 * std::fabs(v)) << v;
    }
  }
}

TEST(Program, special_values_come_out_right) {
  for (Isa isa : isas_here()) {
    const auto same = [](const std::vector<float>& y, const std::vector<float>& want) {
      for (size_t i = 0; i < y.size(); ++i)
        if (!(std::isnan(y[i]) ? std::isnan(want[i]) : y[i] == want[i])) return false;
      return true;
    };
    const std::vector<float> x = {kInfinity, -kInfinity, kNan, 0.0f};
    EXPECT_TRUE(same(run_unary(isa, {.op = Primitive::kExp}, x), {kInfinity, 0, kNan, 1}));
    EXPECT_TRUE(same(run_unary(isa, {.op = Primitive::kLog}, x), {kInfinity, kNan, kNan, -kInfinity}));
    EXPECT_TRUE(same(run_unary(isa, {.op = Primitive::kErf}, x), {1, -1, kNan, 0}));
    EXPECT_TRUE(same(run_unary(isa, {.op = Primitive::kAct, .act = Act::kTanh}, x), {1, -1, kNan, 0}));
    EXPECT_TRUE(same(run_unary(isa, {.op = Primitive::kSoftplus}, x), {kInfinity, 0, kNan, std::log(2.0f)}));
    EXPECT_TRUE(same(run_unary(isa, {.op = Primitive::kIsNan}, x), {0, 0, 1, 0}));
    EXPECT_TRUE(same(run_unary(isa, {.op = Primitive::kExp}, {100, -100, 89, -88}), {kInfinity, 0, kInfinity, 0}));
    EXPECT_TRUE(same(run_unary(isa, {.op = Primitive::kPowConstant, .alpha = 0.5f}, {4, 9, 0, 1}), {2, 3, 0, 1}));
  }
}

TEST(Program, binary_steps_agree_with_c) {
  const std::vector<float> a = {1, 0, -7, 2.5f, kNan, 3, 0, -2}, b = {2, 0, 3, 2.5f, 1, kNan, 4, 3};
  const auto c = [](bool x) { return x ? 1.0f : 0.0f; };
  struct Case {
    Primitive op;
    float (*want)(float, float);
  };
  const Case cases[] = {
      {Primitive::kAdd, [](float x, float y) { return x + y; }},
      {Primitive::kSub, [](float x, float y) { return x - y; }},
      {Primitive::kMul, [](float x, float y) { return x * y; }},
      {Primitive::kDiv, [](float x, float y) { return x / y; }},
      {Primitive::kMin, [](float x, float y) { return x < y || std::isnan(x) ? x : y; }},
      {Primitive::kMax, [](float x, float y) { return x > y || std::isnan(x) ? x : y; }},
      {Primitive::kPow, [](float x, float y) { return std::pow(x, y); }},
      {Primitive::kFmod, [](float x, float y) { return std::fmod(x, y); }},
      {Primitive::kMod, [](float x, float y) { return y == 0 ? std::fmod(x, y) : x - std::floor(x / y) * y; }},
      {Primitive::kPRelu, [](float x, float y) { return x < 0 ? x * y : x; }}};
  const struct {
    Primitive op;
    bool (*want)(float, float);
  } truths[] = {{Primitive::kEqual, [](float x, float y) { return x == y; }},
                {Primitive::kLess, [](float x, float y) { return x < y; }},
                {Primitive::kLessOrEqual, [](float x, float y) { return x <= y; }},
                {Primitive::kGreater, [](float x, float y) { return x > y; }},
                {Primitive::kGreaterOrEqual, [](float x, float y) { return x >= y; }},
                {Primitive::kAnd, [](float x, float y) { return x != 0 && y != 0; }},
                {Primitive::kOr, [](float x, float y) { return x != 0 || y != 0; }},
                {Primitive::kXor, [](float x, float y) { return (x != 0) != (y != 0); }}};
  for (Isa isa : isas_here()) {
    const auto check = [&](Primitive op, auto want) {
      std::vector<float> y(a.size());
      const ProgramStep step{.op = op, .a = 0, .b = 1};
      const ProgramInput in[] = {{.data = a.data(), .strides = {1}}, {.data = b.data(), .strides = {1}}};
      const ProgramOutput out{.data = y.data(), .strides = {1}, .value = 2};
      run(isa, {.steps = &step,
                .step_count = 1,
                .inputs = in,
                .input_count = 2,
                .outputs = &out,
                .output_count = 1,
                .dims = {static_cast<int64_t>(a.size())}});
      for (size_t i = 0; i < a.size(); ++i) {
        const float w = want(a[i], b[i]);
        EXPECT_TRUE(std::isnan(w) ? std::isnan(y[i]) : std::fabs(y[i] - w) <= 1e-6f * std::fabs(w))
            << isa_name(isa) << " primitive " << static_cast<int>(op) << " of " << a[i] << ", " << b[i] << ": " << y[i]
            << " not " << w;
      }
    };
    for (const Case& one : cases) check(one.op, one.want);
    for (const auto& one : truths) check(one.op, [&](float x, float y) { return c(one.want(x, y)); });
  }
}

// y = select(x < s, x * w + b, tanh(x)); z = x * w, over every shape of strides.
TEST(Program, chains_broadcast_transpose_and_store_several_results) {
  const ProgramStep steps[] = {{.op = Primitive::kMulAdd, .a = 0, .b = 1, .c = 2},
                               {.op = Primitive::kLess, .a = 0, .b = 3},
                               {.op = Primitive::kAct, .a = 0, .act = Act::kTanh},
                               {.op = Primitive::kMul, .a = 0, .b = 1},
                               {.op = Primitive::kSelect, .a = 5, .b = 4, .c = 6}};
  struct Shape {
    int64_t n, h, w, c;
  };
  for (Isa isa : isas_here())
    for (const Shape& s : {Shape{1, 1, 1, 1},
                           {2, 3, 4, 5},
                           {1, 1, 1, 1100},
                           {3, 7, 1, 16},
                           {2, 40, 30, 3},
                           {2, 1, 300, 2},
                           {1, 2, 2, 600}})
      for (const bool transposed : {false, true}) {
        const int64_t count = s.n * s.h * s.w * s.c;
        const auto x = random_floats(at(count), 1), w = random_floats(at(s.c), 2), b = random_floats(at(s.n * s.c), 3),
                   limit = random_floats(1, 4);
        std::vector<float> y(at(count)), z(at(count));
        const int64_t xs[4] = {s.h * s.w * s.c, transposed ? s.c : s.w * s.c, transposed ? s.h * s.c : s.c, 1};
        ProgramInput in[4] = {{.data = x.data(), .strides = {xs[0], xs[1], xs[2], 1}},
                              {.data = w.data(), .strides = {0, 0, 0, 1}},
                              {.data = b.data(), .strides = {s.c, 0, 0, 1}},
                              {.data = limit.data(), .strides = {}}};
        const ProgramOutput out[] = {{.data = y.data(), .strides = {s.h * s.w * s.c, s.w * s.c, s.c, 1}, .value = 8},
                                     {.data = z.data(), .strides = {1, s.n * s.w * s.c, s.n * s.c, s.n}, .value = 7}};
        run(isa, {.steps = steps,
                  .step_count = 5,
                  .inputs = in,
                  .input_count = 4,
                  .outputs = out,
                  .output_count = 2,
                  .rank = 4,
                  .dims = {s.n, s.h, s.w, s.c}});
        for (int64_t n = 0; n < s.n; ++n)
          for (int64_t i = 0; i < s.h; ++i)
            for (int64_t j = 0; j < s.w; ++j)
              for (int64_t c = 0; c < s.c; ++c) {
                const float v = x[at(n * xs[0] + i * xs[1] + j * xs[2] + c)];
                const double want =
                    v < limit[0] ? double{v} * double{w[at(c)]} + double{b[at(n * s.c + c)]} : std::tanh(double{v});
                ASSERT_NEAR(y[at(((n * s.h + i) * s.w + j) * s.c + c)], want, 1e-6);
                ASSERT_EQ(z[at(n + s.n * (c + s.c * (j + s.w * i)))], v * w[at(c)]);
              }
      }
}

TEST(Program, may_write_over_its_input) {
  for (Isa isa : isas_here()) {
    std::vector<float> x = random_floats(2000, 1);
    const std::vector<float> before = x;
    const ProgramStep steps[] = {{.op = Primitive::kMulConstant, .a = 0, .alpha = 2},
                                 {.op = Primitive::kAdd, .a = 1, .b = 0}};
    const ProgramInput in{.data = x.data(), .strides = {1}};
    const ProgramOutput out{.data = x.data(), .strides = {1}, .value = 2};
    run(isa, {.steps = steps,
              .step_count = 2,
              .inputs = &in,
              .input_count = 1,
              .outputs = &out,
              .output_count = 1,
              .dims = {2000}});
    for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], before[i] * 2 + before[i]);
  }
}

}  // namespace
}  // namespace nereid::kernels
