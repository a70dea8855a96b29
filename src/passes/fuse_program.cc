// SPDX-License-Identifier: Apache-2.0
// fuse_program: elementwise nodes in f32 that feed each other become one program: inputs and result move once, what is
// between stays in the cache.
#include <algorithm>
#include <map>
#include <set>

#include "passes/edit.h"
#include "passes/elementwise.h"
#include "passes/pass_list.h"

namespace nereid::passes {
namespace {

using graph::Node;
using graph::NodeId;
using graph::ValueId;

constexpr size_t kMostProgramValues = 64;  // inputs and steps of one program
constexpr size_t kMostInputs = 16;
constexpr int kMostDims = 6;

class Programs {
 public:
  Programs(graph::Graph& g, PassContext& context) : edit_(g, context), g_(g) {}

  Status run() {
    const std::vector<NodeId> order = g_.order();
    for (auto it = order.rbegin(); it != order.rend(); ++it)
      if (g_.node(*it).op != nullptr && can_step(g_.node(*it)) &&
          edit_.type(g_.node(*it).outputs[0]).dtype != DType::boolean)
        fuse(*it);
    return Status::ok();
  }

 private:
  // f32 in, or bool that a node of the group makes; one plain result. Codes where they become numbers or are made.
  bool can_step(const Node& node) const {
    if (node.outputs.size() != 1) return false;
    const ops::TensorType& y = edit_.type(node.outputs[0]);
    if (!y.is_tensor() || !y.shape.is_ranked() || y.shape.rank() > kMostDims) return false;
    if (is_program_quantiser(edit_, node)) return true;
    if (!is_elementwise(node.op->name)) return false;
    if (y.dtype != DType::f32 && y.dtype != DType::boolean) return false;
    const bool limits = node.op->name == "clip";  // looked at by activation_of
    for (size_t i = 0; i < (limits ? 1 : node.inputs.size()); ++i) {
      const ValueId in = node.inputs[i];
      if (!in.valid() || !edit_.is_ranked(in)) return false;
      const DType dtype = edit_.type(in).dtype;
      const bool exponent = node.op->name == "pow" && i == 1 && edit_.scalar(in);
      if (dtype != DType::f32 && dtype != DType::boolean && !exponent) return false;
    }
    const auto activation = activation_of(edit_, node);
    StepWriter dry(node.inputs.size());
    std::vector<StepWriter::Operand> operands;
    for (size_t i = 0; i < node.inputs.size(); ++i) operands.push_back({static_cast<int>(i), 0});
    return (activation || !limits) && dry.write(node, operands, activation).has_value();
  }

  // Whether computing the value in the root's shape costs no more than in its own.
  bool as_large_as(ValueId v, const Shape& root) const {
    const Shape& s = edit_.type(v).shape;
    if (s.rank() != root.rank()) return false;
    for (int d = 0; d < s.rank(); ++d)
      if (s[d] == Dim(1) && root[d] != Dim(1)) return false;
    return true;
  }

  void fuse(NodeId root) {
    const ValueId out = g_.node(root).outputs[0];
    const Shape shape = edit_.type(out).shape;
    std::set<NodeId> group{root};
    // Producers whose readers are all in the group, as long as there is room.
    for (bool again = true; again;) {
      again = false;
      for (NodeId member : std::vector<NodeId>(group.begin(), group.end()))
        for (ValueId in : g_.node(member).inputs) {
          const NodeId producer = in.valid() ? g_.value(in).producer : NodeId{};
          if (!producer.valid() || group.contains(producer) || !can_step(g_.node(producer)) || g_.is_output(in))
            continue;
          // A few codes are dequantised in every program that reads them; codes themselves end a program.
          const std::string_view op = g_.node(producer).op->name;
          const auto users = g_.users(in);
          if (op == "quantize_linear") continue;
          if (op != "dequantize_linear" && !std::ranges::all_of(users, [&](NodeId u) { return group.contains(u); }))
            continue;
          if (!as_large_as(in, shape)) continue;
          group.insert(producer);
          if (!fits(group)) {
            group.erase(producer);
            continue;
          }
          again = true;
        }
    }
    std::vector<ValueId> inputs = inputs_of(group);
    std::string where = edit_.where(root);
    for (ValueId in : inputs)
      if (edit_.type(in).dtype != DType::f32 && edit_.type(in).dtype != DType::u8 && edit_.type(in).dtype != DType::i8)
        return edit_.refused(std::move(where), fmt::format("%{} is {}", g_.value(in).name, edit_.type(in).to_string()));
    if (inputs.empty()) return;
    const auto steps = write(group, inputs);
    if (!steps) return;
    ops::Attrs attrs = {{"steps", *steps}};
    if (edit_.type(out).dtype != DType::f32) attrs.set("dtype", std::string(dtype_name(edit_.type(out).dtype)));
    const auto now = edit_.insert(root, "program", inputs, std::move(attrs));
    const Status done = now.is_ok() ? edit_.replace(out, *now) : now.status();
    edit_.record(std::move(where), done, fmt::format("{} nodes, {} steps", group.size(), steps->size()));
  }

  std::vector<NodeId> sorted(const std::set<NodeId>& group) const {
    std::vector<NodeId> nodes(group.begin(), group.end());
    std::ranges::sort(nodes, {}, [&](NodeId n) { return g_.position_of(n); });
    return nodes;
  }

  bool is_number(ValueId v) const { return edit_.scalar(v).has_value(); }

  std::vector<ValueId> inputs_of(const std::set<NodeId>& group) const {
    std::vector<ValueId> inputs;
    for (NodeId id : sorted(group)) {
      const Node& node = g_.node(id);
      for (size_t i = 0; i < program_operands(node); ++i) {
        const ValueId in = node.inputs[i];
        const NodeId producer = g_.value(in).producer;
        if (is_number(in) || (producer.valid() && group.contains(producer))) continue;
        if (std::ranges::find(inputs, in) == inputs.end()) inputs.push_back(in);
      }
    }
    return inputs;
  }

  bool fits(const std::set<NodeId>& group) const {
    const std::vector<ValueId> inputs = inputs_of(group);
    if (inputs.size() > kMostInputs) return false;
    const auto steps = write(group, inputs);
    return steps && inputs.size() + steps->size() <= kMostProgramValues;
  }

  std::optional<std::vector<std::string>> write(const std::set<NodeId>& group,
                                                const std::vector<ValueId>& inputs) const {
    StepWriter writer(inputs.size());
    std::map<int32_t, int> at;
    int last = -1;
    for (size_t i = 0; i < inputs.size(); ++i) at[inputs[i].v] = static_cast<int>(i);
    for (NodeId id : sorted(group)) {
      const Node& node = g_.node(id);
      std::vector<StepWriter::Operand> operands;
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        const auto it = node.inputs[i].valid() ? at.find(node.inputs[i].v) : at.end();
        StepWriter::Operand operand;
        if (it != at.end()) operand.index = it->second;
        if (it == at.end() && node.inputs[i].valid()) operand.number = edit_.scalar(node.inputs[i]).value_or(0);
        operands.push_back(operand);
      }
      const auto index = is_program_quantiser(edit_, node)
                             ? std::optional(writer.write_quantiser(edit_, node, operands[0]))
                             : writer.write(node, operands, activation_of(edit_, node));
      if (!index) return std::nullopt;
      at[node.outputs[0].v] = *index;
      last = *index;
    }
    if (last != static_cast<int>(inputs.size() + writer.steps().size()) - 1) return std::nullopt;  // a bare input
    return writer.steps();
  }

  Edit edit_;
  graph::Graph& g_;
};

}  // namespace

Status fuse_program(graph::Graph& g, PassContext& context) {
  return Programs(g, context).run();
}

}  // namespace nereid::passes
