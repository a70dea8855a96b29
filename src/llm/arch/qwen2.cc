// SPDX-License-Identifier: Apache-2.0
// Qwen 2 and 2.5: Llama with biases on q, k and v.
#include "llm/arch/decoder_weights.h"
#include "llm/block/embed.h"
#include "llm/block/head.h"
#include "llm/block/layer.h"

namespace nereid::llm {
namespace {

constexpr std::string_view kGgufNames[] = {"qwen2"};
constexpr std::string_view kHfNames[] = {"Qwen2ForCausalLM", "qwen2"};

constexpr auto kWeights = join(kEnds, kPreNorms, kAttention, kQkvBiases, kGatedMlp);

}  // namespace

extern const Architecture kQwen2;
constinit const Architecture kQwen2 = {
    .name = "qwen2",
    .gguf_names = kGgufNames,
    .hf_names = kHfNames,
    .weights = kWeights,
    .window = {.hf = "sliding_window",
               .hf_switch = "use_sliding_window",
               .hf_first_layer = "max_window_layers",
               .first_layer = 28,
               .fallback = 4096},
    .embed = embed_tokens,
    .layer = pre_norm_layer,
    .head = logits_head,
};

}  // namespace nereid::llm
