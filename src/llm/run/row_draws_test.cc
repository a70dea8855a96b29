// SPDX-License-Identifier: Apache-2.0
// Tokens drawn where the logits lie are those that the sampler draws from the same logits with the same seed: on a fake
// driver with the kernel as a plain loop, and on a GPU where there is one.
#include "llm/run/row_draws.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>

#include "device/cuda/cuda_device.h"
#include "device/cuda/fake_driver.h"
#include "runtime/device/device_drawer.h"
#include "runtime/device/test_kernels.h"

namespace nereid::llm {
namespace {

namespace gpu = kernels::cuda;

using sample::SamplingParams;

constexpr int32_t kEnd = 2;

struct Rule {
  const char* name;
  SamplingParams params;
};

std::vector<Rule> rules() {
  const auto with = [](auto set) {
    SamplingParams p;
    p.temperature = 0.8F;
    set(p);
    return p;
  };
  return {
      {"greedy", {}},
      {"greedy with log-probabilities", with([](auto& p) { p.temperature = 0, p.logprobs = 5; })},
      {"temperature", with([](auto&) {})},
      {"high temperature, log-probability", with([](auto& p) { p.temperature = 1.7F, p.logprobs = 0; })},
      {"top_k", with([](auto& p) { p.top_k = 40; })},
      {"top_k of one", with([](auto& p) { p.top_k = 1; })},
      {"the largest top_k", with([](auto& p) { p.top_k = 256, p.temperature = 1; })},
      {"top_k, top_p, min_p", with([](auto& p) { p.top_k = 50, p.top_p = 0.9F, p.min_p = 0.02F, p.logprobs = 20; })},
      {"top_p", with([](auto& p) { p.top_p = 0.7F; })},
      {"a small top_p", with([](auto& p) { p.top_p = 0.01F; })},
      {"top_p, min_p", with([](auto& p) { p.top_p = 0.9F, p.min_p = 0.01F; })},
      {"min_p", with([](auto& p) { p.min_p = 0.05F; })},
      {"the greatest min_p", with([](auto& p) { p.min_p = 1; })},
      {"penalties",
       with([](auto& p) { p.repetition_penalty = 1.3F, p.frequency_penalty = 0.4F, p.presence_penalty = 1; })},
      {"penalties of all", with([](auto& p) { p.temperature = 0, p.frequency_penalty = 3, p.penalty_last_n = -1; })},
      {"bias", with([](auto& p) {
         p.logit_bias = {{7, 9.5F}, {0, 0.0F}, {11, -INFINITY}}, p.logprobs = 3;
       })},
      {"no end", with([](auto& p) {
         p.ignore_eos = 1, p.logit_bias = {{kEnd, 30.0F}};
       })},
      {"allowed tokens", with([](auto& p) {
         p.allowed_token_ids = {3, 64, 95, 96, 200};
       })},
      {"allowed tokens, top_k, bias", with([](auto& p) {
         p.allowed_token_ids = {3, 64, 95, 96, 200}, p.top_k = 3, p.repetition_penalty = 2, p.logit_bias = {{96, 4.0F}};
       })},
  };
}

struct Rows {
  int64_t count = 0, vocab = 0, stride = 0;
  std::vector<float> logits;
  std::span<float> row(int64_t r) {
    return std::span(logits).subspan(static_cast<size_t>(r * stride), static_cast<size_t>(vocab));
  }
};

// Smooth, sharp and flat rows; equal logits; infinities and no numbers; one without any token.
Rows make_rows(int64_t vocab, uint32_t seed) {
  Rows rows{.count = 8, .vocab = vocab, .stride = (vocab + 7) / 8 * 8, .logits = {}};
  rows.logits.assign(static_cast<size_t>(rows.count * rows.stride), 1e30F);
  std::mt19937 random(seed);
  for (int64_t r = 0; r < rows.count; ++r) {
    std::normal_distribution<float> normal(0, r == 1 ? 6.0F : r == 2 ? 0.3F : 2.5F);
    for (float& x : rows.row(r)) {
      x = normal(random);
      if (r == 3) x = std::round(x);
      if (r == 4 && random() % 5 == 0) x = -std::numeric_limits<float>::infinity();
      if (r == 4 && random() % 7 == 0) x = std::numeric_limits<float>::quiet_NaN();
      if (r == 6) x = -std::numeric_limits<float>::infinity();
    }
    if (r == 5) rows.row(r)[static_cast<size_t>(vocab) / 2] = std::numeric_limits<float>::infinity();
  }
  return rows;
}

void expect_close(float got, float want, const std::string& what) {
  if (got != want) {  // infinities are
    EXPECT_NEAR(got, want, 2e-5 * (1 + std::abs(want))) << what;
  }
}

struct Drawn {
  int64_t same = 0, left = 0;  // left: to be drawn from the logits
};

void expect_same_draws(device::Device& device, const gpu::KernelTable& kernels, int64_t vocab, Drawn* all) {
  Rows rows = make_rows(vocab, static_cast<uint32_t>(vocab));
  device::Stream stream = device.make_stream().value();
  const auto bytes = static_cast<int64_t>(rows.logits.size() * 4);
  const device::Memory logits = device.allocate(bytes).value();
  ASSERT_TRUE(device.copy(logits.data(), rows.logits.data(), bytes, device::Direction::kToDevice, stream).is_ok());
  runtime::DeviceDrawer drawer(device, kernels, stream);
  const std::vector<int32_t> history = {5, 9, 9, 64, 200, 5, 5, 17};
  for (uint64_t seed = 0; seed < 6; ++seed) {
    struct Case {
      std::string name;
      sample::Sampler sampler;
      int64_t row;
      int32_t draw;
    };
    std::vector<Case> cases;
    RowDraws draws;
    for (const Rule& rule : rules())
      for (int64_t r = 0; r < rows.count; ++r) {
        SamplingParams params = rule.params;
        params.seed = 1000 * seed + static_cast<uint64_t>(r);
        Case one{fmt::format("{}, row {}, seed {}, {} tokens", rule.name, r, params.seed, vocab),
                 sample::Sampler::make(params, {kEnd}).value(), r, -1};
        sample::RemoteDraw draw;
        ASSERT_TRUE(one.sampler.describe(history, RowDraws::kLimits, &draw)) << rule.name;
        one.draw = draws.add(draw, {}, static_cast<int32_t>(r), static_cast<size_t>(vocab));
        cases.push_back(std::move(one));
      }
    // Blocks edit their row's logits: one row at a time, as a step has it.
    const runtime::DrawRequest request = draws.request();
    for (const Case& c : cases) {
      runtime::DrawRequest own = request;
      own.rules = request.rules.subspan(static_cast<size_t>(c.draw), 1);
      ASSERT_TRUE(drawer.draw(own, logits.as<float>(), rows.stride, vocab).is_ok());
      ASSERT_TRUE(device.synchronize(stream).is_ok());
      const runtime::DrawnRows drawn = drawer.drawn();
      std::vector<float> scratch(rows.row(c.row).begin(), rows.row(c.row).end());
      sample::Sampler sampler = c.sampler;
      const Result<sample::SampleResult> want = sampler.sample(scratch, history);
      const int32_t token = drawn.tokens[0];
      if (token < 0) {
        ++all->left;
        continue;
      }
      ASSERT_TRUE(want.is_ok()) << c.name << ": " << want.status().message();
      ++all->same;
      EXPECT_EQ(token, want->token) << c.name;
      if (token != want->token || own.rules[0].logprobs < 0) continue;
      expect_close(drawn.logprobs[0], want->logprob, c.name);
      for (size_t i = 0; i < want->top.size(); ++i) {
        EXPECT_EQ(drawn.top_tokens[i], want->top[i].token) << c.name << " place " << i;
        expect_close(drawn.top_logprobs[i], want->top[i].logprob, c.name);
      }
    }
  }
  // What was edited is as it was.
  std::vector<float> after(rows.logits.size());
  ASSERT_TRUE(device.copy(after.data(), logits.data(), bytes, device::Direction::kToHost, stream).is_ok());
  ASSERT_TRUE(device.synchronize(stream).is_ok());
  EXPECT_EQ(std::memcmp(after.data(), rows.logits.data(), static_cast<size_t>(bytes)), 0);
}

TEST(RowDraws, are_the_samplers_on_a_fake_device) {
  device::FakeDriver driver(&runtime::testing::test_kernels());
  const std::unique_ptr<device::Device> device = device::open_cuda_device(driver.table(), 0).value();
  Drawn all;
  for (int64_t vocab : {201, 1000}) expect_same_draws(*device, runtime::testing::test_kernels(), vocab, &all);
  EXPECT_GT(all.same, 6 * all.left) << "of " << all.same << " and " << all.left;
}

TEST(RowDraws, are_the_samplers_on_a_gpu) {
  const Result<const NereidCudaTable*> table = device::load_cuda_plugin();
  if (!table.is_ok()) GTEST_SKIP() << table.status().message();
  Result<std::unique_ptr<device::Device>> device = device::open_cuda_device(**table, 0);
  if (!device.is_ok()) GTEST_SKIP() << device.status().message();
  Drawn all;
  for (int64_t vocab : {201, 1000, 49152, 128256})
    expect_same_draws(**device, *static_cast<const gpu::KernelTable*>((*table)->kernels), vocab, &all);
  std::printf("  %lld draws, %lld left to the logits\n", static_cast<long long>(all.same),
              static_cast<long long>(all.left));
  EXPECT_GT(all.same, 4 * all.left);
}

TEST(RowDraws, what_needs_the_whole_row_is_left_to_the_logits) {
  for (const char* name : {"mirostat", "dry_multiplier", "no_repeat_ngram_size"}) {
    SamplingParams params;
    params.temperature = 1;
    params.dry_sequence_breakers.clear();
    ASSERT_TRUE(sample::set(&params, name, 2).is_ok());
    sample::RemoteDraw draw;
    EXPECT_FALSE(sample::Sampler::make(params).value().describe({}, RowDraws::kLimits, &draw)) << name;
  }
  SamplingParams params;
  params.top_k = 257;
  sample::RemoteDraw draw;
  EXPECT_FALSE(sample::Sampler::make(params).value().describe({}, RowDraws::kLimits, &draw));
}

}  // namespace
}  // namespace nereid::llm
