// SPDX-License-Identifier: Apache-2.0
// Runs every x.pass of this folder: the pass gives the text that is written there, and the graphs before and after
// compute the same numbers from random tensors. NEREID_UPDATE=1 writes what the pass gives now; the numeric check
// stays.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "graph/text.h"
#include "passes/pipeline.h"
#include "passes/proof_file.h"
#include "passes/random_tensors.h"

namespace nereid::passes {
namespace {

using graph::Graph;

std::filesystem::path folder() {
  return std::filesystem::path(NEREID_SOURCE_DIR) / "src" / "passes";
}

std::string read(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
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
  RandomTensors tensors({.sizes = proof.sizes, .bindings = proof.bindings});
  tensors.fill(before);
  Graph after = before;
  ASSERT_TRUE(run_pass(pass, after, {.verify = true}).is_ok());
  expect_equal(tensors.results(before), tensors.results(after), tolerance_of(before, after));
}

class Proof : public testing::TestWithParam<std::string> {};

TEST_P(Proof, gives_the_written_text_and_the_same_numbers) {
  const Pass* pass = nullptr;
  for (const auto passes : {pipeline(), network_pipeline()})
    for (const Pass& p : passes)
      if (p.name == GetParam()) pass = &p;
  ASSERT_NE(pass, nullptr) << "no pass is named as this file";
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
  for (const auto passes : {pipeline(), network_pipeline()})
    for (const Pass& pass : passes) {
      if (pass.name.find('.') != std::string_view::npos) continue;  // the same pass once more
      if (pass.name == "inline_if") continue;                       // texts have no branches: inline_if_test.cc
      EXPECT_TRUE(std::ranges::find(files, pass.name) != files.end()) << pass.name;
    }
}

}  // namespace
}  // namespace nereid::passes
