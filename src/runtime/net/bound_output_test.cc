// SPDX-License-Identifier: Apache-2.0
// Outputs in the caller's memory, and runs that are stopped.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <numeric>

#include "graph/text.h"
#include "runtime/net/context.h"

namespace nereid::runtime {
namespace {

class Bound : public ::testing::Test {
 protected:
  void open(std::string_view text) {
    Result<graph::Graph> graph = graph::parse(text);
    ASSERT_TRUE(graph.is_ok()) << graph.status().message();
    network_ = Network::create(std::move(graph).value(), nullptr, best_isa(read_cpu_info()).value());
    context_ = NetContext::create(network_, pool_);
  }
  void give(size_t index, const std::vector<float>& values, std::vector<int64_t> sizes) {
    ASSERT_TRUE(context_->set_input(index, ConstTensorView(values.data(), DType::f32, std::move(sizes))).is_ok());
  }
  void bind(size_t index, std::vector<float>& memory) {
    context_->bind_output(index, std::as_writable_bytes(std::span(memory)));
  }
  void run() {
    const Status s = context_->run();
    ASSERT_TRUE(s.is_ok()) << s.message();
  }
  std::vector<float> output(size_t index) const {
    const ConstTensorView v = context_->output(index);
    return {v.as<float>(), v.as<float>() + v.elements()};
  }

  ThreadPool pool_{{.threads = 2}};
  std::shared_ptr<const Network> network_;
  std::unique_ptr<NetContext> context_;
};

constexpr std::string_view kDouble = R"(graph main {
  input %x: f32[n]
  %y: f32[n] = add(%x, %x)
  output %y
})";

TEST_F(Bound, the_last_kernel_writes_into_the_callers_memory) {
  open(kDouble);
  std::vector<float> x = {1, 2, 3}, y(5, -1), z(3, -1);
  give(0, x, {3});
  bind(0, y);
  run();
  EXPECT_EQ(context_->output(0).data, y.data());
  EXPECT_EQ(y, (std::vector<float>{2, 4, 6, -1, -1}));
  bind(0, z);
  x = {5, 6, 7};
  run();
  EXPECT_EQ(z, (std::vector<float>{10, 12, 14}));
  EXPECT_EQ(y, (std::vector<float>{2, 4, 6, -1, -1})) << "the run before last owned it";
  context_->bind_output(0, {});
  x = {0, 0, 1};
  run();
  EXPECT_EQ(output(0), (std::vector<float>{0, 0, 2}));
  EXPECT_EQ(z, (std::vector<float>{10, 12, 14}));
}

TEST_F(Bound, other_sizes_keep_the_binding) {
  open(kDouble);
  std::vector<float> x = {1, 2, 3}, y(3);
  bind(0, y);
  for (const int64_t n : {3, 1, 2, 3}) {
    std::ranges::fill(y, -1.0F);
    give(0, x, {n});
    run();
    for (int64_t i = 0; i < 3; ++i)
      EXPECT_EQ(y[static_cast<size_t>(i)], i < n ? 2 * x[static_cast<size_t>(i)] : -1) << n;
  }
}

TEST_F(Bound, memory_that_is_too_small_is_an_error_and_stays_as_it_was) {
  open(kDouble);
  const std::vector<float> x = {1, 2, 3};
  std::vector<float> y(2, -1);
  give(0, x, {3});
  bind(0, y);
  const Status s = context_->run();
  EXPECT_EQ(s.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(s.message(), "the output 'y' is f32[3], which takes 12 bytes; the buffer that is bound to it has 8");
  EXPECT_EQ(y, (std::vector<float>{-1, -1}));
  EXPECT_EQ(output(0), (std::vector<float>{2, 4, 6}));
}

TEST_F(Bound, memory_that_overlaps_an_input_is_written_after_the_input_was_read) {
  open(R"(graph main {
    input %x: f32[4]
    %y: f32[4] = softmax(%x)
    %z: f32[4] = sub(%y, %x)
    output %z, %y
  })");
  std::vector<float> x = {0, 0, 0, 0}, y(4);
  give(0, x, {4});
  bind(0, x);
  bind(1, y);
  run();
  EXPECT_EQ(x, (std::vector<float>{0.25, 0.25, 0.25, 0.25}));
  EXPECT_EQ(y, (std::vector<float>{0.25, 0.25, 0.25, 0.25}));
}

TEST_F(Bound, an_output_that_other_nodes_read_and_another_name_of_it) {
  open(R"(graph main {
    input %x: f32[2, 2]
    const %shape: i64[1] = [4]
    %y: f32[2, 2] = neg(%x)
    %flat: f32[4] = reshape_to(%y, %shape)
    %z: f32[4] = add(%flat, %flat)
    output %flat, %z, %y
  })");
  const std::vector<float> x = {1, 2, 3, 4};
  std::vector<float> flat(4), y(4);
  give(0, x, {2, 2});
  bind(0, flat);
  bind(2, y);
  run();
  EXPECT_EQ(flat, (std::vector<float>{-1, -2, -3, -4}));
  EXPECT_EQ(y, flat);
  EXPECT_EQ(output(1), (std::vector<float>{-2, -4, -6, -8}));
}

TEST_F(Bound, what_no_kernel_writes_is_copied) {
  open(R"(graph main {
    input %c: bool[]
    input %x: f32[2]
    const %k: f32[2] = [7, 8]
    %y: f32[2] = if(%c, %x) {captures=1}
      graph then {
        input %a: f32[2]
        %b: f32[2] = neg(%a)
        output %b
      }
      graph else {
        input %a: f32[2]
        %b: f32[2] = add(%a, %a)
        output %b
      }
    output %y, %x, %k
  })");
  const std::vector<float> x = {1, 2};
  const bool yes = true;
  std::vector<float> y(2), passed(2), constant(2);
  ASSERT_TRUE(context_->set_input(0, ConstTensorView(&yes, DType::boolean, {})).is_ok());
  give(1, x, {2});
  bind(0, y);
  bind(1, passed);
  bind(2, constant);
  run();
  EXPECT_EQ(y, (std::vector<float>{-1, -2}));
  EXPECT_EQ(passed, x);
  EXPECT_EQ(constant, (std::vector<float>{7, 8}));
}

TEST_F(Bound, a_run_that_is_to_stop_ends_as_cancelled_and_the_next_one_is_whole) {
  open(R"(graph main {
    input %x: f32[2]
    %a: f32[2] = neg(%x)
    %b: f32[2] = softmax(%a)
    output %b
  })");
  const std::vector<float> x = {1, 1};
  give(0, x, {2});
  std::atomic<bool> stop = true;
  context_->set_stop(&stop);
  EXPECT_EQ(context_->run().code(), StatusCode::kCancelled);
  stop = false;
  run();
  EXPECT_EQ(output(0), (std::vector<float>{0.5, 0.5}));
}

}  // namespace
}  // namespace nereid::runtime
