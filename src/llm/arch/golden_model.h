// SPDX-License-Identifier: Apache-2.0
// For tests: the tiny checkpoints of tests/golden/arch, held in memory under either format's names, and a runner.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "llm/arch/arch_input.h"
#include "llm/arch/build_model.h"
#include "ops/tensor.h"

namespace nereid::llm::testing {

// tests/golden/arch/<name>.json; fails the test if it cannot be read.
Json load_golden(const std::string& name);

// Which of a golden file's descriptions a checkpoint follows.
enum class Form { kHuggingFace, kSavedConfig, kGguf };

// Weights by the formula in tests/golden/arch/tiny_models.py: u * scale + offset, u by the name and the index.
std::vector<float> formula_weights(std::string_view name, size_t count, float scale, float offset);

// A checkpoint in memory. Everything may be changed before input() is called, which is how bad ones are made.
struct Checkpoint {
  std::string architecture;
  Json config;  // Hugging Face
  Metadata metadata;
  bool is_gguf = false;
  std::map<std::string, ops::Tensor> tensors;
  std::map<std::string, ConstTensorView> views;  // filled by input()

  ArchInput input();
};

// `dtype`: of matrices; vectors stay f32 in GGUF, as converters keep them.
Checkpoint make_checkpoint(const Json& golden, Form form, DType dtype);

// Logits of the golden file's prompt, one row a token, computed by the reference interpreter in steps of `step` tokens
// (all at once if 0) as the second of two sequences, over a cache whose pages are in no order.
std::vector<std::vector<double>> run_prompt(const BuiltModel& model, const std::vector<int32_t>& tokens, size_t step);

}  // namespace nereid::llm::testing
