// SPDX-License-Identifier: Apache-2.0
// From a file's bytes to a model.
#include "import/onnx/onnx_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/mapped_file.h"
#include "base/release_pages.h"
#include "graph/each_constant.h"
#include "import/onnx/element_type.h"
#include "import/onnx/graph_reader.h"
#include "import/onnx/parse_model.h"

namespace nereid::import::onnx {
namespace {

constexpr int64_t kNewestOpset = 28;  // of the standard's own operators

Status apply_shape(ops::TensorType& type, const std::string& name, const std::vector<int64_t>& sizes) {
  const Shape given = Shape::of(sizes);
  bool fits = type.is_tensor() && (!type.shape.is_ranked() || type.shape.rank() == given.rank());
  for (int d = 0; fits && type.shape.is_ranked() && d < given.rank(); ++d)
    fits = given[d].size() >= 0 && (!type.shape[d].is_static() || type.shape[d] == given[d]);
  if (!fits)
    return invalid_argument("input '{}' is {} and cannot have the shape {}", name, type.to_string(), given.to_string());
  type.shape = given;
  return Status::ok();
}

Status read_inputs(const ::onnx::GraphProto& proto, const ImportOptions& options, OnnxModel& out, Frame& frame) {
  std::set<std::string_view> initializers;
  for (const auto& t : proto.initializer()) initializers.insert(t.name());
  for (const auto& in : proto.input()) {
    NEREID_TRY(ops::TensorType type, read_type(in.type()).with("input '" + in.name() + "'"));
    const bool has_default = initializers.contains(in.name());
    if (has_default) out.defaults[in.name()] = type;
    if (has_default && !options.overridden.contains(in.name())) continue;
    if (frame.values.contains(in.name())) return invalid_argument("two inputs are called '{}'", in.name());
    if (const auto it = options.shapes.find(in.name()); it != options.shapes.end())
      NEREID_RETURN_IF_ERROR(apply_shape(type, in.name(), it->second));
    frame.values[in.name()] = out.graph.add_input(in.name(), std::move(type));
  }
  for (const auto& [name, sizes] : options.shapes)
    if (!frame.values.contains(name)) return invalid_argument("a shape is given for '{}', which is no input", name);
  for (const std::string& name : options.overridden)
    if (!frame.values.contains(name)) return invalid_argument("there is no input '{}'", name);
  return Status::ok();
}

std::vector<SourceWeight> list_weights(const ::onnx::GraphProto& graph) {
  std::vector<SourceWeight> out;
  for (const auto& tensor : graph.initializer()) {
    const Result<DType> dtype = dtype_of_number(tensor.data_type());
    out.push_back({tensor.name(),
                   fmt::format("{}[{}]", dtype.is_ok() ? dtype_name(*dtype) : "?", fmt::join(tensor.dims(), ", "))});
  }
  return out;
}

void count_nodes(const google::protobuf::RepeatedPtrField<::onnx::NodeProto>& nodes,
                 std::map<std::pair<std::string, std::string>, int64_t>& counts, int depth) {
  if (depth > 100) return;
  for (const auto& n : nodes) {
    ++counts[{std::string(canonical_domain(n.domain())), n.op_type()}];
    for (const auto& a : n.attribute()) {
      if (a.has_g()) count_nodes(a.g().node(), counts, depth + 1);
      for (const auto& g : a.graphs()) count_nodes(g.node(), counts, depth + 1);
    }
  }
}

}  // namespace

namespace {

Result<OnnxModel> import_parsed(std::shared_ptr<ModelStorage> storage, const std::string& folder,
                                const ImportOptions& options) {
  storage->files = std::make_unique<ExternalFiles>(folder);
  const ::onnx::ModelProto& proto = storage->model;
  OnnxModel out{.graph = graph::Graph(proto.graph().name().empty() ? "main" : proto.graph().name())};
  out.ir_version = proto.ir_version();
  out.opsets = read_opsets(proto.opset_import());
  if (const auto it = out.opsets.find(""); it != out.opsets.end() && (it->second < 1 || it->second > kNewestOpset))
    return unsupported("the file is of opset {}; 1 to {} are read", it->second, kNewestOpset);
  out.producer = proto.producer_version().empty()
                     ? proto.producer_name()
                     : fmt::format("{} {}", proto.producer_name(), proto.producer_version());
  out.description = proto.doc_string();
  for (const auto& entry : proto.metadata_props()) out.metadata[entry.key()] = entry.value();

  out.weights = list_weights(proto.graph());
  if (options.check_weights) NEREID_RETURN_IF_ERROR(options.check_weights(out.weights));

  Frame frame;
  frame.opsets = &out.opsets;
  NEREID_RETURN_IF_ERROR(read_inputs(proto.graph(), options, out, frame));
  GraphReader reader(*storage);
  NEREID_RETURN_IF_ERROR(reader.read_body(proto.graph(), out.graph, frame));
  for (const auto& output : proto.graph().output()) {
    NEREID_TRY(const ValueId id, reader.find(frame, output.name()).with("the graph's output"));
    out.graph.add_output(id);
    out.output_names.push_back(output.name());
  }
  out.has_external_data = storage->files->are_used();
  out.storage = std::move(storage);
  return out;
}

}  // namespace

Result<OnnxModel> import_bytes(std::string_view bytes, const std::string& folder, const ImportOptions& options) {
  auto storage = std::make_shared<ModelStorage>();
  NEREID_RETURN_IF_ERROR(parse_model(bytes, storage->model));
  return import_parsed(std::move(storage), folder, options);
}

void release_unread(const OnnxModel& model) {
  constexpr size_t kLeastBytes = 64 << 10;
  const auto& storage = *static_cast<const ModelStorage*>(model.storage.get());
  std::set<const std::byte*> read;  // where constants begin
  graph::each_constant(model.graph,
                       [&](const ConstTensorView& part) { read.insert(static_cast<const std::byte*>(part.data)); });
  const auto release = [&](const std::byte* data, size_t bytes) {
    const auto it = read.lower_bound(data);
    if (bytes >= kLeastBytes && (it == read.end() || *it >= data + bytes)) release_pages({data, bytes});
  };
  for (const auto& tensor : storage.model.graph().initializer())
    release(reinterpret_cast<const std::byte*>(tensor.raw_data().data()), tensor.raw_data().size());
  for (const ops::Tensor& tensor : storage.tensors) {
    const ConstTensorView view = tensor.view();
    if (view.dtype != DType::string)
      release(static_cast<const std::byte*>(view.data), static_cast<size_t>(view.bytes()));
  }
}

Result<OnnxModel> import_file(const std::string& path, const ImportOptions& options) {
  auto storage = std::make_shared<ModelStorage>();
  {
    NEREID_TRY(const MappedFile file, MappedFile::open(path));
    NEREID_RETURN_IF_ERROR(parse_model(file, storage->model).with("reading " + path));
  }
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return import_parsed(std::move(storage), folder.empty() ? std::string(".") : folder.string(), options)
      .with("reading " + path);
}

Result<std::vector<Coverage>> coverage(const std::string& path) {
  NEREID_TRY(const MappedFile file, MappedFile::open(path));
  ::onnx::ModelProto model;
  NEREID_RETURN_IF_ERROR(parse_model(file, model).with("reading " + path));
  std::map<std::pair<std::string, std::string>, int64_t> counts;
  count_nodes(model.graph().node(), counts, 0);
  std::set<std::pair<std::string, std::string>> functions;
  for (const auto& f : model.functions()) {
    count_nodes(f.node(), counts, 0);
    functions.emplace(canonical_domain(f.domain()), f.name());
  }
  const Opsets opsets = read_opsets(model.opset_import());
  std::vector<Coverage> out;
  for (const auto& [op, nodes] : counts) {
    NEREID_TRY(const int64_t version, version_of(opsets, op.first));
    Coverage line{.domain = op.first, .name = op.second, .version = version, .nodes = nodes, .refusal = {}};
    if (!functions.contains(op)) {
      const Result<const OpRow*> row = find_row(op.first, op.second, version);
      if (!row.is_ok()) line.refusal = row.status().message();
    }
    out.push_back(std::move(line));
  }
  return out;
}

}  // namespace nereid::import::onnx
