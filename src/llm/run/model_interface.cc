// SPDX-License-Identifier: Apache-2.0
#include "llm/run/model_interface.h"

#include <initializer_list>

namespace nereid::llm {
namespace {

using graph::Graph;
using graph::Value;
using graph::ValueId;

Status check_input(const Graph& g, std::string_view name, std::initializer_list<const char*> symbols) {
  std::vector<Dim> dims;
  for (const char* symbol : symbols) dims.push_back(Dim::symbol(symbol));
  const ops::TensorType wanted{DType::i32, Shape(std::move(dims))};
  const ValueId id = g.find_value(name);
  if (!id.valid() || g.value(id).kind != Value::Kind::kInput || g.value(id).type != wanted)
    return invalid_argument("the engine's graph has no input '{}' of type {}", name, wanted.to_string());
  return Status::ok();
}

// Which arguments of an op are indices, and the inputs that they must be.
struct IndexArgument {
  std::string_view op;
  size_t argument;
  std::string_view input;
};
constexpr IndexArgument kIndices[] = {{"embedding", 0, "tokens"},     {"select_rows", 1, "output_rows"},
                                      {"attention", 5, "positions"},  {"attention", 6, "sequence"},
                                      {"attention", 7, "page_table"}, {"rope", 1, "positions"}};

}  // namespace

Result<ModelInterface> check_interface(const Graph& g) {
  NEREID_RETURN_IF_ERROR(check_input(g, "tokens", {"tokens"}));
  NEREID_RETURN_IF_ERROR(check_input(g, "positions", {"tokens"}));
  NEREID_RETURN_IF_ERROR(check_input(g, "sequence", {"tokens"}));
  NEREID_RETURN_IF_ERROR(check_input(g, "page_table", {"sequences", "pages_per_sequence"}));
  NEREID_RETURN_IF_ERROR(check_input(g, "output_rows", {"outputs"}));
  ModelInterface m;
  const ValueId logits = g.find_value("logits");
  if (!logits.valid() || !g.is_output(logits) || g.value(logits).kind != Value::Kind::kResult)
    return invalid_argument("the engine's graph has no output 'logits'");
  const ops::TensorType& type = g.value(logits).type;
  if (type.dtype != DType::f32 || type.shape.rank() != 2 || type.shape[0] != Dim::symbol("outputs") ||
      !type.shape[1].is_static() || type.shape[1].size() < 1)
    return invalid_argument("the engine's logits are {} and should be f32[outputs, vocabulary]", type.to_string());
  m.vocab = type.shape[1].size();

  for (ValueId id : g.states()) {
    const Value& v = g.value(id);
    const Shape& shape = v.type.shape;
    if (shape.rank() != 4 || shape[0] != Dim::symbol("pages") || !shape[2].is_static() || shape[2].size() < 1 ||
        (m.page_tokens != 0 && m.page_tokens != shape[2].size()))
      return invalid_argument("the engine's cache '{}' is {} and should be [pages, heads, {}, size]", v.name,
                              v.type.to_string(), m.page_tokens ? std::to_string(m.page_tokens) : "tokens");
    m.page_tokens = shape[2].size();
  }
  for (graph::NodeId n : g.order()) {
    const graph::Node& node = g.node(n);
    for (const IndexArgument& index : kIndices)
      if (node.op->name == index.op && node.inputs[index.argument] != g.find_value(index.input))
        return invalid_argument("the engine's graph indexes by '{}' in {}, which should be by '{}'",
                                g.value(node.inputs[index.argument]).name, index.op, index.input);
  }
  if (m.page_tokens == 0) return invalid_argument("the engine's graph has no key/value cache");
  return m;
}

}  // namespace nereid::llm
