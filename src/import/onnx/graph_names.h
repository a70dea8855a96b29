// SPDX-License-Identifier: Apache-2.0
// What can be told of a graph's nodes from their names alone: an order in which they can run, and what they take from
// outside.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "onnx-ml.pb.h"

namespace nereid::import::onnx {

using NodeList = google::protobuf::RepeatedPtrField<::onnx::NodeProto>;

// Names that the graph (or a graph inside it) reads and does not define, in order of the names.
std::set<std::string> free_names(const ::onnx::GraphProto& graph);

// Indices of the nodes, each after those whose results it reads; the file's order where that is one.
// kInvalidArgument: a cycle, or a name that two nodes give; names a node.
Result<std::vector<int>> running_order(const NodeList& nodes);

}  // namespace nereid::import::onnx
