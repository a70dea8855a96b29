// SPDX-License-Identifier: Apache-2.0
// What an operator is: its name, arguments, attributes, shape rule, cost and a plain reference evaluator.
//
// The evaluator is test oracle, constant folder and last-resort kernel; it favours being obviously right over speed and
// computes in f32 (or wider). One file an op; op_table.h lists them all. Ops know nothing of graphs, devices or
// kernels.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"
#include "base/status.h"
#include "base/tensor_view.h"

namespace nereid::ops {

struct TensorType {
  DType dtype = DType::f32;
  Shape shape;
  std::string to_string() const;  // "f32[tokens, 576]"
  bool operator==(const TensorType&) const = default;
};

using AttrValue = std::variant<bool, int64_t, double, std::string, std::vector<int64_t>, std::vector<double>,
                               std::vector<std::string>>;

// Attributes of one node, ordered by name. A Graph fills the declared defaults in when it adds a node, so evaluators
// and kernels may rely on presence: the typed getters check it.
class Attrs {
 public:
  Attrs() = default;
  Attrs(std::initializer_list<std::pair<const std::string, AttrValue>> values) : values_(values) {}
  void set(std::string name, AttrValue value) { values_[std::move(name)] = std::move(value); }
  const AttrValue* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }
  bool boolean(std::string_view name) const;
  int64_t integer(std::string_view name) const;
  double real(std::string_view name) const;  // takes an integer too
  const std::string& text(std::string_view name) const;
  const std::vector<int64_t>& integers(std::string_view name) const;
  const std::vector<double>& reals(std::string_view name) const;
  const std::map<std::string, AttrValue, std::less<>>& values() const { return values_; }
  bool operator==(const Attrs&) const = default;

 private:
  std::map<std::string, AttrValue, std::less<>> values_;
};

struct AttrSpec {
  enum class Kind : uint8_t { kBool, kInt, kFloat, kString, kInts, kFloats, kStrings };
  std::string_view name;
  Kind kind;
  std::string_view fallback;  // text form of the default ("1e-05", "true", "silu"); empty: required
  std::string_view help;      // one line for the generated reference
};

struct ArgSpec {
  std::string_view name;
  bool optional = false;  // an absent input is written `_` in the text form
  bool variadic = false;  // only the last one
  bool state = false;     // mutated in place by the op (a key/value cache)
};

struct Cost {
  double flops = 0;       // multiply and add count as two
  double bytes_read = 0;  // weights and activations, each once
  double bytes_written = 0;
};

// For shape rules. An absent optional input has a null type.
struct InferContext {
  std::span<const TensorType* const> inputs;
  // Values of inputs known at build time, else null; same order. For value-dependent shapes.
  std::span<const ConstTensorView* const> constants;
  const Attrs& attrs;
};

// For evaluators: views of plain dtypes or block formats; absent optional inputs have null data and rank 0.
// Outputs are allocated by the caller with the inferred types. State inputs are writable through `states`
// (same index as in `inputs`; null where the input is no state).
struct EvalContext {
  std::span<const ConstTensorView> inputs;
  std::span<const TensorView> outputs;
  std::span<TensorView* const> states;
  const Attrs& attrs;
};

struct OpDef {
  std::string_view name;
  std::string_view summary;  // one line with the formula
  std::span<const ArgSpec> inputs;
  std::span<const ArgSpec> outputs;
  std::span<const AttrSpec> attrs;
  Result<std::vector<TensorType>> (*infer)(const InferContext&);
  Status (*evaluate)(const EvalContext&);
  Cost (*cost)(const InferContext&, std::span<const TensorType> outputs);
  // Tolerances that a kernel must keep against the evaluator, as a share of the outputs' largest magnitude.
  double tolerance_f32 = 1e-5;
  double tolerance_bf16 = 2e-2;
  double tolerance_int8 = 2e-2;
  bool commutative = false;  // the two inputs may be exchanged
};

// The table of all ops (ops/op_table.cc), in alphabetical order; null if there is none of that name.
std::span<const OpDef* const> op_table();
const OpDef* find_op(std::string_view name);

}  // namespace nereid::ops
