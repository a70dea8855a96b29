// SPDX-License-Identifier: Apache-2.0
// Llama 2 and 3.x, SmolLM2 and what else calls itself llama; GGUF files of Mistral too.
#include "llm/arch/decoder_weights.h"
#include "llm/block/embed.h"
#include "llm/block/head.h"
#include "llm/block/layer.h"

namespace nereid::llm {
namespace {

constexpr std::string_view kGgufNames[] = {"llama"};
constexpr std::string_view kHfNames[] = {"LlamaForCausalLM", "llama"};

constexpr auto kWeights = join(kEnds, kRopeFactors, kPreNorms, kAttention, kAttentionBiases, kGatedMlp, kMlpBiases);

}  // namespace

extern const Architecture kLlama;
constinit const Architecture kLlama = {
    .name = "llama",
    .gguf_names = kGgufNames,
    .hf_names = kHfNames,
    .weights = kWeights,
    .gguf = {.rope_interleaved = true},  // the converter reorders the rows of q and k
    .window = {.gguf = "attention.sliding_window"},
    .embed = embed_tokens,
    .layer = pre_norm_layer,
    .head = logits_head,
};

}  // namespace nereid::llm
