// SPDX-License-Identifier: Apache-2.0
// Elementwise programs over broadcast inputs.
#include "ops/program.h"
#include "runtime/net/bind_rows.h"

namespace nereid::runtime {
namespace {

class ProgramStepRun final : public NetStep {
 public:
  explicit ProgramStepRun(const kernels::IsaKernels& kernels) : kernels_(kernels) { kernel = "program"; }
  void run(Worker& worker) override { kernels_.elementwise_program(params, worker); }
  kernels::ProgramParams params;
  std::vector<kernels::ProgramStep> steps;
  std::vector<kernels::ProgramInput> inputs;
  std::vector<kernels::ProgramOutput> outputs;

 private:
  const kernels::IsaKernels& kernels_;
};

struct Axis {
  int64_t size;
  std::vector<int64_t> strides;  // by input; 0 repeats
};

// The result's dimensions with every input's strides, neighbours merged where all of them step evenly.
std::vector<Axis> axes_of(NetBinder& binder, const graph::Node& node) {
  const std::vector<int64_t> ys = binder.sizes(node.outputs[0]);
  std::vector<Axis> axes;
  for (size_t d = 0; d < ys.size(); ++d) axes.push_back({ys[d], {}});
  for (graph::ValueId in : node.inputs) {
    const std::vector<int64_t> xs = binder.sizes(in);
    const size_t missing = ys.size() - xs.size();
    int64_t stride = 1;
    for (size_t d = ys.size(); d-- > 0;) {
      const int64_t size = d < missing ? 1 : xs[d - missing];
      axes[d].strides.push_back(size == 1 ? 0 : stride);
      stride *= size;
    }
  }
  std::vector<Axis> merged;
  const bool has_gaps = !ys.empty() && binder.row_stride(node.outputs[0]) != ys.back();
  for (Axis& axis : axes) {
    if (axis.size == 1) continue;
    bool even = !merged.empty() && !(has_gaps && &axis == &axes.back());
    for (size_t i = 0; even && i < axis.strides.size(); ++i)
      even = merged.back().strides[i] == axis.strides[i] * axis.size;
    if (even) {
      axis.size *= merged.back().size;
      merged.back() = std::move(axis);
    } else {
      merged.push_back(std::move(axis));
    }
  }
  if (merged.empty()) merged.push_back({1, std::vector<int64_t>(node.inputs.size(), 0)});
  return merged;
}

// A program that divides numbers by a scale and rounds them to codes is what quantising is: a kernel's work.
class QuantiseStep final : public NetStep {
 public:
  explicit QuantiseStep(const kernels::IsaKernels& kernels) : kernels_(kernels) {
    kernel = "quantize";
    params.scale = &scale;
    params.zero = &zero;
  }
  void run(Worker& worker) override { kernels_.dynamic_quantize(params, worker); }
  kernels::DynamicQuantizeParams params;  // without scratch: the scale is given
  float scale = 1;
  uint8_t zero = 0;

 private:
  const kernels::IsaKernels& kernels_;
};
std::unique_ptr<NetStep> bind_quantiser(NetBinder& binder, const graph::Node& node,
                                        const std::vector<ops::ProgramStep>& steps) {
  using kernels::Primitive;
  const auto is = [&](size_t i, Primitive op, int operand) {
    return static_cast<Primitive>(steps[i].primitive) == op && steps[i].operands[0] == operand;
  };
  if (steps.size() < 3 || steps.size() > 4 || static_cast<Primitive>(steps[0].primitive) != Primitive::kConstant ||
      !is(1, Primitive::kDiv, 0) || steps[1].operands[1] != 1 || !is(2, Primitive::kRound, 2) ||
      (steps.size() == 4 && !is(3, Primitive::kAddConstant, 3)))
    return nullptr;
  const double zero = steps.size() == 4 ? steps[3].alpha : 0;
  const graph::ValueId x = node.inputs[0], y = node.outputs[0];
  if (node.inputs.size() != 1 || binder.dtype(x) != DType::f32 || binder.dtype(y) != DType::u8 ||
      binder.lies_inside(y) || binder.type(x).shape != binder.type(y).shape || !(steps[0].alpha > 0) || zero < 0 ||
      zero > 255)
    return nullptr;
  auto step = std::make_unique<QuantiseStep>(binder.kernels());
  step->params.n = *binder.type(y).shape.elements();
  step->scale = static_cast<float>(steps[0].alpha);
  step->zero = static_cast<uint8_t>(zero);
  binder.point(x, &step->params.x);
  binder.point(y, &step->params.y);
  return step;
}

Result<std::unique_ptr<NetStep>> bind_steps(NetBinder& binder, const graph::Node& node,
                                            const std::vector<std::string>& texts) {
  if (*binder.type(node.outputs[0]).shape.elements() == 0) return unsupported("there is nothing to compute");
  NEREID_TRY(const std::vector<ops::ProgramStep> parsed, ops::parse_program(texts, node.inputs.size()));
  if (parsed.size() + node.inputs.size() > kernels::kProgramValues)
    return unsupported("{} values are more than {}", parsed.size() + node.inputs.size(), kernels::kProgramValues);
  if (std::unique_ptr<NetStep> step = bind_quantiser(binder, node, parsed)) return step;
  const std::vector<Axis> axes = axes_of(binder, node);
  if (axes.size() > kernels::kProgramDims) return unsupported("its operands have {} dimensions", axes.size());

  auto step = std::make_unique<ProgramStepRun>(binder.kernels());
  for (const ops::ProgramStep& s : parsed) {
    kernels::ProgramStep out;
    // The two tables have one order (ops/program.h).
    out.op = static_cast<kernels::Primitive>(s.primitive);
    out.a = static_cast<uint8_t>(s.operands[0]);
    out.b = static_cast<uint8_t>(s.operands[1]);
    out.c = static_cast<uint8_t>(s.operands[2]);
    out.alpha = static_cast<float>(s.alpha);
    out.beta = static_cast<float>(s.beta);
    if (s.act != nullptr) {
      NEREID_TRY(out.act, act_of(s.act->name));
    }
    step->steps.push_back(out);
  }
  step->inputs.resize(node.inputs.size());
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    NEREID_TRY(step->inputs[i].type, low_type_of(binder, node.inputs[i]));
    binder.point(node.inputs[i], &step->inputs[i].data);
    for (size_t d = 0; d < axes.size(); ++d) step->inputs[i].strides[d] = axes[d].strides[i];
  }
  step->outputs.resize(1);
  kernels::ProgramOutput& y = step->outputs[0];
  y.value = static_cast<uint8_t>(node.inputs.size() + parsed.size() - 1);
  NEREID_TRY(y.type, low_type_of(binder, node.outputs[0]));
  binder.point(node.outputs[0], &y.data);
  kernels::ProgramParams& p = step->params;
  p.rank = static_cast<int>(axes.size());
  int64_t stride = 1;
  const std::vector<int64_t> ys = binder.sizes(node.outputs[0]);
  const bool has_gaps = !ys.empty() && binder.row_stride(node.outputs[0]) != ys.back();
  for (size_t d = axes.size(); d-- > 0;) {
    p.dims[d] = axes[d].size;
    y.strides[d] = stride;
    // Rows of a part of a concatenation are the whole's apart.
    stride = d + 1 == axes.size() && has_gaps ? binder.row_stride(node.outputs[0]) : stride * axes[d].size;
  }
  p.steps = step->steps.data();
  p.step_count = static_cast<int>(step->steps.size());
  p.inputs = step->inputs.data();
  p.input_count = static_cast<int>(step->inputs.size());
  p.outputs = step->outputs.data();
  p.output_count = 1;
  binder.want_scratch(kernels::program_scratch_bytes(p.input_count, p.step_count, binder.workers()), &p.scratch);
  return std::unique_ptr<NetStep>(std::move(step));
}

struct Single {
  std::string_view op;
  std::string_view step;
};
// Ops that are one primitive, where the passes left them alone.
constexpr Single kSingles[] = {
    {"abs", "abs 0"},
    {"add", "add 0 1"},
    {"ceil", "ceil 0"},
    {"cos", "cos 0"},
    {"div", "div 0 1"},
    {"erf", "erf 0"},
    {"exp", "exp 0"},
    {"floor", "floor 0"},
    {"gelu", "act:gelu 0 1.0 0.0"},
    {"gelu_tanh", "act:gelu_tanh 0 1.0 0.0"},
    {"log", "log 0"},
    {"mul", "mul 0 1"},
    {"neg", "neg 0"},
    {"pow", "pow 0 1"},
    {"reciprocal", "reciprocal 0"},
    {"relu", "act:relu 0 1.0 0.0"},
    {"sigmoid", "act:sigmoid 0 1.0 0.0"},
    {"silu", "act:silu 0 1.0 0.0"},
    {"sin", "sin 0"},
    {"softplus", "softplus 0"},
    {"sqrt", "sqrt 0"},
    {"sub", "sub 0 1"},
    {"tanh", "act:tanh 0 1.0 0.0"},
};

}  // namespace

Result<std::unique_ptr<NetStep>> bind_net_program(NetBinder& binder, const graph::Node& node) {
  return bind_steps(binder, node, node.attrs.texts("steps"));
}

Result<std::unique_ptr<NetStep>> bind_net_single(NetBinder& binder, const graph::Node& node) {
  for (const Single& s : kSingles) {
    if (s.op != node.op->name) continue;
    NEREID_RETURN_IF_ERROR(binder.expect_f32(node.inputs));  // sums of bytes wrap around
    return bind_steps(binder, node, {std::string(s.step)});
  }
  return unsupported("it is no single primitive");
}

}  // namespace nereid::runtime
