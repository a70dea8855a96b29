// SPDX-License-Identifier: Apache-2.0
// The evaluators against PyTorch: every case of tests/data/ops/goldens.txt (its script says how it is made).
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

struct GoldenCase {
  std::string name, op;
  std::map<std::string, std::string> attrs;
  std::vector<Tensor> inputs, outputs;
  std::map<size_t, Tensor> after;  // what the state at that argument holds afterwards
};

// "NAME DTYPE SIZES... : NUMBERS"
Tensor read_tensor(std::istringstream& words) {
  std::string name, dtype, word;
  words >> name >> dtype;
  std::vector<int64_t> sizes;
  while (words >> word && word != ":") sizes.push_back(std::stoll(word));
  std::vector<double> numbers;
  while (words >> word) numbers.push_back(std::stod(word));
  return Tensor::of(*dtype_from_name(dtype), sizes, numbers);
}

std::vector<GoldenCase> read_cases() {
  std::ifstream file(std::string(NEREID_SOURCE_DIR) + "/tests/data/ops/goldens.txt");
  std::vector<GoldenCase> cases;
  std::vector<size_t> states;
  size_t left = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind, key;
    words >> kind;
    if (kind == "case") {
      cases.emplace_back();
      words >> cases.back().name;
      states.clear();
      left = 0;
    } else if (kind == "op") {
      words >> cases.back().op;
    } else if (kind == "attr") {
      words >> key;
      words >> cases.back().attrs[key];
    } else if (kind == "absent") {
      cases.back().inputs.emplace_back();
    } else if (kind == "in" || kind == "state") {
      if (kind == "state") states.push_back(cases.back().inputs.size());
      cases.back().inputs.push_back(read_tensor(words));
    } else if (kind == "out") {
      cases.back().outputs.push_back(read_tensor(words));
    } else if (kind == "after") {
      cases.back().after.emplace(states.at(left++), read_tensor(words));
    }
  }
  return cases;
}

void expect_close(const Tensor& found, const Tensor& wanted, double tolerance) {
  ASSERT_EQ(found.sizes, wanted.sizes);
  const auto x = found.numbers();
  const auto y = wanted.numbers();
  double largest = 0;
  for (double v : y) largest = std::max(largest, std::abs(v));
  for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], tolerance * largest) << "element " << i;
}

class Golden : public testing::TestWithParam<GoldenCase> {};

TEST_P(Golden, the_evaluator_agrees_with_pytorch) {
  GoldenCase c = GetParam();
  const OpDef* op = find_op(c.op);
  ASSERT_NE(op, nullptr);
  Attrs attrs;
  for (const auto& [name, text] : c.attrs) {
    auto spec = std::ranges::find(op->attrs, name, &AttrSpec::name);
    ASSERT_NE(spec, op->attrs.end()) << name;
    attrs.set(name, *attr_from_text(spec->kind, text));
  }
  auto results = try_op(c.op, c.inputs, attrs);
  ASSERT_TRUE(results.is_ok()) << results.status().message();
  ASSERT_EQ(results->size(), c.outputs.size());
  // Evaluators compute in f64 and round once: a hundred times closer than what kernels must keep.
  for (size_t i = 0; i < c.outputs.size(); ++i) expect_close((*results)[i], c.outputs[i], 5e-7);
  for (const auto& [argument, state] : c.after) expect_close(c.inputs[argument], state, 5e-7);
}

INSTANTIATE_TEST_SUITE_P(PyTorch, Golden, testing::ValuesIn(read_cases()), [](const auto& p) { return p.param.name; });

}  // namespace
}  // namespace nereid::ops
