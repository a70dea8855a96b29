// SPDX-License-Identifier: Apache-2.0
#include "llm/run/encoder_interface.h"

#include <algorithm>
#include <array>

namespace nereid::llm {
namespace {

using graph::Graph;
using graph::ValueId;

Status check_input(const Graph& g, std::string_view name, const char* symbol) {
  const ValueId id = g.find_value(name);
  const ops::TensorType wanted{DType::i32, {Dim::symbol(symbol)}};
  if (!id.valid() || g.value(id).kind != graph::Value::Kind::kInput)
    return invalid_argument("the engine's graph has no input '{}'", name);
  if (g.value(id).type != wanted)
    return invalid_argument("the engine's input '{}' is {} and should be {}", name, g.value(id).type.to_string(),
                            wanted.to_string());
  return Status::ok();
}

// Arguments that index something, and the inputs that they may be: what Encoder fills and checks.
struct EncoderIndex {
  std::string_view op;
  size_t argument;
  std::array<std::string_view, 3> inputs;
};
constexpr EncoderIndex kEncoderIndices[] = {{"embedding", 0, {"tokens", "positions", "types"}},
                                            {"select_rows", 1, {"output_rows"}},
                                            {"attention_packed", 3, {"starts"}},
                                            {"rope", 1, {"positions"}}};

Status check_indices(const Graph& g, const graph::Node& node) {
  for (const EncoderIndex& index : kEncoderIndices) {
    if (node.op->name != index.op) continue;
    const std::string& name = g.value(node.inputs[index.argument]).name;
    if (name.empty() || std::ranges::find(index.inputs, name) == index.inputs.end())
      return invalid_argument("the engine's graph indexes by '{}' in {}", name, index.op);
  }
  return Status::ok();
}

}  // namespace

Result<std::string> check_encoder_interface(const Graph& g, const EncoderShape& shape) {
  NEREID_RETURN_IF_ERROR(check_input(g, "tokens", "tokens"));
  NEREID_RETURN_IF_ERROR(check_input(g, "positions", "tokens"));
  NEREID_RETURN_IF_ERROR(check_input(g, "starts", "boundaries"));
  if (shape.has_types) NEREID_RETURN_IF_ERROR(check_input(g, "types", "tokens"));
  if (shape.labels > 0) NEREID_RETURN_IF_ERROR(check_input(g, "output_rows", "outputs"));
  const size_t inputs = 3 + (shape.has_types ? 1 : 0) + (shape.labels > 0 ? 1 : 0);
  if (g.inputs().size() != inputs || !g.states().empty())
    return invalid_argument("the engine's graph has {} inputs and {} states; an encoder has {} and none",
                            g.inputs().size(), g.states().size(), inputs);
  if (g.outputs().size() != 1) return invalid_argument("the engine's graph has {} outputs", g.outputs().size());
  const graph::Value& output = g.value(g.outputs()[0]);
  const ops::TensorType wanted{
      DType::f32,
      {Dim::symbol(shape.labels > 0 ? "outputs" : "tokens"), Dim(shape.labels > 0 ? shape.labels : shape.hidden)}};
  if (output.type != wanted || output.kind != graph::Value::Kind::kResult)
    return invalid_argument("the engine's output is {} and should be {}", output.type.to_string(), wanted.to_string());
  for (const graph::NodeId id : g.order()) {
    const graph::Node& node = g.node(id);
    NEREID_RETURN_IF_ERROR(check_indices(g, node));
    if (node.op->name != "attention_packed" || node.inputs.size() < 5 || !node.inputs[4].valid()) continue;
    const Dim& distances = g.value(node.inputs[4]).type.shape[1];
    if (!distances.is_static() || distances.size() / 2 + 1 < shape.max_tokens)
      return invalid_argument("the engine's scores by distance do not reach over texts of {} tokens", shape.max_tokens);
  }
  return output.name;
}

}  // namespace nereid::llm
