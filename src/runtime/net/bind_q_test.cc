// SPDX-License-Identifier: Apache-2.0
// Quantised layers on kernels against their evaluators, on every instruction set this machine has: no step falls back,
// codes differ by one at most (halves), numbers by rounding.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "graph/evaluate.h"
#include "graph/text.h"
#include "ops/elements.h"
#include "runtime/net/context.h"

namespace nereid::runtime {
namespace {

std::vector<double> whole(int64_t n, int low, int high, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> draw(low, high);
  std::vector<double> out(static_cast<size_t>(n));
  for (double& v : out) v = draw(random);
  return out;
}

ops::Tensor fill(const ops::TensorType& type, unsigned seed) {
  const std::vector<int64_t> sizes = type.shape.sizes();
  const int64_t n = *type.shape.elements();
  if (type.dtype == DType::u8) return ops::Tensor::of(type.dtype, sizes, whole(n, 0, 255, seed));
  if (type.dtype == DType::i8) return ops::Tensor::of(type.dtype, sizes, whole(n, -128, 127, seed));
  std::vector<double> numbers = whole(n, -1000, 1000, seed);
  for (double& v : numbers) v /= 300;
  return ops::Tensor::of(type.dtype, sizes, numbers);
}

// Constants without numbers and inputs get random ones.
void check(std::string_view text) {
  auto parsed = graph::parse(text);
  ASSERT_TRUE(parsed.is_ok()) << parsed.status().message();
  graph::Graph g = std::move(parsed).value();
  std::vector<std::shared_ptr<ops::Tensor>> kept;
  unsigned seed = 1;
  for (graph::ValueId id : g.constants()) {
    if (!g.value(id).data.parts.empty()) continue;
    kept.push_back(std::make_shared<ops::Tensor>(fill(g.value(id).type, ++seed)));
    g.bind_constant(id, {.parts = {std::as_const(*kept.back()).view()}});
  }
  std::map<std::string, ops::Datum, std::less<>> inputs;
  for (graph::ValueId id : g.inputs()) inputs.emplace(g.value(id).name, fill(g.value(id).type, ++seed));
  const auto expected = graph::evaluate_any(g, inputs);
  ASSERT_TRUE(expected.is_ok()) << expected.status().message();
  for (Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512, Isa::amx}) {
    if (isa > best_isa(read_cpu_info()).value()) continue;
    for (int threads : {1, 3}) {
      ThreadPool pool({.threads = threads});
      const auto network = Network::create(g, nullptr, isa);
      const auto context = NetContext::create(network, pool);
      for (size_t i = 0; i < g.inputs().size(); ++i)
        ASSERT_TRUE(context->set_input(i, inputs.at(g.value(g.inputs()[i]).name)).is_ok());
      const Status done = context->run();
      ASSERT_TRUE(done.is_ok()) << done.message();
      EXPECT_TRUE(context->notes().empty()) << context->notes()[0];
      for (size_t o = 0; o < expected->size(); ++o) {
        const auto want = ops::load<double>((*expected)[o].view()),
                   got = ops::load<double>(context->output_value(o).view());
        double largest = 0;
        for (double v : want) largest = std::max(largest, std::abs(v));
        const double error = is_integer((*expected)[o].view().dtype) ? 1 : 2e-6 * largest;
        for (int64_t i = 0; i < want.size(); ++i)
          ASSERT_NEAR(want[i], got[i], error) << isa_name(isa) << ", result " << o << ", element " << i;
      }
    }
  }
}

TEST(Quantised, convolutions_of_codes_give_codes_or_numbers) {
  for (const char* window : {"pads=[1, 1, 1, 1]", "strides=[2, 2]", "pads=[0, 1, 1, 0], dilations=[2, 2]"})
    for (const char* type : {"u8", "i8"})
      check(fmt::format(R"(graph main {{
        input %x: {0}[2, 9, 13, 8]
        const %w: i8[20, 8, 3, 3]
        const %xs: f32[] = [0.01]
        const %xz: {0}[] = [7]
        const %ws: f32[20]
        const %b: f32[20]
        const %ys: f32[] = [2.5]
        const %yz: u8[] = [100]
        %y = conv_last_q(%x, %w, %xs, %ws, %xz, %b, _, _, _, _, _, %ys, %yz) {{activation="relu", {1}}}
        %z = conv_last_q(%x, %w, %xs, %ws, %xz, _) {{activation="clip", alpha=-9.0, beta=20.0, {1}}}
        output %y, %z
      }})",
                        type, window));
}

TEST(Quantised, images_of_three_colours_and_depthwise_windows) {
  check(R"(graph main {
    input %x: u8[1, 20, 22, 3]
    const %w: i8[16, 3, 7, 7]
    const %d: i8[16, 1, 3, 3]
    const %s: f32[] = [0.01]
    const %z: u8[] = [120]
    const %ws: f32[16]
    const %t: f32[] = [8.0]
    %a = conv_last_q(%x, %w, %s, %ws, %z, _, _, _, _, _, _, %t, %z) {pads=[3, 3, 3, 3], strides=[2, 2]}
    %b = conv_last_q(%a, %d, %s, %ws, %z, _, _, _, _, _, _, %t, %z) {group=16, pads=[1, 1, 1, 1], activation="clip", alpha=0.0, beta=6.0}
    %y = conv_last_q(%a, %d, %s, %ws, %z, _) {group=16, pads=[1, 1, 1, 1], strides=[2, 2]}
    output %b, %y
  })");
}

TEST(Quantised, products_add_residuals_of_codes_after_their_own_rounding) {
  for (const char* last : {"true", "false"})
    check(fmt::format(R"(graph main {{
      input %x: u8[7, 30]
      input %r: u8[7, 40]
      input %f: f32[7, 40]
      const %w: i8[30, 40]
      const %s: f32[] = [0.003]
      const %z: u8[] = [100]
      const %ws: f32[1] = [0.7]
      const %t: f32[] = [0.9]
      const %q: f32[] = [1.1]
      %a = dense_q(%x, %w, %s, %ws, %z, _, %r, %t, %z, %q, %z, %t, %z) {{activation="relu", residual_last={0}}}
      %b = dense_q(%x, %w, %s, %ws, %z, _, %f, _, _, _, _, %t, %z) {{activation="silu", residual_last={0}}}
      %y = dense_q(%x, %w, %s, %ws, %z, _, %r, %t, %z) {{activation="gelu", scale=0.5, shift=1.0}}
      output %a, %b, %y
    }})",
                      last));
}

// The residual is read where the result is written, and nobody reads it later.
TEST(Quantised, results_may_take_their_residuals_place_and_codes_are_looked_up) {
  std::string map;
  for (int i = 0; i < 256; ++i) map += fmt::format("{}{}", i ? ", " : "", i < 90 ? 90 : i > 200 ? 200 : i);
  check(fmt::format(R"(graph main {{
    input %x: u8[2, 9, 14, 12]
    const %w: i8[40, 12, 1, 1]
    const %v: i8[12, 40, 3, 3]
    const %d: i8[40, 1, 3, 3]
    const %s: f32[] = [0.003]
    const %z: u8[] = [100]
    const %ws: f32[1] = [0.3]
    const %t: f32[] = [0.9]
    const %m: u8[256] = [{}]
    %a = conv_last_q(%x, %w, %s, %ws, %z, _, _, _, _, _, _, %t, %z, %m)
    %b = conv_last_q(%a, %v, %s, %ws, %z, _, _, _, _, _, _, %t, %z) {{pads=[1, 1, 1, 1], activation="relu"}}
    %c = conv_last_q(%b, %w, %s, %ws, %z, _, %a, %t, %z, %t, %z, %t, %z, %m)
    %y = conv_last_q(%c, %d, %s, %ws, %z, _, _, _, _, _, _, %t, %z, %m) {{group=40, pads=[1, 1, 1, 1]}}
    output %y
  }})",
                    map));
}

TEST(Quantised, scales_may_be_known_only_in_a_run) {
  check(R"(graph main {
    input %x: f32[5, 24]
    const %w: i8[24, 20]
    const %ws: f32[20]
    const %b: f32[20]
    %q: u8[5, 24], %s: f32[], %z: u8[] = dynamic_quantize_linear(%x)
    %y = dense_q(%q, %w, %s, %ws, %z, %b)
    output %y
  })");
  check(R"(graph main {
    input %x: f32[1, 6, 6, 4]
    const %w: i8[16, 4, 3, 3]
    const %ws: f32[16]
    %q: u8[1, 6, 6, 4], %s: f32[], %z: u8[] = dynamic_quantize_linear(%x)
    %y = conv_last_q(%q, %w, %s, %ws, %z) {pads=[1, 1, 1, 1]}
    output %y
  })");
}

TEST(Quantised, pools_and_programs_of_codes) {
  check(R"(graph main {
    input %x: u8[2, 9, 9, 20]
    %m = pool_last(%x) {kind="max", kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2]}
    %a = pool_last(%x) {kind="average", kernel_shape=[2, 2]}
    %g = global_pool_last(%x) {kind="average"}
    %p = program(%x) {dtype="i8", steps=["add_constant 0 -128.0", "mul_constant 1 0.7"]}
    %t = transpose(%p) {permutation=[0, 3, 1, 2]}
    output %m, %a, %g, %t
  })");
  check(R"(graph main {
    input %x: u8[2, 3, 50, 7]
    %y = transpose(%x) {permutation=[0, 2, 3, 1]}
    output %y
  })");
}

}  // namespace
}  // namespace nereid::runtime
