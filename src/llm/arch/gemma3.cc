// SPDX-License-Identifier: Apache-2.0
// Gemma 3 (text): four norms a layer, windowed layers with a rope of their own between global ones, a gelu gate.
#include "llm/arch/decoder_weights.h"
#include "llm/block/embed.h"
#include "llm/block/head.h"
#include "llm/block/layer.h"

namespace nereid::llm {
namespace {

constexpr std::string_view kGgufNames[] = {"gemma3"};
constexpr std::string_view kHfNames[] = {"Gemma3ForCausalLM", "Gemma3ForConditionalGeneration", "gemma3_text",
                                         "gemma3"};

constexpr auto kWeights = join(kEnds, kSandwichNorms, kAttention, kHeadNorms, kGatedMlp);

// What text_config of the multimodal checkpoints leaves out.
constexpr IntKey kIntKeys[] = {
    {&ModelConfig::heads, "attention.head_count", "num_attention_heads", 1, 4096, 8},
    {&ModelConfig::kv_heads, "attention.head_count_kv", "num_key_value_heads", 1, 4096, 4},
    {&ModelConfig::head_dim, "attention.key_length", "head_dim", 2, 4096, 256},
    {&ModelConfig::context_length, "context_length", "max_position_embeddings", 1, int64_t{1} << 30, 131072},
};

// The 27B model: hidden / heads = 5376 / 32 instead of head_dim.
constexpr QueryScalar kQueryScalars[] = {{.layers = 62, .value = 168}};

}  // namespace

extern const Architecture kGemma3;
constinit const Architecture kGemma3 = {
    .name = "gemma3",
    .gguf_names = kGgufNames,
    .hf_names = kHfNames,
    .weights = kWeights,
    .hf = {.norm_offset = 1},  // GGUF files hold w + 1 already
    .int_keys = kIntKeys,
    .gguf_query_scalars = kQueryScalars,
    .window = {.gguf = "attention.sliding_window", .hf = "sliding_window", .fallback = 4096, .period = 6},
    .theta = 1e6,
    .local_theta = 1e4,
    .activation = "gelu_tanh",
    .tied_head = true,
    .embedding_scale = EmbeddingScale::kRootOfHidden,
    .embed = embed_tokens,
    .layer = sandwich_norm_layer,
    .head = logits_head,
};

}  // namespace nereid::llm
