// SPDX-License-Identifier: Apache-2.0
#include "llm/arch/module_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid::llm {
namespace {

using ::testing::HasSubstr;

std::string constant_of(std::string_view architecture, std::string_view module) {
  const auto weights = module_weights(architecture, module);
  if (!weights.is_ok()) return weights.status().message();
  return weights->size() == 1 ? (*weights)[0].constant : "several";
}

TEST(ModuleNames, are_found_wherever_the_decoder_sits) {
  EXPECT_EQ(constant_of("llama", "model.layers.3.self_attn.q_proj"), "blk.3.attn_q.weight");
  EXPECT_EQ(constant_of("llama", "layers.12.mlp.down_proj"), "blk.12.ffn_down.weight");
  EXPECT_EQ(constant_of("gemma3", "language_model.model.layers.0.self_attn.o_proj"), "blk.0.attn_output.weight");
  EXPECT_EQ(constant_of("gemma3", "model.language_model.layers.0.mlp.gate_proj"), "blk.0.ffn_gate.weight");
  EXPECT_EQ(constant_of("qwen2", "lm_head"), "output.weight");
  EXPECT_EQ((*module_weights("qwen3", "model.layers.1.self_attn.k_proj"))[0].role, Role::kKey);
}

TEST(ModuleNames, what_is_no_linear_module_is_refused_with_those_that_are) {
  for (const char* module :
       {"model.layers.3.self_attn.x_proj", "model.layers..mlp.up_proj", "model.layers.-1.mlp.up_proj",
        "model.layers.01.mlp.up_proj", "model.layers.99999999999.mlp.up_proj", "model.embed_tokens",
        "model.layers.0.input_layernorm", "model.layers.0.mlp.up_proj.weight", "", "x.model.layers.0.mlp.up_proj"})
    EXPECT_THAT(constant_of("llama", module), HasSubstr("has no linear module '" + std::string(module) +
                                                        "'; those it has end in lm_head, q_proj, k_proj"));
  EXPECT_THAT(constant_of("nonsense", "lm_head"), HasSubstr("no architecture 'nonsense'"));
}

}  // namespace
}  // namespace nereid::llm
