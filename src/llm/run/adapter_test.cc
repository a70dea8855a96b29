// SPDX-License-Identifier: Apache-2.0
// Adapters in steps of the model: against what PEFT computes, alone and mixed, from every form of the base model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "llm/run/generate.h"
#include "llm/run/tiny_adapter.h"

namespace nereid::llm {
namespace {

using testing::AdaptersExpected;
using ::testing::HasSubstr;
using testing::kTinyAdapters;
using testing::tiny_adapter;
using testing::tiny_adapter_path;
using testing::tiny_adapters_expected;
using testing::tiny_path;
using testing::TinyModel;

constexpr const char* kTinyModels[] = {"tiny-llama", "tiny-qwen2", "tiny-qwen3", "tiny-gemma3"};

struct Row {
  std::span<const int32_t> tokens;
  const runtime::Adapter* adapter;
  int32_t sequence;
  int32_t first = 0;
};

// The rows' tokens in one step; the logits of each row's last token.
std::vector<std::vector<float>> run(LanguageModel& m, const std::vector<Row>& rows) {
  std::vector<int32_t> tokens, positions, sequences, outputs;
  std::vector<const runtime::Adapter*> adapters;
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.tokens.size(); ++i) {
      tokens.push_back(row.tokens[i]);
      positions.push_back(row.first + static_cast<int32_t>(i));
      sequences.push_back(row.sequence);
      adapters.push_back(row.adapter);
    }
    outputs.push_back(static_cast<int32_t>(tokens.size()) - 1);
  }
  const Status s = m.step({tokens, positions, sequences, outputs, adapters});
  EXPECT_TRUE(s.is_ok()) << s.message();
  std::vector<std::vector<float>> logits;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::span<float> row = m.logits(static_cast<int64_t>(i));
    logits.emplace_back(row.begin(), row.end());
  }
  return logits;
}

std::vector<Isa> isas_here() {
  static const Isa kBest = best_isa(read_cpu_info()).value();
  std::vector<Isa> out;
  for (Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512, Isa::amx})
    if (isa <= kBest) out.push_back(isa);
  return out;
}

// The caches hold halves, the matrices of the GGUF files are halves, and the oracle computes in f32.
TEST(Adapters, compute_what_peft_computes_from_both_formats_on_every_instruction_set) {
  for (const char* name : kTinyModels) {
    const AdaptersExpected e = tiny_adapters_expected(name);
    for (const char* ending : {".gguf", ""}) {
      ThreadPool pool({.threads = 2, .pin = false});
      const TestDir cache;
      ::setenv("NEREID_CACHE_DIR", cache.path().c_str(), 1);
      const engine::EngineFile file = compile::open_engine(tiny_path(name) + ending, {}, pool).value().file;
      for (Isa isa : isas_here()) {
        auto model = LanguageModel::load(file, {.isa = isa}, pool).value();
        for (const auto& [adapter, expected] : e.adapters) {
          const std::string what = fmt::format("{}{} with '{}' on {}", name, ending, adapter, isa_name(isa));
          const auto loaded = tiny_adapter(*model, name, adapter);
          std::vector<float> logits = run(*model, {{e.prompt_tokens, loaded.get(), 0}})[0];
          const float largest =
              std::abs(*std::ranges::max_element(expected.logits, {}, [](float v) { return std::abs(v); }));
          for (size_t i = 0; i < logits.size(); ++i)
            ASSERT_NEAR(logits[i], expected.logits[i], 6e-3F * largest) << what << " at " << i;
          auto first = static_cast<int32_t>(e.prompt_tokens.size());
          for (const int32_t want : expected.greedy_tokens) {
            const auto got = static_cast<size_t>(std::ranges::max_element(logits) - logits.begin());
            ASSERT_LT(logits[got] - logits[static_cast<size_t>(want)], 6e-3F * largest) << what << " token " << first;
            logits = run(*model, {{{&want, 1}, loaded.get(), 0, first++}})[0];
          }
        }
      }
    }
  }
}

TEST(Adapters, mixed_in_one_step_each_sequence_gets_the_bits_that_it_gets_alone) {
  for (const char* name : kTinyModels) {
    const AdaptersExpected e = tiny_adapters_expected(name);
    TinyModel single(name), mixed(name, {.max_sequences = 5, .max_outputs = 8}, 2);
    const std::string order[] = {"all", "", "plain", "mlp", "plain"};
    std::vector<std::vector<float>> alone;
    std::vector<Row> rows;
    std::vector<std::shared_ptr<const runtime::Adapter>> adapters;
    for (const std::string& adapter : order) {
      const auto one = tiny_adapter(*single.model, name, adapter);
      alone.push_back(run(*single.model, {{e.prompt_tokens, one.get(), 0}})[0]);
      adapters.push_back(tiny_adapter(*mixed.model, name, adapter));
      rows.push_back({e.prompt_tokens, adapters.back().get(), static_cast<int32_t>(rows.size())});
    }
    EXPECT_EQ(run(*mixed.model, rows), alone) << name;
    EXPECT_NE(alone[0], alone[1]);
    EXPECT_EQ(alone[2], alone[4]);
    // And one token each, decoded side by side.
    const int32_t next = 40;
    const auto at = static_cast<int32_t>(e.prompt_tokens.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto one = tiny_adapter(*single.model, name, order[i]);
      run(*single.model, {{e.prompt_tokens, one.get(), 0}});
      alone[i] = run(*single.model, {{{&next, 1}, one.get(), 0, at}})[0];
      rows[i].tokens = {&next, 1};
      rows[i].first = at;
    }
    EXPECT_EQ(run(*mixed.model, rows), alone) << name;
  }
}

TEST(Adapters, a_step_without_them_is_as_it_was_before) {
  const AdaptersExpected e = tiny_adapters_expected("tiny-llama");
  TinyModel tiny("tiny-llama");
  const auto before = run(*tiny.model, {{e.prompt_tokens, nullptr, 0}});
  const auto adapter = tiny_adapter(*tiny.model, "tiny-llama", "all");
  const auto with = run(*tiny.model, {{e.prompt_tokens, adapter.get(), 0}});
  EXPECT_NE(with, before);
  EXPECT_EQ(run(*tiny.model, {{e.prompt_tokens, nullptr, 0}}), before);
}

TEST(Adapters, a_scale_multiplies_and_several_are_summed) {
  const AdaptersExpected e = tiny_adapters_expected("tiny-llama");
  TinyModel tiny("tiny-llama");
  const auto logits = [&](std::vector<compile::AdapterSource> sources) {
    const auto adapter = tiny.model->open_adapter(sources).value().adapter;
    return run(*tiny.model, {{e.prompt_tokens, adapter.get(), 0}})[0];
  };
  const std::string path = tiny_adapter_path("tiny-llama", "plain"), other = tiny_adapter_path("tiny-llama", "mlp");
  const auto none = run(*tiny.model, {{e.prompt_tokens, nullptr, 0}})[0];
  EXPECT_EQ(logits({{path, 0}}), none);
  const auto twice = logits({{path, 2}}), summed = logits({{path, 1}, {path, 1}});
  for (size_t i = 0; i < twice.size(); ++i) ASSERT_NEAR(twice[i], summed[i], 1e-3F);
  EXPECT_NE(logits({{path, 1}, {other, 1}}), logits({{path, 1}}));
}

TEST(Adapters, a_generator_forgets_what_it_computed_with_another) {
  const AdaptersExpected e = tiny_adapters_expected("tiny-qwen3");
  TinyModel tiny("tiny-qwen3");
  Generator generator(*tiny.model);
  for (const char* adapter : {"all", "plain", "all"}) {
    generator.set_adapter(tiny_adapter(*tiny.model, "tiny-qwen3", adapter));
    const Generated kept = generator.generate(e.prompt_tokens, {.max_tokens = 12}).value();
    EXPECT_EQ(kept.reused_tokens, 0);
    Generator fresh(*tiny.model);
    fresh.set_adapter(tiny_adapter(*tiny.model, "tiny-qwen3", adapter));
    EXPECT_EQ(fresh.generate(e.prompt_tokens, {.max_tokens = 12})->tokens, kept.tokens);
    generator.reset();
  }
}

// A copy of an adapter with something else in its configuration, or in the names of its tensors (of the same length).
struct Changed {
  TestDir dir;
  Changed(const std::string& adapter, const std::string& from, const std::string& to) {
    for (const char* name : {"/adapter_config.json", "/adapter_model.safetensors"}) {
      std::string bytes = read_file(adapter + name, 1 << 20).value();
      for (size_t at = bytes.find(from); at != std::string::npos; at = bytes.find(from, at + to.size()))
        bytes.replace(at, from.size(), to);
      std::ofstream(dir.path() + name, std::ios::binary) << bytes;
    }
  }
};

TEST(Adapters, of_another_model_or_of_another_kind_are_refused_with_a_sentence) {
  TinyModel tiny("tiny-llama");
  const auto refusal = [&](const std::string& path, double scale = 1) {
    const compile::AdapterSource source{path, scale};
    return tiny.model->open_adapter({&source, 1}).status();
  };
  const std::string good = tiny_adapter_path("tiny-llama", "plain");
  EXPECT_TRUE(refusal(good).is_ok());
  EXPECT_THAT(refusal(tiny_adapter_path("tiny-qwen3", "plain")).message(),
              HasSubstr("the adapter is for another model"));
  const Changed unknown(good, "q_proj", "z_proj"), deeper(good, "layers.1.", "layers.7.");
  EXPECT_THAT(
      refusal(unknown.dir.path()).message(),
      HasSubstr("has no linear module 'model.layers.0.self_attn.z_proj'; those it has end in lm_head, q_proj, k_proj"));
  EXPECT_THAT(refusal(deeper.dir.path()).message(), HasSubstr("has no module 'model.layers.7.self_attn.q_proj'"));
  EXPECT_THAT(refusal(good, INFINITY).message(), HasSubstr("expected a finite number"));
  EXPECT_THAT(refusal(good, NAN).message(), HasSubstr("expected a finite number"));
  EXPECT_EQ(refusal(good + "/nowhere").code(), StatusCode::kNotFound);
  const Changed dora(good, "\"use_dora\": false", "\"use_dora\": true");
  EXPECT_THAT(refusal(dora.dir.path()).message(), HasSubstr("use_dora"));
  EXPECT_EQ(refusal(dora.dir.path()).code(), StatusCode::kUnsupported);
}

TEST(Adapters, a_session_made_with_one_is_not_saved) {
  TinyModel tiny("tiny-llama");
  Generator generator(*tiny.model);
  generator.set_adapter(tiny_adapter(*tiny.model, "tiny-llama", "plain"));
  ASSERT_TRUE(generator.generate(std::vector<int32_t>{1, 2}, {.max_tokens = 2}).is_ok());
  EXPECT_EQ(generator.save("nowhere/session").code(), StatusCode::kUnsupported);
}

TEST(Adapters, a_step_that_names_too_few_is_refused) {
  TinyModel tiny("tiny-llama");
  const int32_t tokens[] = {1, 2}, positions[] = {0, 1}, sequences[] = {0, 0};
  const runtime::Adapter* none[] = {nullptr};
  EXPECT_THAT(tiny.model->step({tokens, positions, sequences, {}, none}).message(), HasSubstr("the adapters of 1"));
}

}  // namespace
}  // namespace nereid::llm
