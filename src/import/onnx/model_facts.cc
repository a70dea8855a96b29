// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/model_facts.h"

#include <set>

#include "base/mapped_file.h"
#include "import/onnx/element_type.h"
#include "import/onnx/graph_reader.h"
#include "import/onnx/parse_model.h"

namespace nereid::import::onnx {
namespace {

std::string type_text(const ::onnx::TypeProto& type) {
  const Result<ops::TensorType> read = read_type(type);
  return read.is_ok() ? read->to_string() : read.status().message();
}

StoredTensor stored(const ::onnx::TensorProto& tensor) {
  StoredTensor out{.name = tensor.name(), .dtype = fmt::format("type {}", tensor.data_type()), .sizes = {}, .file = {}};
  out.sizes.assign(tensor.dims().begin(), tensor.dims().end());
  for (const auto& entry : tensor.external_data())
    if (entry.key() == "location") out.file = entry.value();
  const Result<DType> dtype = dtype_of_number(tensor.data_type());
  if (!dtype.is_ok()) return out;
  out.dtype = dtype_name(*dtype);
  if (*dtype == DType::string) {
    for (const std::string& text : tensor.string_data()) out.bytes += static_cast<int64_t>(text.size());
  } else if (const auto elements = checked_product(out.sizes)) {
    out.bytes = dtype_bytes(*dtype, *elements).value_or(0);
  }
  return out;
}

}  // namespace

Status parse_model(std::string_view bytes, ::onnx::ModelProto& model) {
  if (bytes.size() > static_cast<size_t>(INT32_MAX))
    return unsupported("the file has {} bytes; a model of more than 2 GiB keeps its tensors in files of their own",
                       bytes.size());
  if (!model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return invalid_argument("these {} bytes are no ONNX model: they are damaged or cut short", bytes.size());
  if (!model.has_graph() || model.ir_version() <= 0)
    return invalid_argument("this is no ONNX model: it has no graph or no version");
  return Status::ok();
}

Result<ModelFacts> model_facts(const std::string& path) {
  NEREID_TRY(const MappedFile file, MappedFile::open(path));
  ::onnx::ModelProto model;
  NEREID_RETURN_IF_ERROR(parse_model(file.text(), model).with("reading " + path));
  const ::onnx::GraphProto& graph = model.graph();
  ModelFacts out{.ir_version = model.ir_version(),
                 .producer = model.producer_name(),
                 .domain = model.domain(),
                 .description = model.doc_string(),
                 .graph = graph.name(),
                 .model_version = model.model_version(),
                 .opsets = read_opsets(model.opset_import()),
                 .metadata = {},
                 .inputs = {},
                 .outputs = {},
                 .tensors = {},
                 .results = {},
                 .nodes = graph.node_size(),
                 .functions = model.functions_size()};
  if (!model.producer_version().empty()) out.producer += (out.producer.empty() ? "" : " ") + model.producer_version();
  for (const auto& entry : model.metadata_props()) out.metadata[entry.key()] = entry.value();
  std::set<std::string_view> names;
  for (const auto& tensor : graph.initializer()) {
    names.insert(tensor.name());
    out.tensors.push_back(stored(tensor));
  }
  for (const auto& in : graph.input())
    if (!names.contains(in.name())) out.inputs.push_back({in.name(), type_text(in.type())});
  for (const auto& node : graph.node())
    for (const std::string& name : node.output())
      if (!name.empty()) out.results.push_back(name);
  for (const auto& o : graph.output())
    out.outputs.push_back({o.name(), o.has_type() ? type_text(o.type()) : std::string("no type is declared")});
  return out;
}

}  // namespace nereid::import::onnx
