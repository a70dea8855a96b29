// SPDX-License-Identifier: Apache-2.0
// From the grammar's statements to a graph.
#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "graph/text.h"
#include "graph/verify.h"
#include "ops/attr_text.h"
#include "ops/tensor.h"

namespace nereid::graph {
namespace {

class Builder {
 public:
  Builder(const GraphSyntax& syntax, const ConstantSource& constants, std::string prefix = {})
      : syntax_(syntax), constants_(constants), prefix_(std::move(prefix)), graph_(syntax.name) {}

  Result<Graph> build() {
    for (const StatementSyntax& s : syntax_.statements)
      NEREID_RETURN_IF_ERROR(s.words.empty() ? node(s) : declaration(s));
    // A region is checked when it runs: its branches need not all fit the types at hand.
    if (prefix_.empty()) NEREID_RETURN_IF_ERROR(verify(graph_).with(syntax_.place.to_string()));
    return std::move(graph_);
  }

 private:
  Status check_new(const ValueSyntax& v) const {
    if (!graph_.find_value(v.name).valid()) return Status::ok();
    return invalid_argument("{}: there is already a value %{}", v.place.to_string(), name_to_text(v.name));
  }

  Result<ValueId> find(const ValueSyntax& v) const {
    const ValueId id = graph_.find_value(v.name);
    if (id.valid()) return id;
    return invalid_argument("{}: there is no value %{} before this", v.place.to_string(), name_to_text(v.name));
  }

  Status declaration(const StatementSyntax& s) {
    const std::string& word = s.words[0];
    if (s.words.size() > 1 || (word != "input" && word != "state" && word != "const" && word != "output"))
      return invalid_argument("{}: expected 'input', 'state', 'const', 'output' or a value, found '{}'",
                              s.place.to_string(), fmt::join(s.words, " "));
    if (!s.op.empty() || (s.literal && (word != "const" || s.values.size() != 1)))
      return invalid_argument("{}: '{}' cannot be followed by '=' here", s.place.to_string(), word);
    for (const ValueSyntax& v : s.values) {
      if (word == "output") {
        if (v.type) return invalid_argument("{}: an output has no type of its own", v.type->place.to_string());
        NEREID_TRY(ValueId id, find(v));
        graph_.add_output(id);
        continue;
      }
      NEREID_RETURN_IF_ERROR(check_new(v));
      if (!v.type) return invalid_argument("{}: %{} needs a type", v.place.to_string(), name_to_text(v.name));
      NEREID_TRY(ops::TensorType type, build_type(*v.type));
      if (word == "input") {
        graph_.add_input(v.name, std::move(type));
      } else if (word == "state") {
        graph_.add_state(v.name, std::move(type));
      } else if (s.literal) {
        NEREID_RETURN_IF_ERROR(constant(v, std::move(type), *s.literal).with(v.place.to_string()));
      } else {
        NEREID_RETURN_IF_ERROR(outside_constant(v, std::move(type)).with(v.place.to_string()));
      }
    }
    return Status::ok();
  }

  template <typename T, typename N>
  static Status copy_numbers(ops::AttrSpec::Kind kind, std::string_view text, ops::Tensor& dst) {
    NEREID_TRY(ops::AttrValue value, ops::attr_from_text(kind, text));
    const auto& numbers = std::get<std::vector<N>>(value);
    if (numbers.size() * sizeof(T) != dst.bytes.size())
      return invalid_argument("{} numbers are given for {} elements", numbers.size(), dst.bytes.size() / sizeof(T));
    for (size_t i = 0; i < numbers.size(); ++i) {
      const T number = static_cast<T>(numbers[i]);
      std::memcpy(dst.bytes.data() + i * sizeof(T), &number, sizeof(T));
    }
    return Status::ok();
  }

  Status constant(const ValueSyntax& v, ops::TensorType type, std::string_view text) {
    if (!type.shape.is_static()) return invalid_argument("a constant with numbers needs a type without symbols");
    // Two characters are the least a number takes; checked first so that memory stays bounded by the text.
    auto elements = type.shape.elements();
    if (!elements || *elements > static_cast<int64_t>(text.size()))
      return invalid_argument("the list is too short for the elements of {}", print_type(type));
    NEREID_TRY(ops::Tensor tensor, ops::Tensor::zeros(type.dtype, type.shape.sizes()));
    switch (type.dtype) {
      case DType::f32:
        NEREID_RETURN_IF_ERROR(copy_numbers<float, double>(ops::AttrSpec::Kind::kFloats, text, tensor));
        break;
      case DType::i32:
        NEREID_RETURN_IF_ERROR(copy_numbers<int32_t, int64_t>(ops::AttrSpec::Kind::kInts, text, tensor));
        break;
      case DType::u8:
        NEREID_RETURN_IF_ERROR(copy_numbers<uint8_t, int64_t>(ops::AttrSpec::Kind::kInts, text, tensor));
        break;
      case DType::i8:
        NEREID_RETURN_IF_ERROR(copy_numbers<int8_t, int64_t>(ops::AttrSpec::Kind::kInts, text, tensor));
        break;
      case DType::i64:
        NEREID_RETURN_IF_ERROR(copy_numbers<int64_t, int64_t>(ops::AttrSpec::Kind::kInts, text, tensor));
        break;
      default:
        return unsupported("a constant of type {} cannot have its numbers written out", dtype_name(type.dtype));
    }
    graph_.add_constant_bytes(v.name, std::move(type), std::move(tensor.bytes));
    return Status::ok();
  }

  Status outside_constant(const ValueSyntax& v, ops::TensorType type) {
    ConstantData data;
    if (constants_ && type.is_tensor() && type.shape.elements()) {
      NEREID_TRY(const void* bytes, constants_(prefix_ + v.name, type));
      if (bytes != nullptr) data.parts.emplace_back(bytes, type.dtype, type.shape.sizes());
    }
    graph_.add_constant(v.name, std::move(type), std::move(data));
    return Status::ok();
  }

  Result<std::vector<std::shared_ptr<const Graph>>> regions(const StatementSyntax& s) {
    std::vector<std::shared_ptr<const Graph>> out;
    for (size_t r = 0; r < s.regions.size(); ++r) {
      const std::string prefix = fmt::format("{}{}/{}/", prefix_, s.values.empty() ? "" : s.values[0].name, r);
      NEREID_TRY(Graph region, Builder(s.regions[r], constants_, prefix).build());
      out.push_back(std::make_shared<const Graph>(std::move(region)));
    }
    return out;
  }

  Status node(const StatementSyntax& s) {
    if (s.literal) return invalid_argument("{}: only a const can be a list of numbers", s.place.to_string());
    std::vector<ValueId> inputs;
    for (const ValueSyntax& arg : s.args) {
      ValueId id;
      if (!arg.name.empty()) {
        NEREID_TRY(id, find(arg));
      }
      inputs.push_back(id);
    }
    const ops::OpDef* op = ops::find_op(s.op);
    if (op == nullptr) return invalid_argument("{}: there is no op '{}'", s.place.to_string(), s.op);
    ops::Attrs attrs;
    for (const AttrSyntax& a : s.attrs) {
      const ops::AttrSpec* spec = nullptr;
      for (const ops::AttrSpec& known : op->attrs)
        if (known.name == a.name) spec = &known;
      if (spec == nullptr || a.text.empty())
        return invalid_argument("{}: {} has no attribute '{}'", a.place.to_string(), s.op, a.name);
      if (attrs.has(a.name)) return invalid_argument("{}: attribute '{}' is given twice", a.place.to_string(), a.name);
      NEREID_TRY(
          ops::AttrValue value,
          ops::attr_from_text(spec->kind, a.text).with(fmt::format("{}: attribute '{}'", a.place.to_string(), a.name)));
      attrs.set(a.name, std::move(value));
    }
    std::vector<std::string> names;
    for (const ValueSyntax& v : s.values) {
      NEREID_RETURN_IF_ERROR(check_new(v));
      names.push_back(v.name);
    }
    NEREID_TRY(auto inner, regions(s));
    Result<std::vector<ValueId>> added = inner.empty() ? graph_.add_node(s.op, inputs, attrs, names)
                                                       : graph_.add_node(s.op, inputs, attrs, names, inner);
    if (!added.is_ok() && !prefix_.empty() && inner.empty())
      added = graph_.add_doubtful_node(s.op, std::move(inputs), std::move(attrs), std::move(names));
    NEREID_TRY(auto results, std::move(added).with(s.place.to_string()));
    for (size_t i = 0; i < results.size(); ++i) {
      const Value& result = graph_.value(results[i]);
      if (result.name != s.values[i].name)
        return invalid_argument("{}: %{} is named twice", s.values[i].place.to_string(),
                                name_to_text(s.values[i].name));
      if (!s.values[i].type) continue;
      NEREID_TRY(ops::TensorType type, build_type(*s.values[i].type));
      if (type == result.type) continue;
      if (may_be(type, result.type)) {
        graph_.set_type(results[i], std::move(type));
      } else {
        return invalid_argument("{}: %{} is said to be {}, but {} gives {}", s.values[i].place.to_string(),
                                name_to_text(result.name), print_type(type), s.op, print_type(result.type));
      }
    }
    return Status::ok();
  }

  const GraphSyntax& syntax_;
  const ConstantSource& constants_;
  std::string prefix_;  // of paths; empty in the outermost graph
  Graph graph_;
};

}  // namespace

Result<ops::TensorType> build_type(const TypeSyntax& syntax) {
  auto dtype = dtype_from_name(syntax.dtype);
  if (!dtype) return invalid_argument("{}: there is no element type '{}'", syntax.place.to_string(), syntax.dtype);
  std::vector<Dim> dims;
  for (const auto& [text, quoted] : syntax.dims) {
    if (quoted || !std::isdigit(static_cast<unsigned char>(text[0]))) {
      if (text == "_" && !quoted) return invalid_argument("{}: '_' is no dimension", syntax.place.to_string());
      dims.push_back(Dim::symbol(text));
      continue;
    }
    int64_t size = 0;
    auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (ec != std::errc() || end != text.data() + text.size())
      return invalid_argument("{}: '{}' is no dimension", syntax.place.to_string(), text);
    dims.emplace_back(size);
  }
  const bool unranked = syntax.dims.size() == 1 && !syntax.dims[0].quoted && syntax.dims[0].text == "...";
  ops::TensorType type{*dtype, unranked ? Shape::unranked() : Shape(std::move(dims))};
  if (!ops::container_from_text(syntax.container, type))
    return invalid_argument("{}: there are no values of kind '{}'", syntax.place.to_string(),
                            fmt::join(syntax.container, " "));
  return type;
}

Result<Graph> build_graph(const GraphSyntax& syntax, const ConstantSource& constants) {
  return Builder(syntax, constants).build();
}

Result<Graph> parse(std::string_view text, const ConstantSource& constants) {
  NEREID_TRY(auto graphs, parse_syntax(text));
  if (graphs.size() != 1) return invalid_argument("the text holds {} graphs where one is wanted", graphs.size());
  return build_graph(graphs[0], constants);
}

}  // namespace nereid::graph
