// SPDX-License-Identifier: Apache-2.0
// Mistral 7B, Nemo and their like as Hugging Face checkpoints: Llama with windows. Their GGUF files say llama.
#include "llm/arch/decoder_weights.h"
#include "llm/block/embed.h"
#include "llm/block/head.h"
#include "llm/block/layer.h"

namespace nereid::llm {
namespace {

constexpr std::string_view kGgufNames[] = {"mistral"};
constexpr std::string_view kHfNames[] = {"MistralForCausalLM", "Mistral3ForConditionalGeneration", "mistral",
                                         "mistral3"};

constexpr auto kWeights = join(kEnds, kPreNorms, kAttention, kGatedMlp);

}  // namespace

extern const Architecture kMistral;
constinit const Architecture kMistral = {
    .name = "mistral",
    .gguf_names = kGgufNames,
    .hf_names = kHfNames,
    .weights = kWeights,
    .gguf = {.rope_interleaved = true},
    .window = {.gguf = "attention.sliding_window", .hf = "sliding_window", .fallback = 4096},
    .embed = embed_tokens,
    .layer = pre_norm_layer,
    .head = logits_head,
};

}  // namespace nereid::llm
