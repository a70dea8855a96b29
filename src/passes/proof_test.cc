// SPDX-License-Identifier: Apache-2.0
// Runs every x.pass of this folder: the pass gives the text that is written there, and the graphs before and after
// compute the same numbers from random tensors. NEREID_UPDATE=1 writes what the pass gives now; the numeric check
// stays.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "graph/evaluate.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "passes/pipeline.h"
#include "passes/proof_file.h"

namespace nereid::passes {
namespace {

using graph::Graph;
using graph::Value;
using graph::ValueId;
using ops::Tensor;

std::filesystem::path folder() {
  return std::filesystem::path(NEREID_SOURCE_DIR) / "src" / "passes";
}

std::string read(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// What a case's values hold: made once, bound to both graphs.
class Tensors {
 public:
  explicit Tensors(const ProofCase& proof) : proof_(proof) {}

  Tensor make(const Value& v) {
    std::vector<int64_t> sizes;
    for (const Dim& d : v.type.shape.dims()) sizes.push_back(d.is_static() ? d.size() : symbol(d.symbol()));
    int64_t n = 1;
    for (int64_t s : sizes) n *= s;
    std::vector<double> numbers(static_cast<size_t>(n), 0);
    if (auto it = proof_.bindings.find(v.name); it != proof_.bindings.end()) {
      EXPECT_EQ(it->second.size(), numbers.size()) << v.name;
      numbers = it->second;
      numbers.resize(static_cast<size_t>(n));
    } else if (!is_integer(v.type.dtype)) {
      std::normal_distribution<double> normal;
      for (double& x : numbers) x = normal(random_);
    }
    return Tensor::of(v.type.dtype, std::move(sizes), numbers);
  }

 private:
  int64_t symbol(const std::string& name) const {
    auto it = proof_.sizes.find(name);
    return it == proof_.sizes.end() ? 3 : it->second;
  }
  const ProofCase& proof_;
  std::mt19937 random_{42};
};

void expect_equal(const std::vector<Tensor>& a, const std::vector<Tensor>& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].sizes, b[i].sizes);
    const auto x = a[i].numbers();
    const auto y = b[i].numbers();
    double largest = 1e-6;
    for (double v : x) largest = std::max(largest, std::abs(v));
    for (size_t j = 0; j < x.size(); ++j)
      ASSERT_NEAR(x[j], y[j], tolerance * largest) << "output " << i << ", element " << j;
  }
}

// Outputs and the states left behind.
std::vector<Tensor> results(const Graph& g, const std::map<std::string, Tensor>& inputs,
                            std::map<std::string, Tensor> states) {
  graph::Bindings bindings;
  for (const auto& [name, t] : inputs) bindings.inputs[name] = t.view();
  for (auto& [name, t] : states) bindings.states[name] = t.view();
  auto out = graph::evaluate(g, bindings);
  EXPECT_TRUE(out.is_ok()) << out.status().message();
  if (!out.is_ok()) return {};
  for (auto& [name, t] : states) out->push_back(t);
  return std::move(out).value();
}

double tolerance_of(const Graph& g) {
  double t = 1e-6;
  for (graph::NodeId n : g.order()) t = std::max(t, g.node(n).op->tolerance_f32);
  return t;
}

void prove(const Pass& pass, ProofCase& proof, bool update) {
  auto parsed = graph::parse(proof.before);
  ASSERT_TRUE(parsed.is_ok()) << parsed.status().message();
  Graph text = *parsed;
  auto report = run_pass(pass, text, {.verify = true});
  ASSERT_TRUE(report.is_ok()) << report.status().message();
  std::string explain;
  for (const Record& r : report->records) explain += fmt::format("{} {}: {}\n", r.fired ? '+' : '-', r.where, r.what);
  if (update) {
    proof.before = graph::print(*parsed);
    proof.after = graph::print(text);
    proof.explain = explain;
  }
  EXPECT_EQ(graph::print(text), proof.after);
  EXPECT_EQ(explain, proof.explain);

  Graph before = std::move(parsed).value();
  Tensors tensors(proof);
  std::map<std::string, Tensor> inputs, states;
  std::vector<Tensor> constants;  // stay where they are: the graphs point into them
  constants.reserve(before.value_count());
  for (ValueId id : before.inputs()) inputs.emplace(before.value(id).name, tensors.make(before.value(id)));
  for (ValueId id : before.states()) states.emplace(before.value(id).name, tensors.make(before.value(id)));
  for (ValueId id : before.constants()) {
    if (!before.value(id).data.parts.empty()) continue;
    constants.push_back(tensors.make(before.value(id)));
    before.bind_constant(id, {.parts = {std::as_const(constants.back()).view()}});
  }

  Graph after = before;
  ASSERT_TRUE(run_pass(pass, after, {.verify = true}).is_ok());
  const double tolerance = std::max(tolerance_of(before), tolerance_of(after));
  expect_equal(results(before, inputs, states), results(after, inputs, states), tolerance);
}

class Proof : public testing::TestWithParam<std::string> {};

TEST_P(Proof, gives_the_written_text_and_the_same_numbers) {
  auto pass = std::ranges::find(pipeline(), GetParam(), &Pass::name);
  ASSERT_NE(pass, pipeline().end()) << "no pass is named as this file";
  const std::filesystem::path path = folder() / (GetParam() + ".pass");
  auto cases = parse_proofs(read(path));
  ASSERT_TRUE(cases.is_ok()) << cases.status().message();
  EXPECT_FALSE(cases->empty());
  const bool update = std::getenv("NEREID_UPDATE") != nullptr;
  for (ProofCase& proof : *cases) {
    SCOPED_TRACE(proof.name);
    prove(*pass, proof, update);
  }
  if (update) std::ofstream(path) << print_proofs(*cases);
}

std::vector<std::string> proof_files() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder()))
    if (entry.path().extension() == ".pass") names.push_back(entry.path().stem());
  std::ranges::sort(names);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Passes, Proof, testing::ValuesIn(proof_files()), [](const auto& p) { return p.param; });

TEST(Pipeline, every_pass_has_a_proof) {
  const auto files = proof_files();
  for (const Pass& pass : pipeline()) {
    if (pass.name == "dead_code.last") continue;
    EXPECT_TRUE(std::ranges::find(files, pass.name) != files.end()) << pass.name;
  }
}

}  // namespace
}  // namespace nereid::passes
