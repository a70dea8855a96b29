// SPDX-License-Identifier: Apache-2.0
// Attributes, emitting and folding of one node. Regions are in node_regions.cc.
#include "import/onnx/node_view.h"

#include <algorithm>

#include "import/onnx/element_type.h"
#include "import/onnx/tensor_proto.h"
#include "ops/attr_text.h"
#include "ops/run.h"

namespace nereid::import::onnx {
namespace {

using Attr = ::onnx::AttributeProto;

// Files older than the kind field leave it out: then it is told by what is there.
Attr::AttributeType kind_of(const Attr& a) {
  if (a.type() != Attr::UNDEFINED) return a.type();
  if (a.has_f()) return Attr::FLOAT;
  if (a.has_i()) return Attr::INT;
  if (a.has_s()) return Attr::STRING;
  if (a.has_t()) return Attr::TENSOR;
  if (a.has_g()) return Attr::GRAPH;
  if (a.has_tp()) return Attr::TYPE_PROTO;
  if (a.floats_size() > 0) return Attr::FLOATS;
  if (a.ints_size() > 0) return Attr::INTS;
  if (a.strings_size() > 0) return Attr::STRINGS;
  return Attr::UNDEFINED;
}

std::string_view kind_name(Attr::AttributeType kind) {
  switch (kind) {
    case Attr::FLOAT:
      return "a float";
    case Attr::INT:
      return "an integer";
    case Attr::STRING:
      return "a text";
    case Attr::TENSOR:
      return "a tensor";
    case Attr::GRAPH:
      return "a graph";
    case Attr::TYPE_PROTO:
      return "a type";
    case Attr::FLOATS:
      return "a list of floats";
    case Attr::INTS:
      return "a list of integers";
    case Attr::STRINGS:
      return "a list of texts";
    default:
      return "something else";
  }
}

constexpr int64_t kMostFoldedBytes = 1 << 20;

}  // namespace

NodeView::NodeView(GraphReader& reader, const ::onnx::NodeProto& node, graph::Graph& graph, Frame& frame,
                   int64_t version)
    : reader_(reader),
      node_(node),
      graph_(graph),
      frame_(frame),
      version_(version),
      values_before_(graph.value_count()) {
  int outputs = node.output_size();
  while (outputs > 0 && node.output(outputs - 1).empty()) --outputs;
  outputs_.resize(static_cast<size_t>(outputs));
}

Status NodeView::prepare() {
  int count = node_.input_size();
  while (count > 0 && node_.input(count - 1).empty()) --count;
  for (int i = 0; i < count; ++i) {
    inputs_.emplace_back();
    if (node_.input(i).empty()) continue;
    NEREID_TRY(inputs_.back(), reader_.find(frame_, node_.input(i)));
  }
  return Status::ok();
}

Status NodeView::finish() {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const std::string& name = node_.output(static_cast<int>(i));
    if (name.empty()) continue;
    if (!outputs_[i].valid()) return unsupported("its output {} ('{}') cannot be computed here", i, name);
    frame_.values[name] = outputs_[i];
  }
  return Status::ok();
}

bool NodeView::wants_output(size_t i) const {
  return i < outputs_.size() && !node_.output(static_cast<int>(i)).empty();
}

const ConstTensorView* NodeView::known(ValueId id) const {
  if (!id.valid()) return nullptr;
  const graph::Value& v = graph_.value(id);
  return v.kind == graph::Value::Kind::kConstant && v.data.parts.size() == 1 ? v.data.parts.data() : nullptr;
}

const Attr* NodeView::find(std::string_view name) const {
  for (const Attr& a : node_.attribute()) {
    if (a.name() != name) continue;
    if (a.ref_attr_name().empty()) return &a;
    if (frame_.attrs == nullptr) return nullptr;
    const auto it = frame_.attrs->find(a.ref_attr_name());
    return it == frame_.attrs->end() ? nullptr : it->second;
  }
  return nullptr;
}

Result<const Attr*> NodeView::find(std::string_view name, Attr::AttributeType kind, bool optional) const {
  const Attr* a = find(name);
  if (a == nullptr) {
    if (optional) return a;
    return invalid_argument("its attribute '{}' is missing", name);
  }
  const Attr::AttributeType found = kind_of(*a);
  const bool is_list = kind == Attr::INTS || kind == Attr::FLOATS || kind == Attr::STRINGS;
  if (found == kind || (found == Attr::UNDEFINED && is_list)) return a;
  return invalid_argument("its attribute '{}' is {} and should be {}", name, kind_name(found), kind_name(kind));
}

std::vector<std::string> NodeView::attr_names() const {
  std::vector<std::string> names;
  for (const Attr& a : node_.attribute())
    if (find(a.name()) != nullptr) names.push_back(a.name());
  return names;
}

Result<int64_t> NodeView::integer(std::string_view name, std::optional<int64_t> fallback) const {
  NEREID_TRY(const Attr* a, find(name, Attr::INT, fallback.has_value()));
  return a != nullptr ? a->i() : *fallback;
}

Result<double> NodeView::real(std::string_view name, std::optional<double> fallback) const {
  const Attr* any = find(name);
  if (any != nullptr && kind_of(*any) == Attr::INT) return static_cast<double>(any->i());
  NEREID_TRY(const Attr* a, find(name, Attr::FLOAT, fallback.has_value()));
  return a != nullptr ? static_cast<double>(a->f()) : *fallback;
}

Result<std::string> NodeView::text(std::string_view name, std::optional<std::string> fallback) const {
  NEREID_TRY(const Attr* a, find(name, Attr::STRING, fallback.has_value()));
  return a != nullptr ? a->s() : *fallback;
}

Result<std::vector<int64_t>> NodeView::integers(std::string_view name,
                                                std::optional<std::vector<int64_t>> fallback) const {
  NEREID_TRY(const Attr* a, find(name, Attr::INTS, fallback.has_value()));
  if (a == nullptr) return *fallback;
  return std::vector<int64_t>(a->ints().begin(), a->ints().end());
}

Result<std::vector<double>> NodeView::reals(std::string_view name, std::optional<std::vector<double>> fallback) const {
  NEREID_TRY(const Attr* a, find(name, Attr::FLOATS, fallback.has_value()));
  if (a == nullptr) return *fallback;
  return std::vector<double>(a->floats().begin(), a->floats().end());
}

Result<std::vector<std::string>> NodeView::texts(std::string_view name,
                                                 std::optional<std::vector<std::string>> fallback) const {
  NEREID_TRY(const Attr* a, find(name, Attr::STRINGS, fallback.has_value()));
  if (a == nullptr) return *fallback;
  return std::vector<std::string>(a->strings().begin(), a->strings().end());
}

Result<ops::Tensor> NodeView::tensor(std::string_view name) const {
  const Attr* any = find(name);
  if (any != nullptr && any->has_sparse_tensor())
    return read_sparse_tensor(any->sparse_tensor(), reader_.storage().files.get());
  NEREID_TRY(const Attr* a, find(name, Attr::TENSOR, false));
  return read_tensor(a->t(), reader_.storage().files.get());
}

Result<DType> NodeView::dtype(std::string_view name, std::optional<DType> fallback) const {
  const Attr* any = find(name);
  if (any != nullptr && kind_of(*any) == Attr::STRING) {  // opsets below 6 write the word
    for (int number = 1; number <= 16; ++number)
      if (::onnx::TensorProto::DataType_Name(number) == any->s()) return dtype_of_number(number);
    return invalid_argument("its attribute '{}' names the element type '{}', which does not exist", name, any->s());
  }
  NEREID_TRY(const Attr* a, find(name, Attr::INT, fallback.has_value()));
  if (a == nullptr) return *fallback;
  if (a->i() < INT32_MIN || a->i() > INT32_MAX) return invalid_argument("there is no element type {}", a->i());
  return dtype_of_number(static_cast<int32_t>(a->i())).with(fmt::format("its attribute '{}'", name));
}

Result<ops::TensorType> NodeView::type_attr(std::string_view name) const {
  NEREID_TRY(const Attr* a, find(name, Attr::TYPE_PROTO, false));
  return read_type(a->tp()).with(fmt::format("its attribute '{}'", name));
}

std::string NodeView::base_name() const {
  const std::string& own = !node_.name().empty()                                 ? node_.name()
                           : node_.output_size() > 0 && !node_.output(0).empty() ? node_.output(0)
                                                                                 : node_.op_type();
  return frame_.prefix + own;
}

std::optional<std::vector<ValueId>> NodeView::fold(const ops::OpDef& op, const std::vector<ValueId>& inputs,
                                                   const ops::Attrs& attrs) {
  if (op.is_random || !op.regions.empty()) return std::nullopt;
  // The codes of a matrix may be multiplied as they are: passes dequantise those that are not.
  if (op.name == "dequantize_linear" && inputs[0].valid() && type(inputs[0]).shape.is_ranked() &&
      type(inputs[0]).shape.rank() >= 2)
    return std::nullopt;
  std::vector<ConstTensorView> views;
  std::vector<ops::Datum> data(inputs.size());
  std::vector<const ops::Datum*> pointers;
  std::vector<const ops::TensorType*> types;
  std::vector<const ConstTensorView*> constants;
  int64_t bytes = 0;
  for (ValueId in : inputs) {
    types.push_back(in.valid() ? &type(in) : nullptr);
    constants.push_back(known(in));
    views.push_back(constants.back() != nullptr ? *constants.back() : ConstTensorView());
    if (!in.valid()) continue;
    if (constants.back() == nullptr) {
      // Ops of sizes alone need no bytes.
      if (!op.of_sizes || !type(in).is_tensor() || !type(in).shape.is_static()) return std::nullopt;
      static const std::byte kNothing[16] = {};
      views.back() = ConstTensorView(kNothing, type(in).dtype, type(in).shape.sizes());
    } else if (!op.of_sizes) {
      bytes += views.back().dtype == DType::string ? views.back().elements() * 32 : views.back().bytes();
    }
  }
  if (inputs.empty() || bytes > kMostFoldedBytes) return std::nullopt;
  Result<std::vector<ops::TensorType>> results =
      ops::infer_types(op, {.inputs = types, .constants = constants, .attrs = attrs}, op.outputs.size());
  if (!results.is_ok()) return std::nullopt;
  for (const ops::TensorType& t : *results) {
    if (!t.is_tensor()) return std::nullopt;
    const auto elements = t.shape.elements();
    if (op.evaluate != nullptr && (!elements || *elements > kMostFoldedBytes)) return std::nullopt;
  }
  std::vector<ops::Tensor> made;
  if (op.evaluate != nullptr) {
    auto tensors = ops::run(op, views, {}, attrs);
    if (!tensors.is_ok()) return std::nullopt;  // it may never run; if it does, it says what is wrong
    made = std::move(tensors).value();
  } else {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].valid()) data[i] = ops::Tensor::copy(views[i]);
      pointers.push_back(inputs[i].valid() ? &data[i] : nullptr);
    }
    auto values = ops::run_any(op, pointers, attrs);
    if (!values.is_ok()) return std::nullopt;
    for (ops::Datum& d : *values) {
      if (!d.is_tensor() || std::as_const(d).view().elements() > kMostFoldedBytes) return std::nullopt;
      made.push_back(std::move(d.tensor));
    }
  }
  std::vector<ValueId> ids;
  for (ops::Tensor& t : made) ids.push_back(graph_.add_constant(base_name(), std::move(t)));
  return ids;
}

Result<std::vector<ValueId>> NodeView::emit_all(std::string_view op_name, std::vector<ValueId> inputs, ops::Attrs attrs,
                                                size_t results) {
  const ops::OpDef* op = ops::find_op(op_name);
  if (op == nullptr) return internal("there is no op '{}' in the vocabulary", op_name);
  // Missing arguments at the end; too many are the graph's to refuse.
  const bool variadic = !op->inputs.empty() && op->inputs.back().variadic;
  if (!variadic && inputs.size() < op->inputs.size()) inputs.resize(op->inputs.size());
  bool present = true;
  for (size_t i = 0; i < inputs.size() && i < op->inputs.size(); ++i)
    present = present && (inputs[i].valid() || op->inputs[i].optional);
  ops::Attrs complete = attrs;
  if (present && (variadic || inputs.size() == op->inputs.size()) && ops::complete_attrs(*op, complete).is_ok()) {
    std::optional<std::vector<ValueId>> folded = fold(*op, inputs, complete);
    if (folded && folded->size() >= results) return *std::move(folded);
  }
  const bool as_many_as_wanted = !op->outputs.empty() && op->outputs.back().variadic;
  const std::vector<std::string> names(results, base_name());
  Result<std::vector<ValueId>> ids = as_many_as_wanted ? graph_.add_node(op_name, inputs, attrs, names)
                                                       : graph_.add_node(op_name, inputs, attrs, base_name());
  // A branch that does not fit the sizes at hand is one that is not taken.
  if (!ids.is_ok() && frame_.depth > 0)
    ids = graph_.add_doubtful_node(op_name, std::move(inputs), std::move(attrs), names);
  if (ids.is_ok() && ids->size() < results)
    return unsupported("it has {} outputs, of which {} can be computed", results, ids->size());
  return ids;
}

ValueId NodeView::constant(ops::Tensor tensor) {
  return graph_.add_constant(base_name(), std::move(tensor));
}

void NodeView::give(size_t output, ValueId value) {
  if (output >= outputs_.size()) return;
  outputs_[output] = value;
  const std::string& name = node_.output(static_cast<int>(output));
  // What this node made is called as the file calls it; what it passed on keeps its name.
  if (!name.empty() && value.valid() && static_cast<size_t>(value.v) >= values_before_)
    graph_.rename(value, frame_.prefix + name);
}

}  // namespace nereid::import::onnx
