// SPDX-License-Identifier: Apache-2.0
// Every architecture against the logits that transformers computes for the same tiny checkpoint.
#include "llm/arch/build_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "base/json.h"
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
  for (const size_t step : {0, 1, 5}) {  // the whole prompt, token by token, in chunks
    const auto rows = run_prompt(*model, tokens, step);
    ASSERT_EQ(rows.size(), tokens.size());
    EXPECT_LE(difference(rows, golden["logits"]), kTolerance) << "in steps of " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, Goldens, ::testing::ValuesIn(cases()), case_name);

}  // namespace
}  // namespace nereid::llm::testing
