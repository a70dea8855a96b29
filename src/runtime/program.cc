// SPDX-License-Identifier: Apache-2.0
#include "runtime/program.h"

#include "graph/text.h"

namespace nereid::runtime {

Result<std::shared_ptr<const Program>> Program::load(const engine::EngineFile& file, Isa isa, ThreadPool& pool,
                                                     const RetypeFn& retype) {
  auto program = std::make_shared<Program>();
  NEREID_TRY(program->graph_, graph::parse(file.graph_text()).with("the engine's graph"));
  if (retype) {
    NEREID_TRY(const StateTypes states, retype(program->graph_));
    NEREID_RETURN_IF_ERROR(program->retype(states));
  }
  program->kernels_ = &kernels::isa_kernels(isa);
  // Past the end: the decode loop's prefetches stay inside the mapping, and unaligned last blocks are readable.
  constexpr size_t kSlack = 16384;
  NEREID_TRY(program->memory_, Buffer::allocate(static_cast<size_t>(file.weights_bytes()) + kSlack, PageSize::kHuge));
  NEREID_RETURN_IF_ERROR(file.read_weights(pool, program->memory_.data()));
  for (const engine::WeightEntry& entry : file.weights()) {
    const graph::ValueId id = program->graph_.find_value(entry.name);
    if (!id.valid())
      return invalid_argument("the engine's weight '{}' is not in its graph; build the engine anew", entry.name);
    if (program->graph_.value(id).kind != graph::Value::Kind::kConstant)
      return invalid_argument("the engine's weight '{}' is no constant of its graph; build the engine anew",
                              entry.name);
    const ops::TensorType& type = program->graph_.value(id).type;
    Weight weight;
    weight.data = program->memory_.data() + entry.offset;
    if (!entry.layout.empty()) {
      NEREID_TRY(weight.packed.layout, kernels::PackedLayout::from_text(entry.layout).with("weight " + entry.name));
      const std::vector<int64_t> sizes{weight.packed.layout.rows, weight.packed.layout.cols};
      if (type.shape.rank() != 2 || type.shape != Shape::of(sizes))
        return invalid_argument("the engine's weight '{}' is packed as {} x {}, which does not fit its type {}; {}",
                                entry.name, sizes[0], sizes[1], type.to_string(), "build the engine anew");
      weight.packed.data = weight.data;
      weight.is_packed = true;
      if (weight.packed.layout.bytes() != entry.bytes)
        return invalid_argument("the engine's weight '{}' has {} bytes, its layout wants {}; build the engine anew",
                                entry.name, entry.bytes, weight.packed.layout.bytes());
    } else {
      const auto elements = type.shape.elements();
      const auto bytes = elements ? dtype_bytes(type.dtype, *elements) : std::nullopt;
      if (!bytes || *bytes != entry.bytes)
        return invalid_argument(
            "the engine's weight '{}' has {} bytes, which does not fit its type {}; build the engine anew", entry.name,
            entry.bytes, type.to_string());
    }
    program->weights_[id.v] = weight;
  }
  return std::shared_ptr<const Program>(std::move(program));
}

Status Program::retype(const StateTypes& states) {
  for (const auto& [name, type] : states) {
    const graph::ValueId id = graph_.find_value(name);
    if (!id.valid() || graph_.value(id).kind != graph::Value::Kind::kState)
      return invalid_argument("the engine's graph has no state '{}'", name);
    graph_.set_type(id, type);
  }
  for (const auto& [name, type] : states)
    for (graph::NodeId user : graph_.users(graph_.find_value(name))) {
      const graph::Node& node = graph_.node(user);
      NEREID_RETURN_IF_ERROR(graph_.infer_results(node, node.outputs.size())
                                 .status()
                                 .with(fmt::format("state '{}' as {}", name, type.to_string())));
    }
  return Status::ok();
}

const Weight* Program::weight(graph::ValueId id) const {
  const auto it = weights_.find(id.v);
  return it == weights_.end() ? nullptr : &it->second;
}

const float* Program::f32_constant(graph::ValueId id) const {
  const graph::Value& value = graph_.value(id);
  if (value.kind != graph::Value::Kind::kConstant || value.type.dtype != DType::f32) return nullptr;
  if (const Weight* w = weight(id)) return w->is_packed ? nullptr : reinterpret_cast<const float*>(w->data);
  return value.data.parts.size() == 1 ? value.data.parts[0].as<float>() : nullptr;
}

}  // namespace nereid::runtime
