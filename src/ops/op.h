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

struct Datum;  // ops/datum.h

// What a value holds besides one tensor; `dtype` and `shape` are then those of the tensors inside.
enum class Container : uint8_t { kNone, kSequence, kOptional, kOptionalSequence, kMap, kSequenceOfMaps };

struct TensorType {
  DType dtype = DType::f32;
  Shape shape;
  Container container = Container::kNone;
  DType key = DType::i64;         // of maps: i64 or string
  std::string to_string() const;  // "f32[tokens, 576]", "sequence f32[...]"
  bool is_tensor() const { return container == Container::kNone; }
  bool operator==(const TensorType&) const = default;
};

using AttrValue = std::variant<bool, int64_t, double, std::string, std::vector<int64_t>, std::vector<double>,
                               std::vector<std::string>>;

// "", "sequence ", "map i64 ": what stands before the dtype in a type's text; and back from its words (false: no such).
std::string container_text(const TensorType& type);
bool container_from_text(std::span<const std::string> words, TensorType& type);

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
  const std::vector<std::string>& texts(std::string_view name) const;
  const std::map<std::string, AttrValue, std::less<>>& values() const { return values_; }
  bool operator==(const Attrs&) const = default;

 private:
  std::map<std::string, AttrValue, std::less<>> values_;
};

struct AttrSpec {
  enum class Kind : uint8_t { kBool, kInt, kFloat, kString, kInts, kFloats, kStrings };
  std::string_view name;
  Kind kind;
  // Text form of the default ("1e-05", "true", "silu", "[]", "\"\""); empty: required.
  std::string_view fallback;
  std::string_view help;  // one line for the generated reference
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
  // Of ops with regions: each region's result types.
  std::span<const std::vector<TensorType>> regions = {};
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

// For evaluators of ops whose results no shape rule can size (nonzero, unique) or that are no plain tensors (sequences,
// optionals, maps): they make their results themselves. Absent inputs are null.
struct AnyContext {
  std::span<const Datum* const> inputs;
  const Attrs& attrs;
};

struct OpDef {
  std::string_view name;
  std::string_view summary;  // one line with the formula
  std::span<const ArgSpec> inputs;
  std::span<const ArgSpec> outputs;
  std::span<const AttrSpec> attrs;
  // Called only if every present input is a ranked plain tensor, unless `infers_any`; else the results are taken to be
  // unranked tensors of the types `dtype_of` gives. A size that depends on values that are not known is Dim::unknown();
  // with all values given (as when one op is run) every size must be known if the op has `evaluate`.
  Result<std::vector<TensorType>> (*infer)(const InferContext&);
  // Exactly one of the two; neither for ops with regions, which the graph's interpreter runs.
  Status (*evaluate)(const EvalContext&) = nullptr;
  Cost (*cost)(const InferContext&, std::span<const TensorType> outputs) = nullptr;  // null: traffic alone
  // Tolerances that a kernel must keep against the evaluator, as a share of the outputs' largest magnitude.
  double tolerance_f32 = 1e-5;
  double tolerance_bf16 = 2e-2;
  double tolerance_int8 = 2e-2;
  bool commutative = false;  // the two inputs may be exchanged
  Result<std::vector<Datum>> (*evaluate_any)(const AnyContext&) = nullptr;
  bool infers_any = false;  // `infer` takes unranked and container types too
  // The element type of a result when shapes are not known; null: that of the first present input.
  DType (*dtype_of)(const InferContext&, size_t output) = nullptr;
  // Names of the regions (graphs run by the op: branches, loop bodies), in order; graph/control.h says how they run.
  std::span<const std::string_view> regions = {};
  bool of_sizes = false;   // the results depend on the inputs' types and sizes alone (shape, size)
  bool is_random = false;  // two runs may differ: never folded or merged
};

// The table of all ops (ops/op_table.cc), in alphabetical order; null if there is none of that name.
std::span<const OpDef* const> op_table();
const OpDef* find_op(std::string_view name);

}  // namespace nereid::ops
