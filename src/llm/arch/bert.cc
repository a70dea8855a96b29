// SPDX-License-Identifier: Apache-2.0
// BERT and what has its shape: MiniLM, BGE, E5, GTE (1.0), cross-encoders made of them.
#include "llm/arch/encoder_weights.h"
#include "llm/block/embed.h"
#include "llm/block/head.h"
#include "llm/block/layer.h"

namespace nereid::llm {
namespace {

constexpr std::string_view kGgufNames[] = {"bert"};
constexpr std::string_view kHfNames[] = {"BertModel", "BertForSequenceClassification", "BertForMaskedLM", "bert"};

// Norms as checkpoints of TensorFlow's time call them.
constexpr std::array kOldNorms = {
    WeightRow{Role::kEmbeddingNorm, "", "{body}embeddings.LayerNorm.gamma", kHidden, kNone, kOptional},
    WeightRow{Role::kEmbeddingNormBias, "", "{body}embeddings.LayerNorm.beta", kHidden, kNone, kOptional},
    WeightRow{Role::kAttentionNorm, "", "{body}encoder.layer.{i}.attention.output.LayerNorm.gamma", kHidden, kNone,
              kOptional},
    WeightRow{Role::kAttentionNormBias, "", "{body}encoder.layer.{i}.attention.output.LayerNorm.beta", kHidden, kNone,
              kOptional},
    WeightRow{Role::kMlpNorm, "", "{body}encoder.layer.{i}.output.LayerNorm.gamma", kHidden, kNone, kOptional},
    WeightRow{Role::kMlpNormBias, "", "{body}encoder.layer.{i}.output.LayerNorm.beta", kHidden, kNone, kOptional},
};

constexpr auto kWeights = join(kBertEmbeddings, kBertTypes, kBertLayers, kBertClassifier, kOldNorms);

}  // namespace

extern const Architecture kBert;
constinit const Architecture kBert = {
    .name = "bert",
    .gguf_names = kGgufNames,
    .hf_names = kHfNames,
    .weights = kWeights,
    .hf_roots = kHfEncoderRoots,
    .int_keys = kEncoderTypes,
    .real_keys = kEncoderReals,
    .theta = 0,
    .activation = "gelu",
    .encodes = true,
    .embed = embed_places,
    .layer = post_norm_layer,
    .head = encoder_head,
};

}  // namespace nereid::llm
