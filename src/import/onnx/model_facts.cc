// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/model_facts.h"

#include <google/protobuf/io/zero_copy_stream.h>

#include <algorithm>
#include <set>

#include "base/mapped_file.h"
#include "base/release_pages.h"
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

// A file's bytes in pieces; those that have been read leave memory.
class PassingPieces final : public google::protobuf::io::ZeroCopyInputStream {
 public:
  explicit PassingPieces(std::span<const std::byte> bytes) : bytes_(bytes) {}
  bool Next(const void** data, int* size) override {
    release_pages(bytes_.subspan(released_, at_ - released_));
    released_ = at_;
    if (at_ == bytes_.size()) return false;
    const size_t piece = std::min(kPiece, bytes_.size() - at_);
    *data = bytes_.data() + at_;
    *size = static_cast<int>(piece);
    at_ += piece;
    return true;
  }
  void BackUp(int count) override { at_ -= static_cast<size_t>(count); }
  bool Skip(int count) override {
    const size_t wanted = static_cast<size_t>(count), left = bytes_.size() - at_;
    at_ += std::min(wanted, left);
    return wanted <= left;
  }
  int64_t ByteCount() const override { return static_cast<int64_t>(at_); }

 private:
  static constexpr size_t kPiece = size_t{4} << 20;
  std::span<const std::byte> bytes_;
  size_t at_ = 0, released_ = 0;
};

Status check_model(bool parsed, size_t bytes, const ::onnx::ModelProto& model) {
  if (!parsed) return invalid_argument("these {} bytes are no ONNX model: they are damaged or cut short", bytes);
  if (!model.has_graph() || model.ir_version() <= 0)
    return invalid_argument("this is no ONNX model: it has no graph or no version");
  return Status::ok();
}
Status check_size(size_t bytes) {
  if (bytes <= static_cast<size_t>(INT32_MAX)) return Status::ok();
  return unsupported("the file has {} bytes; a model of more than 2 GiB keeps its tensors in files of their own",
                     bytes);
}

}  // namespace

Status parse_model(std::string_view bytes, ::onnx::ModelProto& model) {
  NEREID_RETURN_IF_ERROR(check_size(bytes.size()));
  return check_model(model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())), bytes.size(), model);
}

Status parse_model(const MappedFile& file, ::onnx::ModelProto& model) {
  NEREID_RETURN_IF_ERROR(check_size(file.size()));
  PassingPieces pieces(file.bytes());
  return check_model(model.ParseFromZeroCopyStream(&pieces), file.size(), model);
}

Result<ModelFacts> model_facts(const std::string& path) {
  NEREID_TRY(const MappedFile file, MappedFile::open(path));
  ::onnx::ModelProto model;
  NEREID_RETURN_IF_ERROR(parse_model(file, model).with("reading " + path));
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
