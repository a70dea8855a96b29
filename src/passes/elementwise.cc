// SPDX-License-Identifier: Apache-2.0
// The tables of elementwise ops.
#include "passes/elementwise.h"

#include <algorithm>
#include <limits>

#include "ops/program.h"
#include "passes/quantized.h"

namespace nereid::passes {
namespace {

using graph::Node;

// Ops of one operand, and the primitive where there is one.
struct Unary {
  std::string_view op, primitive;
};
constexpr Unary kUnary[] = {
    {"neg", "neg"},           {"abs", "abs"},      {"sign", "sign"},   {"sqrt", "sqrt"}, {"reciprocal", "reciprocal"},
    {"exp", "exp"},           {"log", "log"},      {"sin", "sin"},     {"cos", "cos"},   {"erf", "erf"},
    {"floor", "floor"},       {"ceil", "ceil"},    {"round", "round"}, {"not", "not"},   {"is_nan", "is_nan"},
    {"softplus", "softplus"}, {"identity", "copy"}};

// Ops of two operands.
constexpr Unary kBinary[] = {{"add", "add"},
                             {"sub", "sub"},
                             {"mul", "mul"},
                             {"div", "div"},
                             {"pow", "pow"},
                             {"prelu", "p_relu"},
                             {"equal", "equal"},
                             {"less", "less"},
                             {"less_or_equal", "less_or_equal"},
                             {"greater", "greater"},
                             {"greater_or_equal", "greater_or_equal"},
                             {"and", "and"},
                             {"or", "or"},
                             {"xor", "xor"}};

// Ops that are elementwise and have no steps of their own (activations have).
constexpr std::string_view kOthers[] = {
    "relu",  "sigmoid", "tanh",       "silu", "gelu", "gelu_tanh", "hard_sigmoid",     "hard_swish", "elu",   "mish",
    "swish", "clip",    "leaky_relu", "selu", "celu", "softsign",  "thresholded_relu", "shrink",     "cast",  "where",
    "min",   "max",     "sum",        "mean", "mod",  "is_inf",    "softcap",          "acos",       "acosh", "asin",
    "asinh", "atan",    "atanh",      "cosh", "sinh", "tan"};

std::string_view primitive_of(std::span<const Unary> table, std::string_view op) {
  const auto it = std::ranges::find(table, op, &Unary::op);
  return it == table.end() ? std::string_view() : it->primitive;
}

}  // namespace

bool is_elementwise(std::string_view op) {
  return !primitive_of(kUnary, op).empty() || !primitive_of(kBinary, op).empty() ||
         std::ranges::find(kOthers, op) != std::end(kOthers);
}

std::optional<Activation> activation_of(const Edit& edit, const Node& node) {
  const std::string_view op = node.op->name;
  for (std::string_view plain : {"relu", "sigmoid", "tanh", "silu", "gelu", "gelu_tanh", "mish"})
    if (op == plain) return Activation{op};
  if (op == "hard_swish") return Activation{op, 1.0 / 6, 0.5};
  if (op == "hard_sigmoid") return Activation{op, node.attrs.real("alpha"), node.attrs.real("beta")};
  if (op == "elu" || op == "leaky_relu") return Activation{op, node.attrs.real("alpha")};
  if (op == "swish") return Activation{"silu", node.attrs.real("alpha")};
  if (op == "clip") {
    const auto limit = [&](size_t i, double open) {
      return node.inputs[i].valid() ? edit.scalar(node.inputs[i]) : std::optional(open);
    };
    const double infinity = std::numeric_limits<double>::infinity();
    const auto low = limit(1, -infinity), high = limit(2, infinity);
    if (!low || !high) return std::nullopt;
    return Activation{op, *low, *high};
  }
  return std::nullopt;
}

namespace {

std::optional<Grid> program_grid(const Edit& edit, const Node& node) {
  if (node.outputs.size() != 1) return std::nullopt;
  const auto codes = node.op->name == "dequantize_linear" ? dequantised(edit, node.outputs[0]) : quantised(edit, node);
  return codes ? grid_of(edit, *codes) : std::nullopt;
}

}  // namespace

bool is_program_quantiser(const Edit& edit, const Node& node) {
  return program_grid(edit, node).has_value();
}

size_t program_operands(const Node& node) {
  const std::string_view op = node.op->name;
  return op == "clip" || op == "quantize_linear" || op == "dequantize_linear" ? 1 : node.inputs.size();
}

int StepWriter::write_quantiser(const Edit& edit, const Node& node, const Operand& operand) {
  const Grid grid = *program_grid(edit, node);
  int at = place(operand);
  if (node.op->name == "dequantize_linear") {
    if (grid.zero != 0) at = emit("add_constant", {at}, {-grid.zero});
    return emit("mul_constant", {at}, {grid.scale});
  }
  // An input is divided, as ONNX says, lest halves fall to the other side; what was computed has no exact halves.
  if (static_cast<size_t>(at) < inputs_) {
    const int scale = emit("constant", {}, {grid.scale});
    at = emit("div", {at, scale});
  } else {
    at = emit("mul_constant", {at}, {static_cast<double>(1.0f / static_cast<float>(grid.scale))});
  }
  at = emit("round", {at});
  return grid.zero != 0 ? emit("add_constant", {at}, {grid.zero}) : at;
}

int StepWriter::emit(std::string_view primitive, std::vector<int> operands, std::vector<double> constants) {
  steps_.push_back(ops::program_step_text(primitive, operands, constants));
  return static_cast<int>(inputs_ + steps_.size()) - 1;
}

int StepWriter::place(const Operand& operand) {
  return operand.index ? *operand.index : emit("constant", {}, {operand.number});
}

std::optional<int> StepWriter::binary(std::string_view op, const Operand& a, const Operand& b) {
  if (a.index && !b.index) {
    if (op == "add") return emit("add_constant", {*a.index}, {b.number});
    if (op == "sub") return emit("add_constant", {*a.index}, {-b.number});
    if (op == "mul") return emit("mul_constant", {*a.index}, {b.number});
    if (op == "div" && b.number != 0) return emit("mul_constant", {*a.index}, {1 / b.number});
    if (op == "pow") return emit("pow_constant", {*a.index}, {b.number});
  }
  if (!a.index && b.index) {
    if (op == "add") return emit("add_constant", {*b.index}, {a.number});
    if (op == "mul") return emit("mul_constant", {*b.index}, {a.number});
    if (op == "sub") return emit("add_constant", {emit("neg", {*b.index})}, {a.number});
    if (op == "div") {
      const int inverse = emit("reciprocal", {*b.index});
      return a.number == 1 ? inverse : emit("mul_constant", {inverse}, {a.number});
    }
  }
  const int first = place(a), second = place(b);
  return emit(primitive_of(kBinary, op), {first, second});
}

std::optional<int> StepWriter::write(const Node& node, const std::vector<Operand>& operands,
                                     const std::optional<Activation>& activation) {
  const std::string_view op = node.op->name;
  if (activation) {
    return emit(fmt::format("act:{}", activation->name), {place(operands[0])}, {activation->alpha, activation->beta});
  }
  if (const auto name = primitive_of(kUnary, op); !name.empty()) return emit(name, {place(operands[0])});
  if (!primitive_of(kBinary, op).empty()) return binary(op, operands[0], operands[1]);
  if (op == "where") {
    const int a = place(operands[0]), b = place(operands[1]), c = place(operands[2]);
    return emit("select", {a, b, c});
  }
  if (op == "cast") {  // between f32 and bool: is it not 0?
    if (node.attrs.text("dtype") == "bool") return emit("not", {emit("not", {place(operands[0])})});
    return emit("copy", {place(operands[0])});
  }
  if (op == "mod") {
    const int a = place(operands[0]), b = place(operands[1]);
    return emit(node.attrs.boolean("fmod") ? "fmod" : "mod", {a, b});
  }
  if (op == "min" || op == "max" || op == "sum" || op == "mean") {
    Operand all = operands[0];
    for (size_t i = 1; i < operands.size(); ++i) {
      if (op == "min" || op == "max") {
        const int a = place(all), b = place(operands[i]);
        all.index = emit(op, {a, b});
      } else {
        all.index = binary("add", all, operands[i]);
      }
    }
    if (op == "mean") all.index = emit("mul_constant", {place(all)}, {1.0 / static_cast<double>(operands.size())});
    return place(all);
  }
  return std::nullopt;
}

}  // namespace nereid::passes
