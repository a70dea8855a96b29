// SPDX-License-Identifier: Apache-2.0
// program: a chain of elementwise operations on broadcast inputs, run as one.
#include "ops/program.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "ops/attr_text.h"
#include "ops/move.h"
#include "ops/quantization.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x", .variadic = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"dtype", AttrSpec::Kind::kString, "f32", "f32; u8 or i8: the last value rounded to the nearest code"},
    {"steps", AttrSpec::Kind::kStrings, "",
     "what is computed, one value a step: a primitive's name, indices of earlier values, numbers; the last is y"}};

using F = double;
double softplus(double x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}
// The remainder with the divisor's sign, as Python has it.
double modulo(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
double number(bool b) {
  return b ? 1 : 0;
}

constexpr Primitive kTable[] = {
    {"constant", 0, 1, 0, [](F, F, F, F alpha, F) { return alpha; }},
    {"copy", 1, 0, 0, [](F a, F, F, F, F) { return a; }},
    {"neg", 1, 0, 1, [](F a, F, F, F, F) { return -a; }},
    {"abs", 1, 0, 1, [](F a, F, F, F, F) { return std::abs(a); }},
    {"sign", 1, 0, 1, [](F a, F, F, F, F) { return a != a ? a : number(a > 0) - number(a < 0); }},
    {"sqrt", 1, 0, 1, [](F a, F, F, F, F) { return std::sqrt(a); }},
    {"reciprocal", 1, 0, 1, [](F a, F, F, F, F) { return 1 / a; }},
    {"exp", 1, 0, 8, [](F a, F, F, F, F) { return std::exp(a); }},
    {"log", 1, 0, 8, [](F a, F, F, F, F) { return std::log(a); }},
    {"sin", 1, 0, 10, [](F a, F, F, F, F) { return std::sin(a); }},
    {"cos", 1, 0, 10, [](F a, F, F, F, F) { return std::cos(a); }},
    {"erf", 1, 0, 12, [](F a, F, F, F, F) { return std::erf(a); }},
    {"floor", 1, 0, 1, [](F a, F, F, F, F) { return std::floor(a); }},
    {"ceil", 1, 0, 1, [](F a, F, F, F, F) { return std::ceil(a); }},
    {"round", 1, 0, 1, [](F a, F, F, F, F) { return std::nearbyint(a); }},
    {"not", 1, 0, 1, [](F a, F, F, F, F) { return number(a == 0); }},
    {"is_nan", 1, 0, 1, [](F a, F, F, F, F) { return number(a != a); }},
    {"softplus", 1, 0, 16, [](F a, F, F, F, F) { return softplus(a); }},
    {"act", 1, 2, 8, nullptr},
    {"add_constant", 1, 1, 1, [](F a, F, F, F alpha, F) { return a + alpha; }},
    {"mul_constant", 1, 1, 1, [](F a, F, F, F alpha, F) { return a * alpha; }},
    {"pow_constant", 1, 1, 8, [](F a, F, F, F alpha, F) { return std::pow(a, alpha); }},
    {"add", 2, 0, 1, [](F a, F b, F, F, F) { return a + b; }},
    {"sub", 2, 0, 1, [](F a, F b, F, F, F) { return a - b; }},
    {"mul", 2, 0, 1, [](F a, F b, F, F, F) { return a * b; }},
    {"div", 2, 0, 1, [](F a, F b, F, F, F) { return a / b; }},
    {"min", 2, 0, 1, [](F a, F b, F, F, F) { return a != a || b != b ? a + b : std::min(a, b); }},
    {"max", 2, 0, 1, [](F a, F b, F, F, F) { return a != a || b != b ? a + b : std::max(a, b); }},
    {"pow", 2, 0, 16, [](F a, F b, F, F, F) { return std::pow(a, b); }},
    {"mod", 2, 0, 4, [](F a, F b, F, F, F) { return modulo(a, b); }},
    {"fmod", 2, 0, 4, [](F a, F b, F, F, F) { return std::fmod(a, b); }},
    {"p_relu", 2, 0, 1, [](F a, F b, F, F, F) { return a < 0 ? a * b : a; }},
    {"equal", 2, 0, 1, [](F a, F b, F, F, F) { return number(a == b); }},
    {"less", 2, 0, 1, [](F a, F b, F, F, F) { return number(a < b); }},
    {"less_or_equal", 2, 0, 1, [](F a, F b, F, F, F) { return number(a <= b); }},
    {"greater", 2, 0, 1, [](F a, F b, F, F, F) { return number(a > b); }},
    {"greater_or_equal", 2, 0, 1, [](F a, F b, F, F, F) { return number(a >= b); }},
    {"and", 2, 0, 1, [](F a, F b, F, F, F) { return number(a != 0 && b != 0); }},
    {"or", 2, 0, 1, [](F a, F b, F, F, F) { return number(a != 0 || b != 0); }},
    {"xor", 2, 0, 1, [](F a, F b, F, F, F) { return number((a != 0) != (b != 0)); }},
    {"mul_add", 3, 0, 2, [](F a, F b, F c, F, F) { return a * b + c; }},
    {"select", 3, 0, 1, [](F a, F b, F c, F, F) { return a != 0 ? b : c; }},
};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  if (ctx.inputs.empty()) return invalid_argument("there is no input");
  Shape shape = rule.shape(0);
  for (size_t i = 0; i < ctx.inputs.size(); ++i) {
    if (rule.type(i).dtype != DType::f32 && !is_byte(rule, i).is_ok())
      return invalid_argument("{} should be f32, or codes of type u8 or i8", rule.describe(i));
    auto both = broadcast(shape, rule.shape(i));
    if (!both) return invalid_argument("{} does not broadcast with the inputs before it", rule.describe(i));
    shape = std::move(*both);
  }
  NEREID_RETURN_IF_ERROR(parse_program(ctx.attrs.texts("steps"), ctx.inputs.size()));
  const std::string& name = ctx.attrs.text("dtype");
  if (name != "f32" && name != "u8" && name != "i8")
    return invalid_argument("dtype is '{}' and should be f32, u8 or i8", name);
  return std::vector<TensorType>{{*dtype_from_name(name), std::move(shape)}};
}

DType dtype_of(const InferContext& ctx, size_t) {
  return dtype_from_name(ctx.attrs.text("dtype")).value_or(DType::f32);
}

Status evaluate(const EvalContext& ctx) {
  NEREID_TRY(const std::vector<ProgramStep> steps, parse_program(ctx.attrs.texts("steps"), ctx.inputs.size()));
  const TensorView& dst = ctx.outputs[0];
  std::vector<Elements<double>> inputs;
  std::vector<std::vector<int64_t>> strides;  // by dim of the result; 0 repeats
  for (const ConstTensorView& x : ctx.inputs) {
    inputs.push_back(load<double>(x));
    std::vector<int64_t> own = row_major_steps(x.sizes);
    for (size_t d = 0; d < own.size(); ++d)
      if (x.sizes[d] == 1) own[d] = 0;
    own.insert(own.begin(), dst.sizes.size() - own.size(), 0);
    strides.push_back(std::move(own));
  }
  std::vector<int64_t> at(dst.sizes.size(), 0);
  std::vector<double> values(inputs.size() + steps.size());
  Elements<double> y(dst.elements());
  for (double& out : y) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      int64_t index = 0;
      for (size_t d = 0; d < at.size(); ++d) index += at[d] * strides[i][d];
      values[i] = inputs[i][index];
    }
    for (size_t s = 0; s < steps.size(); ++s) {
      const ProgramStep& step = steps[s];
      const auto value = [&](size_t i) { return values[static_cast<size_t>(step.operands[i])]; };
      values[inputs.size() + s] = step.act != nullptr
                                      ? step.act->function(value(0), step.alpha, step.beta)
                                      : step.rule().function(value(0), value(1), value(2), step.alpha, step.beta);
    }
    out = dst.dtype == DType::f32 ? values.back() : quantize(dst.dtype, values.back(), 0);
    for (size_t d = at.size(); d-- > 0;) {
      if (++at[d] < dst.sizes[d]) break;
      at[d] = 0;
    }
  }
  return store<double>(dst, y);
}

Cost cost(const InferContext& ctx, std::span<const TensorType> outputs) {
  Cost c = traffic(ctx, outputs);
  const auto steps = parse_program(ctx.attrs.texts("steps"), ctx.inputs.size());
  if (steps.is_ok())
    for (const ProgramStep& step : *steps) c.flops += step.rule().flops * elements_of(outputs[0]);
  return c;
}

}  // namespace

std::span<const Primitive> primitive_table() {
  return kTable;
}

Result<ProgramStep> parse_program_step(std::string_view text, size_t values) {
  std::istringstream words{std::string(text)};
  std::string name, word;
  words >> name;
  ProgramStep step;
  const size_t colon = name.find(':');
  if (colon != std::string::npos && name.substr(0, colon) == "act") {
    NEREID_TRY(step.act, find_epilogue_act(name.substr(colon + 1)));
    name.resize(colon);
  }
  const auto found = std::ranges::find(kTable, name, &Primitive::name);
  if (found == std::end(kTable) || (name == "act" && step.act == nullptr))
    return invalid_argument("'{}' names no primitive", text);
  step.primitive = static_cast<size_t>(found - std::begin(kTable));
  for (int i = 0; i < found->operands; ++i) {
    int64_t index = -1;
    if (!(words >> index) || index < 0 || static_cast<size_t>(index) >= values)
      return invalid_argument("'{}' should name {} of the {} values before it", text, found->operands, values);
    step.operands[static_cast<size_t>(i)] = static_cast<int>(index);
  }
  for (int i = 0; i < found->constants; ++i) {
    if (!(words >> word)) return invalid_argument("'{}' should have {} numbers", text, found->constants);
    NEREID_TRY(AttrValue value, attr_from_text(AttrSpec::Kind::kFloat, word).with(std::string(text)));
    (i == 0 ? step.alpha : step.beta) = std::get<double>(value);
  }
  if (words >> word) return invalid_argument("'{}' has '{}' too much", text, word);
  return step;
}

Result<std::vector<ProgramStep>> parse_program(std::span<const std::string> steps, size_t inputs) {
  if (steps.empty()) return invalid_argument("steps is empty");
  std::vector<ProgramStep> out;
  for (const std::string& text : steps) {
    NEREID_TRY(ProgramStep step, parse_program_step(text, inputs + out.size()));
    out.push_back(step);
  }
  return out;
}

std::string program_step_text(std::string_view primitive, std::span<const int> operands,
                              std::span<const double> constants) {
  std::string out(primitive);
  for (int v : operands) out += fmt::format(" {}", v);
  for (double v : constants) out += fmt::format(" {}", real_to_text(v));
  return out;
}

extern constexpr OpDef kProgram = {.name = "program",
                                   .summary = "y = the steps' last value, element by element of the broadcast inputs",
                                   .inputs = kInputs,
                                   .outputs = kOutputs,
                                   .attrs = kAttrs,
                                   .infer = infer,
                                   .evaluate = evaluate,
                                   .cost = cost,
                                   .dtype_of = dtype_of};

}  // namespace nereid::ops
