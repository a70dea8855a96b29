// SPDX-License-Identifier: Apache-2.0
// Tensors that are missing, extra, mis-shaped, of another type, tied, fused or stored under a multimodal root.
#include "llm/arch/bind_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/json.h"
#include "llm/arch/arch_table.h"
#include "llm/arch/build_model.h"
#include "llm/arch/decoder_weights.h"
#include "llm/arch/golden_model.h"
#include "llm/block/embed.h"
#include "llm/block/head.h"
#include "llm/block/layer.h"

namespace nereid::llm::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Checkpoint checkpoint(const std::string& name, Form form, DType dtype = DType::f32) {
  return make_checkpoint(load_golden(name), form, dtype);
}

std::string error_of(Checkpoint& c) {
  const auto built = build_model(c.input());
  return built.is_ok() ? "no error" : built.status().message();
}

TEST(BindWeights, a_missing_tensor_is_named_with_its_layer) {
  Checkpoint c = checkpoint("llama", Form::kGguf);
  c.tensors.erase("blk.1.ffn_up.weight");
  EXPECT_EQ(error_of(c),
            "building a llama model: The tensor blk.1.ffn_up.weight is missing (layer 1 of 2 that the hyper-parameters "
            "announce).");
  c = checkpoint("llama", Form::kHuggingFace);
  c.tensors.erase("model.norm.weight");
  EXPECT_EQ(error_of(c), "building a llama model: The tensor model.norm.weight is missing.");
  c.tensors.erase("model.embed_tokens.weight");
  EXPECT_EQ(error_of(c), "building a llama model: The tensor model.embed_tokens.weight is missing.");
}

TEST(BindWeights, a_tensor_of_another_shape_tells_both_shapes) {
  Checkpoint c = checkpoint("llama", Form::kGguf);
  c.tensors["blk.1.attn_q.weight"] = ops::Tensor::zeros(DType::f32, {72, 64}).value();
  EXPECT_EQ(error_of(c), "building a llama model: tensor blk.1.attn_q.weight: expected [72, 72], found [72, 64]");
  c = checkpoint("llama", Form::kGguf);
  c.tensors["output_norm.weight"] = ops::Tensor::zeros(DType::f32, {72, 1}).value();
  EXPECT_EQ(error_of(c), "building a llama model: tensor output_norm.weight: expected [72], found [72, 1]");
}

TEST(BindWeights, a_matrix_of_integers_is_no_weight) {
  Checkpoint c = checkpoint("llama", Form::kGguf);
  c.tensors["blk.0.attn_q.weight"] = ops::Tensor::zeros(DType::i32, {72, 72}).value();
  EXPECT_THAT(error_of(c), HasSubstr("tensor blk.0.attn_q.weight: its elements are i32"));
}

TEST(BindWeights, a_norm_weight_that_is_not_finite_is_refused) {
  Checkpoint c = checkpoint("gemma3", Form::kHuggingFace);
  c.tensors["model.norm.weight"].view().as<float>()[3] = NAN;
  EXPECT_EQ(error_of(c), "building a gemma3 model: tensor model.norm.weight: element 3 is nan");
}

TEST(BindWeights, tensors_of_no_role_are_listed_in_one_warning) {
  Checkpoint c = checkpoint("llama", Form::kGguf);
  c.tensors["blk.2.attn_q.weight"] = ops::Tensor::zeros(DType::f32, {72, 72}).value();
  c.tensors["adapter"] = ops::Tensor::zeros(DType::f32, {1}).value();
  c.tensors["model.layers.0.self_attn.rotary_emb.inv_freq"] = ops::Tensor::zeros(DType::f32, {4}).value();
  const auto model = build_model(c.input());
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  EXPECT_THAT(model->unused_tensors, ElementsAre("adapter", "blk.2.attn_q.weight"));
  EXPECT_EQ(model->warning(),
            "2 tensors of the files are no part of a llama decoder and are ignored: adapter, blk.2.attn_q.weight.");
}

TEST(BindWeights, biases_that_the_configuration_promises_must_be_there) {
  Checkpoint c = checkpoint("llama_untied_biases", Form::kHuggingFace);
  c.tensors.erase("model.layers.1.mlp.up_proj.bias");
  EXPECT_THAT(error_of(c), HasSubstr("The tensor model.layers.1.mlp.up_proj.bias is missing"));
}

TEST(BindWeights, a_head_is_tied_only_where_the_files_say_so) {
  Checkpoint c = checkpoint("llama_linear", Form::kHuggingFace);
  c.tensors.erase("lm_head.weight");
  EXPECT_THAT(error_of(c), HasSubstr("The output matrix is missing"));

  c = checkpoint("llama", Form::kHuggingFace);  // tied; some exporters save the table twice
  c.tensors["lm_head.weight"] = c.tensors["model.embed_tokens.weight"];
  const auto model = build_model(c.input());
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  EXPECT_TRUE(model->config.tied_head);
  EXPECT_FALSE(model->graph.find_value("output.weight").valid());
  EXPECT_EQ(model->warning(), "");
}

TEST(BindWeights, large_weights_are_views_of_the_files_bytes) {
  Checkpoint c = checkpoint("llama", Form::kGguf, DType::f16);
  const auto model = build_model(c.input());
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  const graph::Value& q = model->graph.value(model->graph.find_value("blk.1.attn_q.weight"));
  EXPECT_EQ(q.type.dtype, DType::f16);
  EXPECT_EQ(q.data.parts.at(0).data, c.tensors["blk.1.attn_q.weight"].bytes.data());
  const graph::Value& norm = model->graph.value(model->graph.find_value("output_norm.weight"));
  EXPECT_EQ(norm.data.parts.at(0).data, c.tensors["output_norm.weight"].bytes.data());
}

TEST(BindWeights, half_precision_norms_become_f32) {
  Checkpoint c = checkpoint("llama", Form::kHuggingFace, DType::bf16);
  const auto model = build_model(c.input());
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  const graph::Value& norm = model->graph.value(model->graph.find_value("blk.0.attn_norm.weight"));
  EXPECT_EQ(norm.type.dtype, DType::f32);
  const std::vector<double> stored = c.tensors["model.layers.0.input_layernorm.weight"].numbers();
  for (size_t i = 0; i < stored.size(); ++i)
    EXPECT_EQ(norm.data.parts[0].as<float>()[i], static_cast<float>(stored[i]));
}

TEST(BindWeights, newer_multimodal_names_are_found) {
  Checkpoint c = checkpoint("gemma3_multimodal", Form::kHuggingFace);
  std::map<std::string, ops::Tensor> renamed;
  for (auto& [name, tensor] : c.tensors) {
    renamed["model.language_model." + name.substr(std::string("language_model.model.").size())] = std::move(tensor);
  }
  c.tensors = std::move(renamed);
  EXPECT_EQ(error_of(c), "no error");
}

// Checkpoints that keep q, k, v in one matrix and gate, up in another (Phi-3, Baichuan, ChatGLM).
constexpr std::array kFused = {
    WeightRow{Role::kQuery, "", "{body}layers.{i}.qkv", {{kQuery, kKeyValue, kKeyValue}, 0}, kHidden},
    WeightRow{Role::kKey, "", "{body}layers.{i}.qkv", {{kQuery, kKeyValue, kKeyValue}, 1}, kHidden},
    WeightRow{Role::kValue, "", "{body}layers.{i}.qkv", {{kQuery, kKeyValue, kKeyValue}, 2}, kHidden},
    WeightRow{Role::kAttentionOutput, "", "{body}layers.{i}.self_attn.o_proj.weight", kHidden, kQuery},
    WeightRow{Role::kGate, "", "{body}layers.{i}.gate_up", {{kFfn, kFfn, kNone}, 0}, kHidden},
    WeightRow{Role::kUp, "", "{body}layers.{i}.gate_up", {{kFfn, kFfn, kNone}, 1}, kHidden},
};
constexpr auto kFusedWeights = join(kEnds, kPreNorms, kFused, kGatedMlp);  // the latter for mlp.down_proj
constexpr Architecture kFusedLlama = {.name = "fused",
                                      .gguf_names = {},
                                      .hf_names = {},
                                      .weights = kFusedWeights,
                                      .embed = embed_tokens,
                                      .layer = pre_norm_layer,
                                      .head = logits_head};

void fuse(Checkpoint& c, const std::vector<std::string>& parts, const std::string& name) {
  ops::Tensor whole = c.tensors[parts[0]];
  for (size_t i = 1; i < parts.size(); ++i) {
    const ops::Tensor& part = c.tensors[parts[i]];
    whole.sizes[0] += part.sizes[0];
    whole.bytes.insert(whole.bytes.end(), part.bytes.begin(), part.bytes.end());
  }
  for (const std::string& part : parts) c.tensors.erase(part);
  c.tensors[name] = std::move(whole);
}

TEST(BindWeights, rows_of_fused_matrices_are_sliced_without_copies) {
  const Json golden = load_golden("llama");
  Checkpoint c = make_checkpoint(golden, Form::kHuggingFace, DType::f32);
  for (const std::string layer : {"model.layers.0.", "model.layers.1."}) {
    fuse(c, {layer + "self_attn.q_proj.weight", layer + "self_attn.k_proj.weight", layer + "self_attn.v_proj.weight"},
         layer + "qkv");
    fuse(c, {layer + "mlp.gate_proj.weight", layer + "mlp.up_proj.weight"}, layer + "gate_up");
  }
  const auto model = build_model(kFusedLlama, c.input(), {.kv_dtype = DType::f32});
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  EXPECT_EQ(model->warning(), "");
  const graph::Value& k = model->graph.value(model->graph.find_value("model.layers.1.qkv.2"));
  EXPECT_EQ(k.data.parts.at(0).data, c.tensors["model.layers.1.qkv"].bytes.data() + 72 * 72 * sizeof(float));
  const auto rows = run_prompt(*model, golden["tokens"].get<std::vector<int32_t>>(), 0);
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t i = 0; i < rows[r].size(); ++i) EXPECT_NEAR(rows[r][i], golden["logits"][r][i].get<double>(), 2e-3);
  }
}

TEST(BindWeights, a_fused_matrix_of_another_height_is_refused) {
  Checkpoint c = make_checkpoint(load_golden("llama"), Form::kHuggingFace, DType::f32);
  c.tensors["model.layers.0.qkv"] = ops::Tensor::zeros(DType::f32, {72, 72}).value();
  const auto model = build_model(kFusedLlama, c.input(), {});
  EXPECT_EQ(model.status().message(), "tensor model.layers.0.qkv: expected [120, 72], found [72, 72]");
}

}  // namespace
}  // namespace nereid::llm::testing
