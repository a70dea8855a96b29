// SPDX-License-Identifier: Apache-2.0
// What the classifiers and regressors of ai.onnx.ml share: labels of classes and lists of numbers as constants.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

struct ClassLabels {
  std::vector<int64_t> integers;
  std::vector<std::string> texts;  // one of the two is empty
  int64_t count() const { return static_cast<int64_t>(texts.empty() ? integers.size() : texts.size()); }
};

// From classlabels_strings and the attribute that holds integers; labels that are not given are 0, 1, ...
Result<ClassLabels> read_labels(NodeContext& node, std::string_view integers);

// results = {class i64[n], scores}: the node's first output becomes the labels of the classes, its second the scores.
Status give_classes(NodeContext& node, const ClassLabels& labels, const std::vector<ValueId>& results);

// A list of floats, or the tensor that stands in its place, as a constant of rank 1; invalid if there is neither.
Result<ValueId> constant_reals(NodeContext& node, std::string_view list, std::string_view tensor);

}  // namespace nereid::import::onnx
