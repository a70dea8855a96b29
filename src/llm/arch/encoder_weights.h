// SPDX-License-Identifier: Apache-2.0
// Rows of weight tables that encoders share: BERT's names, which RoBERTa's checkpoints use too, and what all read.
#pragma once

#include "llm/arch/decoder_weights.h"

namespace nereid::llm {

inline constexpr std::array kEncoderReals = {
    RealKey{&ModelConfig::norm_eps, "attention.layer_norm_epsilon", "layer_norm_eps", 0, 1, 1e-12},
};
inline constexpr std::array kEncoderTypes = {
    IntKey{&ModelConfig::types, "token_type_count", "type_vocab_size", 0, 1024, 2},
};

inline constexpr std::array kBertEmbeddings = {
    WeightRow{Role::kTokenEmbedding, "token_embd.weight", "{body}embeddings.word_embeddings.weight", kVocab, kHidden},
    WeightRow{Role::kPositionEmbedding,
              "position_embd.weight",
              "{body}embeddings.position_embeddings.weight",
              {{kPositionPad, kPositions, kNone}, 1},
              kHidden},
    WeightRow{Role::kEmbeddingNorm, "token_embd_norm.weight", "{body}embeddings.LayerNorm.weight", kHidden},
    WeightRow{Role::kEmbeddingNormBias, "token_embd_norm.bias", "{body}embeddings.LayerNorm.bias", kHidden},
};
inline constexpr std::array kBertTypes = {
    WeightRow{Role::kTypeEmbedding, "token_types.weight", "{body}embeddings.token_type_embeddings.weight", kTypes,
              kHidden},
};

inline constexpr std::array kBertLayers = {
    WeightRow{Role::kQuery, "blk.{i}.attn_q.weight", "{body}encoder.layer.{i}.attention.self.query.weight", kQuery,
              kHidden},
    WeightRow{Role::kQueryBias, "blk.{i}.attn_q.bias", "{body}encoder.layer.{i}.attention.self.query.bias", kQuery},
    WeightRow{Role::kKey, "blk.{i}.attn_k.weight", "{body}encoder.layer.{i}.attention.self.key.weight", kKeyValue,
              kHidden},
    WeightRow{Role::kKeyBias, "blk.{i}.attn_k.bias", "{body}encoder.layer.{i}.attention.self.key.bias", kKeyValue},
    WeightRow{Role::kValue, "blk.{i}.attn_v.weight", "{body}encoder.layer.{i}.attention.self.value.weight", kKeyValue,
              kHidden},
    WeightRow{Role::kValueBias, "blk.{i}.attn_v.bias", "{body}encoder.layer.{i}.attention.self.value.bias", kKeyValue},
    WeightRow{Role::kAttentionOutput, "blk.{i}.attn_output.weight",
              "{body}encoder.layer.{i}.attention.output.dense.weight", kHidden, kQuery},
    WeightRow{Role::kAttentionOutputBias, "blk.{i}.attn_output.bias",
              "{body}encoder.layer.{i}.attention.output.dense.bias", kHidden},
    WeightRow{Role::kAttentionNorm, "blk.{i}.attn_output_norm.weight",
              "{body}encoder.layer.{i}.attention.output.LayerNorm.weight", kHidden},
    WeightRow{Role::kAttentionNormBias, "blk.{i}.attn_output_norm.bias",
              "{body}encoder.layer.{i}.attention.output.LayerNorm.bias", kHidden},
    WeightRow{Role::kUp, "blk.{i}.ffn_up.weight", "{body}encoder.layer.{i}.intermediate.dense.weight", kFfn, kHidden},
    WeightRow{Role::kUpBias, "blk.{i}.ffn_up.bias", "{body}encoder.layer.{i}.intermediate.dense.bias", kFfn},
    WeightRow{Role::kDown, "blk.{i}.ffn_down.weight", "{body}encoder.layer.{i}.output.dense.weight", kHidden, kFfn},
    WeightRow{Role::kDownBias, "blk.{i}.ffn_down.bias", "{body}encoder.layer.{i}.output.dense.bias", kHidden},
    WeightRow{Role::kMlpNorm, "blk.{i}.layer_output_norm.weight", "{body}encoder.layer.{i}.output.LayerNorm.weight",
              kHidden},
    WeightRow{Role::kMlpNormBias, "blk.{i}.layer_output_norm.bias", "{body}encoder.layer.{i}.output.LayerNorm.bias",
              kHidden},
};

// Heads that judge a text: BERT's, and the one of RoBERTa and MPNet.
inline constexpr std::array kBertClassifier = {
    WeightRow{Role::kPooler, "cls.weight", "{body}pooler.dense.weight", kHidden, kHidden, kOptional},
    WeightRow{Role::kPoolerBias, "cls.bias", "{body}pooler.dense.bias", kHidden, kNone, kOptional},
    WeightRow{Role::kClassifier, "cls.output.weight", "classifier.weight", kLabels, kHidden, kOptional},
    WeightRow{Role::kClassifierBias, "cls.output.bias", "classifier.bias", kLabels, kNone, kOptional},
};
inline constexpr std::array kRobertaClassifier = {
    WeightRow{Role::kPooler, "cls.weight", "classifier.dense.weight", kHidden, kHidden, kOptional},
    WeightRow{Role::kPoolerBias, "cls.bias", "classifier.dense.bias", kHidden, kNone, kOptional},
    WeightRow{Role::kClassifier, "cls.output.weight", "classifier.out_proj.weight", kLabels, kHidden, kOptional},
    WeightRow{Role::kClassifierBias, "cls.output.bias", "classifier.out_proj.bias", kLabels, kNone, kOptional},
    // What a bare model brings along and no classifier reads.
    WeightRow{Role::kPooler, "", "{body}pooler.dense.weight", kHidden, kHidden, kOptional},
    WeightRow{Role::kPoolerBias, "", "{body}pooler.dense.bias", kHidden, kNone, kOptional},
};

}  // namespace nereid::llm
