// SPDX-License-Identifier: Apache-2.0
// Rows of weight tables that most decoders share, by the part of the model; an architecture joins what it has.
#pragma once

#include <algorithm>
#include <array>

#include "llm/arch/architecture.h"

namespace nereid::llm {

template <size_t... N>
constexpr auto join(const std::array<WeightRow, N>&... parts) {
  // WeightRow has no empty state, so the result starts as copies of some row.
  const std::array<WeightRow, sizeof...(parts)> firsts = {parts[0]...};
  auto joined = [&]<size_t... I>(std::index_sequence<I...>) {
    return std::array<WeightRow, (N + ...)>{((void)I, firsts[0])...};
  }
  (std::make_index_sequence<(N + ...)>());
  size_t at = 0;
  ((std::ranges::copy(parts, joined.begin() + at), at += N), ...);
  return joined;
}

using enum Extent;
inline constexpr WeightRow::Need kOptional = WeightRow::Need::kOptional;

// Once a model. Without an output matrix the head is tied to the embedding.
inline constexpr std::array kEnds = {
    WeightRow{Role::kTokenEmbedding, "token_embd.weight", "{body}embed_tokens.weight", kVocab, kHidden},
    WeightRow{Role::kOutputNorm, "output_norm.weight", "{body}norm.weight", kHidden},
    WeightRow{Role::kOutput, "output.weight", "{head}lm_head.weight", kVocab, kHidden, kOptional},
};

// Divisors of rope frequencies that GGUF keeps as tensors (llama3 and longrope scalings).
inline constexpr std::array kRopeFactors = {
    WeightRow{Role::kRopeDivisors, "rope_freqs.weight", "", kRopePairs, kNone, kOptional},
    WeightRow{Role::kRopeShortFactors, "rope_factors_short.weight", "", kRopePairs, kNone, kOptional},
    WeightRow{Role::kRopeLongFactors, "rope_factors_long.weight", "", kRopePairs, kNone, kOptional},
};

inline constexpr std::array kAttention = {
    WeightRow{Role::kQuery, "blk.{i}.attn_q.weight", "{body}layers.{i}.self_attn.q_proj.weight", kQuery, kHidden},
    WeightRow{Role::kKey, "blk.{i}.attn_k.weight", "{body}layers.{i}.self_attn.k_proj.weight", kKeyValue, kHidden},
    WeightRow{Role::kValue, "blk.{i}.attn_v.weight", "{body}layers.{i}.self_attn.v_proj.weight", kKeyValue, kHidden},
    WeightRow{Role::kAttentionOutput, "blk.{i}.attn_output.weight", "{body}layers.{i}.self_attn.o_proj.weight", kHidden,
              kQuery},
};

inline constexpr std::array kQkvBiases = {
    WeightRow{Role::kQueryBias, "blk.{i}.attn_q.bias", "{body}layers.{i}.self_attn.q_proj.bias", kQuery},
    WeightRow{Role::kKeyBias, "blk.{i}.attn_k.bias", "{body}layers.{i}.self_attn.k_proj.bias", kKeyValue},
    WeightRow{Role::kValueBias, "blk.{i}.attn_v.bias", "{body}layers.{i}.self_attn.v_proj.bias", kKeyValue},
};

// Biases of all four projections, where the hyper-parameters promise them or GGUF has them.
inline constexpr std::array kAttentionBiases = {
    WeightRow{Role::kQueryBias, "blk.{i}.attn_q.bias", "{body}layers.{i}.self_attn.q_proj.bias", kQuery, kNone,
              kOptional, &ModelConfig::attention_bias},
    WeightRow{Role::kKeyBias, "blk.{i}.attn_k.bias", "{body}layers.{i}.self_attn.k_proj.bias", kKeyValue, kNone,
              kOptional, &ModelConfig::attention_bias},
    WeightRow{Role::kValueBias, "blk.{i}.attn_v.bias", "{body}layers.{i}.self_attn.v_proj.bias", kKeyValue, kNone,
              kOptional, &ModelConfig::attention_bias},
    WeightRow{Role::kAttentionOutputBias, "blk.{i}.attn_output.bias", "{body}layers.{i}.self_attn.o_proj.bias", kHidden,
              kNone, kOptional, &ModelConfig::attention_bias},
};

inline constexpr std::array kHeadNorms = {
    WeightRow{Role::kQueryNorm, "blk.{i}.attn_q_norm.weight", "{body}layers.{i}.self_attn.q_norm.weight", kHeadDim},
    WeightRow{Role::kKeyNorm, "blk.{i}.attn_k_norm.weight", "{body}layers.{i}.self_attn.k_norm.weight", kHeadDim},
};

inline constexpr std::array kPreNorms = {
    WeightRow{Role::kAttentionNorm, "blk.{i}.attn_norm.weight", "{body}layers.{i}.input_layernorm.weight", kHidden},
    WeightRow{Role::kMlpNorm, "blk.{i}.ffn_norm.weight", "{body}layers.{i}.post_attention_layernorm.weight", kHidden},
};

inline constexpr std::array kSandwichNorms = {
    WeightRow{Role::kAttentionNorm, "blk.{i}.attn_norm.weight", "{body}layers.{i}.input_layernorm.weight", kHidden},
    WeightRow{Role::kPostAttentionNorm, "blk.{i}.post_attention_norm.weight",
              "{body}layers.{i}.post_attention_layernorm.weight", kHidden},
    WeightRow{Role::kMlpNorm, "blk.{i}.ffn_norm.weight", "{body}layers.{i}.pre_feedforward_layernorm.weight", kHidden},
    WeightRow{Role::kPostMlpNorm, "blk.{i}.post_ffw_norm.weight", "{body}layers.{i}.post_feedforward_layernorm.weight",
              kHidden},
};

inline constexpr std::array kGatedMlp = {
    WeightRow{Role::kGate, "blk.{i}.ffn_gate.weight", "{body}layers.{i}.mlp.gate_proj.weight", kFfn, kHidden},
    WeightRow{Role::kUp, "blk.{i}.ffn_up.weight", "{body}layers.{i}.mlp.up_proj.weight", kFfn, kHidden},
    WeightRow{Role::kDown, "blk.{i}.ffn_down.weight", "{body}layers.{i}.mlp.down_proj.weight", kHidden, kFfn},
};

inline constexpr std::array kMlpBiases = {
    WeightRow{Role::kGateBias, "blk.{i}.ffn_gate.bias", "{body}layers.{i}.mlp.gate_proj.bias", kFfn, kNone, kOptional,
              &ModelConfig::mlp_bias},
    WeightRow{Role::kUpBias, "blk.{i}.ffn_up.bias", "{body}layers.{i}.mlp.up_proj.bias", kFfn, kNone, kOptional,
              &ModelConfig::mlp_bias},
    WeightRow{Role::kDownBias, "blk.{i}.ffn_down.bias", "{body}layers.{i}.mlp.down_proj.bias", kHidden, kNone,
              kOptional, &ModelConfig::mlp_bias},
};

}  // namespace nereid::llm
