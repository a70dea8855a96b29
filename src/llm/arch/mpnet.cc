// SPDX-License-Identifier: Apache-2.0
// MPNet: BERT without types of texts, with scores by distance that all layers share, and places behind padding.
#include "llm/arch/encoder_weights.h"
#include "llm/block/embed.h"
#include "llm/block/head.h"
#include "llm/block/layer.h"

namespace nereid::llm {
namespace {

constexpr std::string_view kHfNames[] = {"MPNetModel", "MPNetForSequenceClassification", "MPNetForMaskedLM", "mpnet"};

constexpr std::array kLayers = {
    WeightRow{Role::kDistanceBuckets, "", "{body}encoder.relative_attention_bias.weight", kBuckets, kHeads},
    WeightRow{Role::kQuery, "blk.{i}.attn_q.weight", "{body}encoder.layer.{i}.attention.attn.q.weight", kQuery,
              kHidden},
    WeightRow{Role::kQueryBias, "blk.{i}.attn_q.bias", "{body}encoder.layer.{i}.attention.attn.q.bias", kQuery},
    WeightRow{Role::kKey, "blk.{i}.attn_k.weight", "{body}encoder.layer.{i}.attention.attn.k.weight", kKeyValue,
              kHidden},
    WeightRow{Role::kKeyBias, "blk.{i}.attn_k.bias", "{body}encoder.layer.{i}.attention.attn.k.bias", kKeyValue},
    WeightRow{Role::kValue, "blk.{i}.attn_v.weight", "{body}encoder.layer.{i}.attention.attn.v.weight", kKeyValue,
              kHidden},
    WeightRow{Role::kValueBias, "blk.{i}.attn_v.bias", "{body}encoder.layer.{i}.attention.attn.v.bias", kKeyValue},
    WeightRow{Role::kAttentionOutput, "blk.{i}.attn_output.weight", "{body}encoder.layer.{i}.attention.attn.o.weight",
              kHidden, kQuery},
    WeightRow{Role::kAttentionOutputBias, "blk.{i}.attn_output.bias", "{body}encoder.layer.{i}.attention.attn.o.bias",
              kHidden},
    WeightRow{Role::kAttentionNorm, "blk.{i}.attn_output_norm.weight",
              "{body}encoder.layer.{i}.attention.LayerNorm.weight", kHidden},
    WeightRow{Role::kAttentionNormBias, "blk.{i}.attn_output_norm.bias",
              "{body}encoder.layer.{i}.attention.LayerNorm.bias", kHidden},
    WeightRow{Role::kUp, "blk.{i}.ffn_up.weight", "{body}encoder.layer.{i}.intermediate.dense.weight", kFfn, kHidden},
    WeightRow{Role::kUpBias, "blk.{i}.ffn_up.bias", "{body}encoder.layer.{i}.intermediate.dense.bias", kFfn},
    WeightRow{Role::kDown, "blk.{i}.ffn_down.weight", "{body}encoder.layer.{i}.output.dense.weight", kHidden, kFfn},
    WeightRow{Role::kDownBias, "blk.{i}.ffn_down.bias", "{body}encoder.layer.{i}.output.dense.bias", kHidden},
    WeightRow{Role::kMlpNorm, "blk.{i}.layer_output_norm.weight", "{body}encoder.layer.{i}.output.LayerNorm.weight",
              kHidden},
    WeightRow{Role::kMlpNormBias, "blk.{i}.layer_output_norm.bias", "{body}encoder.layer.{i}.output.LayerNorm.bias",
              kHidden},
};
constexpr auto kWeights = join(kBertEmbeddings, kLayers, kRobertaClassifier);

}  // namespace

extern const Architecture kMpnet;
constinit const Architecture kMpnet = {
    .name = "mpnet",
    .gguf_names = {},
    .hf_names = kHfNames,
    .weights = kWeights,
    .hf_roots = kHfEncoderRoots,
    .real_keys = kEncoderReals,
    .theta = 0,
    .activation = "gelu",
    .encodes = true,
    .positions_after_padding = true,
    .embed = embed_places,
    .layer = post_norm_layer,
    .head = encoder_head,
};

}  // namespace nereid::llm
