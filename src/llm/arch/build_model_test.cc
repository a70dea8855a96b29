// SPDX-License-Identifier: Apache-2.0
// Every architecture against the logits that transformers computes for the same tiny checkpoint.
#include "llm/arch/build_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/json.h"
#include "graph/text.h"
#include "llm/arch/golden_model.h"

namespace nereid::llm::testing {
namespace {

// Both sides add in f32 or wider, in different orders.
constexpr double kTolerance = 1e-4;

std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(NEREID_SOURCE_DIR) + "/tests/golden/arch")) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem());
  }
  std::ranges::sort(names);
  return names;
}

// The largest difference, as a share of the largest logit.
double difference(const std::vector<std::vector<double>>& rows, const Json& expected) {
  double largest = 0, worst = 0;
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t i = 0; i < rows[r].size(); ++i) {
      const double e = expected[r][i];
      largest = std::max(largest, std::abs(e));
      worst = std::max(worst, std::abs(e - rows[r][i]));
    }
  }
  return worst / largest;
}

Result<BuiltModel> build(Checkpoint& checkpoint, const Json& golden) {
  return build_model(checkpoint.input(),
                     {.kv_dtype = DType::f32, .page_tokens = 4, .max_context = golden["max_context"].get<int64_t>()});
}

struct Case {
  std::string name;
  Form form;
};

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const std::string& name : golden_names()) {
    const Json golden = load_golden(name);
    list.push_back({name, Form::kHuggingFace});
    if (golden.contains("saved_config")) list.push_back({name, Form::kSavedConfig});
    if (golden.contains("gguf")) list.push_back({name, Form::kGguf});
  }
  return list;
}

std::string case_name(const ::testing::TestParamInfo<Case>& instance) {
  switch (instance.param.form) {
    case Form::kHuggingFace:
      return instance.param.name + "_from_a_hub";
    case Form::kSavedConfig:
      return instance.param.name + "_as_transformers_saves_it";
    case Form::kGguf:
      return instance.param.name + "_in_gguf";
  }
  return {};
}

class Goldens : public ::testing::TestWithParam<Case> {};

TEST_P(Goldens, logits_equal_those_of_transformers) {
  const Json golden = load_golden(GetParam().name);
  Checkpoint checkpoint =
      make_checkpoint(golden, GetParam().form, golden["dtype"] == "bf16" ? DType::bf16 : DType::f32);
  const Result<BuiltModel> model = build(checkpoint, golden);
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  EXPECT_EQ(model->warning(), "");
  const auto tokens = golden["tokens"].get<std::vector<int32_t>>();
  // The whole prompt; token by token and in chunks too, where it is not only the reading that differs.
  std::vector<size_t> steps = {0};
  if (GetParam().form == Form::kHuggingFace) steps.insert(steps.end(), {1, 5});
  for (const size_t step : steps) {
    const auto rows = run_prompt(*model, tokens, step);
    ASSERT_EQ(rows.size(), tokens.size());
    EXPECT_LE(difference(rows, golden["logits"]), kTolerance) << "in steps of " << step;
  }
}

// The form of what is built; NEREID_UPDATE=1 writes it anew.
TEST(BuildModel, the_graph_is_the_plain_decoder) {
  Checkpoint checkpoint = make_checkpoint(load_golden("llama"), Form::kGguf, DType::f16);
  const auto model = build_model(checkpoint.input());
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  const std::string text = graph::print(model->graph);
  const std::string path = std::string(NEREID_SOURCE_DIR) + "/tests/golden/arch/llama.graph.txt";
  if (std::getenv("NEREID_UPDATE") != nullptr) std::ofstream(path) << text;
  std::ifstream file(path);
  const std::string golden((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_EQ(text, golden);
}

TEST(BuildModel, options_out_of_bounds_are_refused) {
  Checkpoint checkpoint = make_checkpoint(load_golden("llama"), Form::kGguf, DType::f16);
  const auto error = [&](const BuildOptions& options) {
    return build_model(checkpoint.input(), options).status().message();
  };
  EXPECT_THAT(error({.kv_dtype = DType::i32}), ::testing::HasSubstr("A key/value cache of i32 is not supported"));
  EXPECT_THAT(error({.page_tokens = 0}), ::testing::HasSubstr("Cache pages of 0 tokens"));
  EXPECT_THAT(error({.max_context = -1}), ::testing::HasSubstr("A context of -1 tokens"));
}

INSTANTIATE_TEST_SUITE_P(Architectures, Goldens, ::testing::ValuesIn(cases()), case_name);

}  // namespace
}  // namespace nereid::llm::testing
