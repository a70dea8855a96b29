// SPDX-License-Identifier: Apache-2.0
// Where the matrices that a graph was built with lie after the fusions: q, k and v are runs of rows of one constant.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace nereid::compile {

struct WeightRows {
  graph::ValueId constant;
  int64_t first = 0, count = 0;
};

// By the name that each matrix had at first; of the matrices of linear and gated_linear.
std::map<std::string, WeightRows, std::less<>> matrix_rows(const graph::Graph& graph);

// "blk.0.attn_q+k+v.weight": "blk.0.attn_q.weight" and so on, as fusions join names; a name without '+' is itself.
std::vector<std::string> names_before_joining(std::string_view name);

}  // namespace nereid::compile
