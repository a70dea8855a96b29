// SPDX-License-Identifier: Apache-2.0
// DistilBERT: BERT without types of texts, under names of its own.
#include "llm/arch/encoder_weights.h"
#include "llm/block/embed.h"
#include "llm/block/head.h"
#include "llm/block/layer.h"

namespace nereid::llm {
namespace {

constexpr std::string_view kHfNames[] = {"DistilBertModel", "DistilBertForSequenceClassification",
                                         "DistilBertForMaskedLM", "distilbert"};

constexpr std::array kLayers = {
    WeightRow{Role::kQuery, "blk.{i}.attn_q.weight", "{body}transformer.layer.{i}.attention.q_lin.weight", kQuery,
              kHidden},
    WeightRow{Role::kQueryBias, "blk.{i}.attn_q.bias", "{body}transformer.layer.{i}.attention.q_lin.bias", kQuery},
    WeightRow{Role::kKey, "blk.{i}.attn_k.weight", "{body}transformer.layer.{i}.attention.k_lin.weight", kKeyValue,
              kHidden},
    WeightRow{Role::kKeyBias, "blk.{i}.attn_k.bias", "{body}transformer.layer.{i}.attention.k_lin.bias", kKeyValue},
    WeightRow{Role::kValue, "blk.{i}.attn_v.weight", "{body}transformer.layer.{i}.attention.v_lin.weight", kKeyValue,
              kHidden},
    WeightRow{Role::kValueBias, "blk.{i}.attn_v.bias", "{body}transformer.layer.{i}.attention.v_lin.bias", kKeyValue},
    WeightRow{Role::kAttentionOutput, "blk.{i}.attn_output.weight",
              "{body}transformer.layer.{i}.attention.out_lin.weight", kHidden, kQuery},
    WeightRow{Role::kAttentionOutputBias, "blk.{i}.attn_output.bias",
              "{body}transformer.layer.{i}.attention.out_lin.bias", kHidden},
    WeightRow{Role::kAttentionNorm, "blk.{i}.attn_output_norm.weight",
              "{body}transformer.layer.{i}.sa_layer_norm.weight", kHidden},
    WeightRow{Role::kAttentionNormBias, "blk.{i}.attn_output_norm.bias",
              "{body}transformer.layer.{i}.sa_layer_norm.bias", kHidden},
    WeightRow{Role::kUp, "blk.{i}.ffn_up.weight", "{body}transformer.layer.{i}.ffn.lin1.weight", kFfn, kHidden},
    WeightRow{Role::kUpBias, "blk.{i}.ffn_up.bias", "{body}transformer.layer.{i}.ffn.lin1.bias", kFfn},
    WeightRow{Role::kDown, "blk.{i}.ffn_down.weight", "{body}transformer.layer.{i}.ffn.lin2.weight", kHidden, kFfn},
    WeightRow{Role::kDownBias, "blk.{i}.ffn_down.bias", "{body}transformer.layer.{i}.ffn.lin2.bias", kHidden},
    WeightRow{Role::kMlpNorm, "blk.{i}.layer_output_norm.weight",
              "{body}transformer.layer.{i}.output_layer_norm.weight", kHidden},
    WeightRow{Role::kMlpNormBias, "blk.{i}.layer_output_norm.bias",
              "{body}transformer.layer.{i}.output_layer_norm.bias", kHidden},
};
constexpr std::array kClassifier = {
    WeightRow{Role::kPooler, "cls.weight", "pre_classifier.weight", kHidden, kHidden, kOptional},
    WeightRow{Role::kPoolerBias, "cls.bias", "pre_classifier.bias", kHidden, kNone, kOptional},
    WeightRow{Role::kClassifier, "cls.output.weight", "classifier.weight", kLabels, kHidden, kOptional},
    WeightRow{Role::kClassifierBias, "cls.output.bias", "classifier.bias", kLabels, kNone, kOptional},
};
constexpr auto kWeights = join(kBertEmbeddings, kLayers, kClassifier);

constexpr IntKey kIntKeys[] = {
    {&ModelConfig::layers, "", "n_layers", 1, 1024},
    {&ModelConfig::hidden, "", "dim", 1, int64_t{1} << 20},
    {&ModelConfig::ffn, "", "hidden_dim", 1, int64_t{1} << 20},
    {&ModelConfig::heads, "", "n_heads", 1, 4096},
};

}  // namespace

extern const Architecture kDistilBert;
constinit const Architecture kDistilBert = {
    .name = "distilbert",
    .gguf_names = {},
    .hf_names = kHfNames,
    .weights = kWeights,
    .hf_roots = kHfEncoderRoots,
    .int_keys = kIntKeys,
    .real_keys = kEncoderReals,
    .theta = 0,
    .activation = "gelu",
    .activation_key = "activation",
    .pooler_activation = "relu",
    .encodes = true,
    .embed = embed_places,
    .layer = post_norm_layer,
    .head = encoder_head,
};

}  // namespace nereid::llm
