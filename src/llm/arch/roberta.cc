// SPDX-License-Identifier: Apache-2.0
// RoBERTa, XLM-RoBERTa and CamemBERT: BERT with places that begin behind the token of padding, and a head of its own.
#include "llm/arch/encoder_weights.h"
#include "llm/block/embed.h"
#include "llm/block/head.h"
#include "llm/block/layer.h"

namespace nereid::llm {
namespace {

constexpr std::string_view kHfNames[] = {
    "RobertaModel",    "RobertaForSequenceClassification",    "RobertaForMaskedLM",    "roberta",
    "XLMRobertaModel", "XLMRobertaForSequenceClassification", "XLMRobertaForMaskedLM", "xlm-roberta",
    "CamembertModel",  "CamembertForSequenceClassification",  "CamembertForMaskedLM",  "camembert",
};

constexpr auto kWeights = join(kBertEmbeddings, kBertTypes, kBertLayers, kRobertaClassifier);

}  // namespace

extern const Architecture kRoberta;
constinit const Architecture kRoberta = {
    .name = "roberta",
    .gguf_names = {},
    .hf_names = kHfNames,
    .weights = kWeights,
    .hf_roots = kHfEncoderRoots,
    .int_keys = kEncoderTypes,
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
