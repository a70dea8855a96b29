// SPDX-License-Identifier: Apache-2.0
// Decoders on a device against the reference interpreter: on a fake driver with the kernels as plain loops, so that
// what is tested is how graphs become launches, how runs become buckets, and how faults are told.
#include "runtime/device/device_context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/device/device_accelerator.h"
#include "runtime/device/run_shape.h"
#include "runtime/device/test_kernels.h"
#include "runtime/test_decoder.h"

namespace nereid::runtime {
namespace {

using testing::Decoder;
using testing::DecoderReference;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::test_kernels;
using testing::TestGraph;
using testing::Token;
using testing::Tokens;
using testing::tokens_of;

// A decoder on the fake GPU, with its caches there.
class DeviceDecoder {
 public:
  DeviceDecoder(const TestGraph& g, ThreadPool& pool) {
    accelerator_ = make_accelerator(device::open_cuda_device(driver.table(), 0).value(), test_kernels());
    options_.bounds = {{"tokens", testing::kMaxTokens},
                       {"outputs", testing::kMaxTokens},
                       {"sequences", testing::kSequences},
                       {"pages_per_sequence", testing::kPagesPerSequence},
                       {"pages", testing::kSequences * testing::kPagesPerSequence}};
    program_ = g.program(Isa::baseline, pool);
    for (graph::ValueId id : g.graph.states()) {
      const auto dims = g.graph.value(id).type.shape.dims();
      const int64_t elements =
          testing::kSequences * testing::kPagesPerSequence * dims[1].size() * dims[2].size() * dims[3].size();
      states_.push_back(accelerator_->make_state(elements * 2).value());
      options_.states[g.graph.value(id).name] = states_.back()->data();
    }
    Result<std::unique_ptr<Context>> context = accelerator_->make_context(program_, pool, options_);
    status = context.status();
    if (!context.is_ok()) return;
    context_ = std::move(context).value();
    const std::vector<int32_t> table = testing::DecoderRun::page_table();
    std::copy(table.begin(), table.end(), context_->input<int32_t>("page_table"));
  }

  Status run(const Tokens& tokens) {
    for (size_t t = 0; t < tokens.size(); ++t) {
      context_->input<int32_t>("tokens")[t] = tokens[t].id;
      context_->input<int32_t>("positions")[t] = tokens[t].position;
      context_->input<int32_t>("sequence")[t] = tokens[t].sequence;
      context_->input<int32_t>("output_rows")[t] = static_cast<int32_t>(t);
    }
    for (const char* symbol : {"tokens", "outputs"})
      context_->set_size(context_->symbol(symbol), static_cast<int64_t>(tokens.size()));
    return context_->run();
  }
  std::vector<float> step(const Tokens& tokens, int vocab = 80) {
    const Status s = run(tokens);
    EXPECT_TRUE(s.is_ok()) << s.message();
    std::vector<float> out;
    for (size_t t = 0; t < tokens.size(); ++t) {
      const float* row = context_->output("logits") + static_cast<int64_t>(t) * context_->output_stride("logits");
      out.insert(out.end(), row, row + vocab);
    }
    return out;
  }
  Context& context() { return *context_; }
  StateBuffer& state(size_t i) { return *states_[i]; }

  device::FakeDriver driver{&test_kernels()};
  Status status;

 private:
  std::shared_ptr<Accelerator> accelerator_;
  ContextOptions options_;
  std::shared_ptr<const Program> program_;
  std::vector<std::unique_ptr<StateBuffer>> states_;
  std::unique_ptr<Context> context_;
};

// Activations in f16 through a few layers: the scale of a logit times some units of 2^-11.
void expect_near(const std::vector<float>& got, const std::vector<double>& want, const std::string& what) {
  ASSERT_EQ(got.size(), want.size());
  double largest = 0;
  for (double w : want) largest = std::max(largest, std::abs(w));
  for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], 0.01 * largest) << what << " at " << i;
}

Tokens joined(Tokens a, const Tokens& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(DeviceContext, agrees_with_the_reference_on_decoders_of_all_shapes) {
  const Decoder decoders[] = {
      {},
      {.dtype = "f16"},
      {.dtype = "q8_0"},
      {.dtype = "q4_0", .hidden = 64},
      {.dtype = "q4_1", .activation = "gelu_tanh"},
      {.window = 5, .softcap = 20},
      {.biases = true, .activation = "gelu"},
      {.head_norms = true},
      {.heads = 2, .kv_heads = 1, .head_dim = 32, .page_tokens = 32, .post_norms = true},
  };
  ThreadPool pool({.threads = 2, .pin = false});
  for (const Decoder& d : decoders)
    for (bool fuse : {false, true}) {
      const std::string what = fmt::format("{}{}{}", d.dtype, fuse ? " fused" : "", d.head_norms ? " head norms" : "");
      const TestGraph g(d.text(), fuse);
      DeviceDecoder run(g, pool);
      ASSERT_TRUE(run.status.is_ok()) << what << ": " << run.status.message();
      DecoderReference reference(g.graph, d);
      // A prompt, a few tokens beside another sequence's prompt, tokens one by one: prefill, mixed, decode.
      const Tokens steps[] = {tokens_of(0, 0, 40),
                              joined(tokens_of(0, 40, 3), tokens_of(1, 0, 30)),
                              joined(tokens_of(0, 43, 1), tokens_of(1, 30, 1)),
                              tokens_of(0, 44, 1),
                              tokens_of(0, 45, 1),
                              tokens_of(0, 46, 1)};
      for (const Tokens& step : steps) expect_near(run.step(step), reference.step(step), what);
    }
}

TEST(DeviceContext, runs_of_a_bucket_are_captured_once_and_replayed) {
  const Decoder d;
  const TestGraph g(d.text(), true);
  ThreadPool pool({.threads = 1});
  DeviceDecoder run(g, pool);
  run.step(tokens_of(0, 0, 40));
  EXPECT_EQ(run.driver.launches(), 0);
  run.step(tokens_of(0, 40, 1));  // as it is
  EXPECT_EQ(run.driver.launches(), 0);
  run.step(tokens_of(0, 41, 1));
  run.step(tokens_of(0, 42, 1));
  EXPECT_EQ(run.driver.launches(), 2);
}

TEST(DeviceContext, what_else_is_in_the_bucket_changes_nothing) {
  const Decoder d;
  const TestGraph g(d.text(), true);
  ThreadPool pool({.threads = 1});
  DeviceDecoder alone(g, pool);
  const std::vector<float> prompt = alone.step(tokens_of(0, 0, 11));
  const std::vector<float> next = alone.step(tokens_of(0, 11, 1));
  EXPECT_EQ(alone.step(tokens_of(0, 0, 11)), prompt);
  EXPECT_EQ(alone.step(tokens_of(0, 11, 1)), next);
  const std::vector<float> both = alone.step(joined(tokens_of(0, 11, 1), tokens_of(1, 0, 2)));
  EXPECT_EQ(std::vector<float>(both.begin(), both.begin() + 80), next);
}

TEST(DeviceContext, a_cache_of_another_type_than_the_activations_is_refused) {
  const Decoder d{.dtype = "bf16"};
  const TestGraph g(d.text(), true);
  ThreadPool pool({.threads = 1});
  DeviceDecoder run(g, pool);
  EXPECT_EQ(run.status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(run.status.message(), HasSubstr("--kv-cache-dtype"));
}

TEST(DeviceContext, pages_are_read_written_and_copied) {
  const Decoder d;
  const TestGraph g(d.text(), true);
  ThreadPool pool({.threads = 1});
  DeviceDecoder run(g, pool);
  std::vector<std::byte> page(256, std::byte{5}), other(256);
  EXPECT_TRUE(run.state(0).write(512, page).is_ok());
  EXPECT_TRUE(run.state(0).copy(512, 1024, 256).is_ok());
  EXPECT_TRUE(run.state(0).read(1024, other).is_ok());
  EXPECT_EQ(page, other);
}

TEST(DeviceContext, full_memory_in_a_run_fails_it_and_the_next_one_works) {
  const Decoder d;
  const TestGraph g(d.text(), true);
  ThreadPool pool({.threads = 1});
  DeviceDecoder run(g, pool);
  run.driver.faults.fail_allocate_in = 1;  // attention's workspace
  const Status full = run.run(tokens_of(0, 0, 2));
  EXPECT_EQ(full.code(), StatusCode::kExhausted);
  EXPECT_THAT(full.message(), HasSubstr("use a shorter --context"));
  EXPECT_TRUE(run.run(tokens_of(0, 0, 2)).is_ok());
}

TEST(DeviceContext, full_memory_while_loading_is_told) {
  const TestGraph g(Decoder{}.text(), true);
  ThreadPool pool({.threads = 1});
  device::FakeDriver driver(&test_kernels());
  driver.faults.memory_bytes = 4096;
  const auto accelerator = make_accelerator(device::open_cuda_device(driver.table(), 0).value(), test_kernels());
  EXPECT_EQ(accelerator->make_state(1 << 20).status().code(), StatusCode::kExhausted);
}

TEST(DeviceContext, a_kernel_error_ends_every_later_run_with_the_same_sentence) {
  const TestGraph g(Decoder{}.text(), true);
  ThreadPool pool({.threads = 1});
  DeviceDecoder run(g, pool);
  EXPECT_TRUE(run.run(tokens_of(0, 0, 2)).is_ok());
  run.driver.faults.fail_synchronize_in = 1;
  run.driver.faults.code = 700;
  const Status failed = run.run(tokens_of(0, 2, 1));
  EXPECT_EQ(failed.code(), StatusCode::kInternal);
  EXPECT_THAT(failed.message(), HasSubstr("start anew"));
  EXPECT_EQ(run.run(tokens_of(0, 3, 1)).message(), failed.message());
}

TEST(DeviceContext, a_profile_has_a_time_for_every_launch) {
  const TestGraph g(Decoder{}.text(), true);
  ThreadPool pool({.threads = 1});
  DeviceDecoder run(g, pool);
  const std::vector<float> plain = run.step(tokens_of(0, 0, 5));
  run.context().set_profiling(true);
  EXPECT_EQ(run.step(tokens_of(0, 0, 5)), plain);
  int64_t ns = 0;
  for (const auto& [label, time] : run.context().profile()) ns += time;
  EXPECT_GT(ns, 0);
}

TEST(RunShape, runs_are_tokens_of_one_sequence_at_consecutive_positions) {
  TokenRuns runs;
  const std::vector<int32_t> positions = {4, 5, 6, 9, 0, 1}, sequences = {0, 0, 0, 0, 1, 1};
  find_runs(positions, sequences, &runs);
  EXPECT_THAT(runs.begin, ElementsAre(0, 3, 4, 6));
  EXPECT_EQ(runs.longest, 3);
  EXPECT_EQ(runs.last_position, 9);
  find_runs({}, {}, &runs);
  EXPECT_EQ(runs.count(), 0);
}

TEST(RunShape, buckets_hold_what_they_are_for_and_waste_little) {
  for (int64_t n = 1; n <= 512; ++n) {
    const int64_t bucket = row_bucket(n, 512);
    ASSERT_GE(bucket, n);
    ASSERT_LE(bucket, std::max<int64_t>(n + n / 4, 8)) << n;
  }
  EXPECT_EQ(row_bucket(0, 512), 0);
  EXPECT_EQ(row_bucket(1, 512), 1);
  EXPECT_EQ(row_bucket(100, 100), 100);
  EXPECT_EQ(position_bucket(1, 8192), 256);
  EXPECT_EQ(position_bucket(257, 8192), 512);
  EXPECT_EQ(position_bucket(5000, 6000), 6000);
}

}  // namespace
}  // namespace nereid::runtime
