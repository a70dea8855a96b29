// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/source_nodes.h"

#include "base/mapped_file.h"
#include "import/onnx/parse_model.h"

namespace nereid::import::onnx {
namespace {

// As deep as the parser of the messages goes.
void collect(const ::onnx::GraphProto& graph, std::vector<SourceNode>& out) {
  for (const auto& node : graph.node()) {
    out.push_back({.name = node.name(), .op = node.op_type(), .domain = node.domain(), .outputs = {}});
    out.back().outputs.assign(node.output().begin(), node.output().end());
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) collect(attribute.g(), out);
      for (const auto& inner : attribute.graphs()) collect(inner, out);
    }
  }
}

}  // namespace

Result<std::vector<SourceNode>> source_nodes(const std::string& path) {
  NEREID_TRY(const MappedFile file, MappedFile::open(path));
  ::onnx::ModelProto model;
  NEREID_RETURN_IF_ERROR(parse_model(file, model).with("reading " + path));
  std::vector<SourceNode> out;
  collect(model.graph(), out);
  return out;
}

}  // namespace nereid::import::onnx
