// SPDX-License-Identifier: Apache-2.0
// Language models on a real GPU, against the CPU with nothing rounded but the weights (--exact): logits within what f16
// activations cost, and the same best token but for near ties. Skipped where there is no GPU or no plugin.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "base/test_dir.h"
#include "compile/engine_cache.h"
#include "compile/random_checkpoint.h"
#include "llm/run/language_model.h"
#include "runtime/device/device_accelerator.h"

namespace nereid::llm {
namespace {

// Heads of 64, as the GPU's kernels want them; two layers that see windows and four that do not for gemma3.
constexpr const char* kConfigs[] = {
    R"({"architectures":["LlamaForCausalLM"],"hidden_size":256,"intermediate_size":512,"num_hidden_layers":3,
        "num_attention_heads":4,"num_key_value_heads":2,"vocab_size":1000,"rms_norm_eps":1e-5,
        "max_position_embeddings":2048,"tie_word_embeddings":false,"torch_dtype":"float16"})",
    R"({"architectures":["LlamaForCausalLM"],"hidden_size":256,"intermediate_size":704,"num_hidden_layers":2,
        "num_attention_heads":8,"num_key_value_heads":2,"head_dim":128,"vocab_size":2000,"rms_norm_eps":1e-5,
        "max_position_embeddings":2048,"tie_word_embeddings":true,"torch_dtype":"bfloat16"})",
    R"({"architectures":["Qwen2ForCausalLM"],"hidden_size":320,"intermediate_size":512,"num_hidden_layers":2,
        "num_attention_heads":5,"num_key_value_heads":1,"vocab_size":1000,"rms_norm_eps":1e-6,
        "max_position_embeddings":2048,"tie_word_embeddings":true,"torch_dtype":"float16"})",
    R"({"architectures":["Qwen3ForCausalLM"],"hidden_size":256,"intermediate_size":512,"num_hidden_layers":2,
        "num_attention_heads":4,"num_key_value_heads":2,"head_dim":64,"vocab_size":1000,"rms_norm_eps":1e-6,
        "max_position_embeddings":2048,"tie_word_embeddings":true,"torch_dtype":"float16"})",
    R"({"architectures":["Gemma3ForCausalLM"],"model_type":"gemma3_text","hidden_size":256,"intermediate_size":512,
        "num_hidden_layers":6,"num_attention_heads":4,"num_key_value_heads":1,"head_dim":64,"vocab_size":1000,
        "rms_norm_eps":1e-6,"max_position_embeddings":2048,"sliding_window":48,"query_pre_attn_scalar":64,
        "rope_local_base_freq":10000.0,"rope_theta":1000000.0,"hidden_activation":"gelu_pytorch_tanh",
        "torch_dtype":"float16"})"};

std::vector<float> logits_of(LanguageModel& m, std::span<const int32_t> tokens, std::span<const int32_t> positions,
                             std::span<const int32_t> sequences) {
  std::vector<int32_t> rows(tokens.size());
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int32_t>(i);
  const Status s = m.step({tokens, positions, sequences, rows});
  EXPECT_TRUE(s.is_ok()) << s.message();
  std::vector<float> out;
  for (size_t i = 0; i < rows.size() && s.is_ok(); ++i) {
    const auto row = m.logits(static_cast<int64_t>(i));
    out.insert(out.end(), row.begin(), row.end());
  }
  return out;
}

// ||a - b|| / ||b||
double distance(std::span<const float> a, std::span<const float> b) {
  double difference = 0, size = 0;
  for (size_t i = 0; i < b.size(); ++i) {
    difference += std::pow(static_cast<double>(a[i]) - b[i], 2);
    size += std::pow(static_cast<double>(b[i]), 2);
  }
  return std::sqrt(difference / size);
}

struct Steps {
  std::vector<std::vector<int32_t>> tokens, positions, sequences;
};
// A prompt of 150, one of 40 beside a token of the first, then both token by token.
Steps steps_of(int64_t vocab) {
  Steps s;
  int32_t next[2] = {0, 0};
  const auto add = [&](std::initializer_list<std::pair<int32_t, int32_t>> parts) {
    std::vector<int32_t> tokens, positions, sequences;
    for (const auto& [sequence, count] : parts)
      for (int32_t i = 0; i < count; ++i) {
        const int32_t at = next[sequence]++;
        tokens.push_back(static_cast<int32_t>((at * 7919 + sequence * 104729 + 13) % vocab));
        positions.push_back(at);
        sequences.push_back(sequence);
      }
    s.tokens.push_back(tokens);
    s.positions.push_back(positions);
    s.sequences.push_back(sequences);
  };
  add({{0, 150}});
  add({{0, 1}, {1, 40}});
  for (int i = 0; i < 6; ++i) add({{0, 1}, {1, 1}});
  for (int i = 0; i < 4; ++i) add({{1, 1}});
  return s;
}

void expect_agreement(const std::string& path, double tolerance) {
  Result<std::shared_ptr<runtime::Accelerator>> gpu = runtime::open_accelerator("cuda");
  if (!gpu.is_ok()) GTEST_SKIP() << gpu.status().message();
  ThreadPool pool;
  const compile::OpenedEngine engine = compile::open_engine(path, {}, pool).value();
  const compile::OpenedEngine exact = compile::open_engine(path, {.exact = true}, pool).value();
  LoadOptions options{
      .isa = best_isa(read_cpu_info()).value(), .max_sequences = 2, .step_tokens = 256, .max_outputs = 256};
  const std::unique_ptr<LanguageModel> cpu = LanguageModel::load(exact.file, options, pool).value();
  options.accelerator = std::move(gpu).value();
  Result<std::unique_ptr<LanguageModel>> on_gpu = LanguageModel::load(engine.file, options, pool);
  ASSERT_TRUE(on_gpu.is_ok()) << on_gpu.status().message();
  const Steps steps = steps_of(cpu->vocab());
  int64_t rows = 0, parted = 0;
  for (size_t i = 0; i < steps.tokens.size(); ++i) {
    const auto want = logits_of(*cpu, steps.tokens[i], steps.positions[i], steps.sequences[i]);
    const auto got = logits_of(**on_gpu, steps.tokens[i], steps.positions[i], steps.sequences[i]);
    ASSERT_EQ(got.size(), want.size());
    EXPECT_LT(distance(got, want), tolerance) << "step " << i;
    const auto vocab = static_cast<size_t>(cpu->vocab());
    for (size_t at = 0; at < want.size(); at += vocab, ++rows) {
      const auto a = std::span(got).subspan(at, vocab), b = std::span(want).subspan(at, vocab);
      const auto best = std::max_element(a.begin(), a.end()) - a.begin();
      const float top = *std::max_element(b.begin(), b.end());
      parted += b[static_cast<size_t>(best)] != top;
      EXPECT_GE(b[static_cast<size_t>(best)], top - 0.03F * std::abs(top)) << "step " << i << " row " << at / vocab;
    }
  }
  std::printf("  %s: %lld rows, %lld part at near ties\n", path.c_str(), static_cast<long long>(rows),
              static_cast<long long>(parted));
}

TEST(GpuModel, agrees_with_the_exact_cpu_on_random_models_of_all_architectures) {
  for (const char* config : kConfigs) {
    const TestDir dir;
    ::setenv("NEREID_CACHE_DIR", dir.path().c_str(), 1);
    std::ofstream(dir / "config.json") << config;
    ThreadPool pool;
    const Status written =
        compile::write_random_checkpoint({.config_path = dir / "config.json", .folder = dir / "m", .seed = 7}, pool);
    ASSERT_TRUE(written.is_ok()) << written.message();
    // bf16 has 8 bits where f16 has 11; gemma3 has twice the layers, and norms that double what they get.
    const std::string_view c = config;
    const bool is_bf16 = c.find("bfloat16") != c.npos, is_gemma = c.find("Gemma3") != c.npos;
    expect_agreement(dir / "m", is_bf16 ? 0.03 : is_gemma ? 0.015 : 0.006);
    if (IsSkipped()) return;
  }
}

// A model's own file, by its path in NEREID_GPU_TEST_MODEL.
TEST(GpuModel, agrees_with_the_exact_cpu_on_a_real_model) {
  const char* path = std::getenv("NEREID_GPU_TEST_MODEL");
  if (path == nullptr) GTEST_SKIP() << "NEREID_GPU_TEST_MODEL names no model";
  expect_agreement(path, 0.02);
}

}  // namespace
}  // namespace nereid::llm
