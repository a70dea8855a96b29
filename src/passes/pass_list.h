// SPDX-License-Identifier: Apache-2.0
// Declares every pass; pipeline.cc gives their order and reasons.
#pragma once

#include <vector>

#include "passes/pass.h"

namespace nereid::passes {

// Passes that are code.
Status dead_code(graph::Graph& graph, PassContext& context);
Status fold_constants(graph::Graph& graph, PassContext& context);
Status fold_identity(graph::Graph& graph, PassContext& context);

// Of networks.
Status expand_quantized(graph::Graph& graph, PassContext& context);
Status fold_affine(graph::Graph& graph, PassContext& context);
Status fold_dequantized(graph::Graph& graph, PassContext& context);
Status fold_moves(graph::Graph& graph, PassContext& context);
Status fold_sizes(graph::Graph& graph, PassContext& context);
Status fuse_activation(graph::Graph& graph, PassContext& context);
Status fuse_attention(graph::Graph& graph, PassContext& context);
Status fuse_epilogue(graph::Graph& graph, PassContext& context);
Status fuse_normalization(graph::Graph& graph, PassContext& context);
Status fuse_one_hot(graph::Graph& graph, PassContext& context);
Status fuse_pad(graph::Graph& graph, PassContext& context);
Status fuse_program(graph::Graph& graph, PassContext& context);
Status fuse_softmax(graph::Graph& graph, PassContext& context);
Status inline_if(graph::Graph& graph, PassContext& context);
Status layout_last(graph::Graph& graph, PassContext& context);
Status lower_dense(graph::Graph& graph, PassContext& context);
Status lower_quantized(graph::Graph& graph, PassContext& context);
Status merge_common(graph::Graph& graph, PassContext& context);
Status move_quantize(graph::Graph& graph, PassContext& context);

// Passes that are pictures.
std::vector<RewriteText> fuse_gated();
std::vector<RewriteText> fuse_gated_linear();
std::vector<RewriteText> fuse_linear_residual();
std::vector<RewriteText> fuse_norm_linear();
std::vector<RewriteText> fuse_norm_residual();
std::vector<RewriteText> fuse_qkv();
std::vector<RewriteText> fuse_rope_attention();

}  // namespace nereid::passes
