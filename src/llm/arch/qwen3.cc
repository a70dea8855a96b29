// SPDX-License-Identifier: Apache-2.0
// Qwen 3, dense: Llama with norms over each head of q and k; heads * head_dim need not be the width.
#include "llm/arch/decoder_weights.h"
#include "llm/block/embed.h"
#include "llm/block/head.h"
#include "llm/block/layer.h"

namespace nereid::llm {
namespace {

constexpr std::string_view kGgufNames[] = {"qwen3"};
constexpr std::string_view kHfNames[] = {"Qwen3ForCausalLM", "qwen3"};

constexpr auto kWeights = join(kEnds, kPreNorms, kAttention, kAttentionBiases, kHeadNorms, kGatedMlp);

}  // namespace

extern const Architecture kQwen3;
constinit const Architecture kQwen3 = {
    .name = "qwen3",
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
