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

// Passes that are pictures.
std::vector<RewriteText> fuse_gated();
std::vector<RewriteText> fuse_gated_linear();
std::vector<RewriteText> fuse_linear_residual();
std::vector<RewriteText> fuse_norm_linear();
std::vector<RewriteText> fuse_norm_residual();
std::vector<RewriteText> fuse_qkv();
std::vector<RewriteText> fuse_rope_attention();

}  // namespace nereid::passes
