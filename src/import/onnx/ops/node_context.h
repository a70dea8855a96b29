// SPDX-License-Identifier: Apache-2.0
// What an operator's importer sees of its node, and how it says what the node means in our own vocabulary.
//
// An importer reads inputs and attributes, emits nodes of the intermediate representation and gives the results to the
// node's outputs. It turns every older form of its operator into the newest (an attribute of opset 9 that became an
// input in opset 13), so that the vocabulary has one form. Errors are returned; the caller adds the operator's name,
// the node's name, its domain and opset.
//
// What is emitted on constants alone is computed at once (unless it is large), so `known` sees through the arithmetic
// that exporters write between a Shape and a Reshape. No protobuf here: a file an operator must compile fast.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "graph/graph.h"
#include "ops/op.h"
#include "ops/tensor.h"

namespace nereid::import::onnx {

using graph::ValueId;

// One graph attribute and what its formal inputs are given; a type that says less than the file's own is refined by it.
struct RegionRequest {
  std::string attr;
  std::vector<ops::TensorType> formals;
};

class NodeContext {
 public:
  virtual ~NodeContext() = default;

  // The node. Empty names at the end of its inputs and outputs are dropped; others are absent.
  virtual std::string_view op_type() const = 0;
  virtual std::string_view domain() const = 0;  // "" for the default domain, whichever way the file spells it
  virtual int64_t version() const = 0;          // of the domain's operator set that the model asks for
  virtual size_t input_count() const = 0;
  virtual ValueId input(size_t i) const = 0;  // invalid if absent or past the end
  virtual size_t output_count() const = 0;
  virtual bool wants_output(size_t i) const = 0;
  bool has_input(size_t i) const { return input(i).valid(); }
  std::vector<ValueId> inputs() const;
  // kInvalidArgument if the node has fewer or more inputs.
  Status expect_inputs(size_t least, size_t most) const;

  // Types and values; references hold until the next value is made. `known` is null unless the value is constant in one
  // piece.
  virtual const ops::TensorType& type(ValueId id) const = 0;
  virtual const ConstTensorView* known(ValueId id) const = 0;
  std::optional<std::vector<int64_t>> known_integers(ValueId id) const;

  // Attributes. With a fallback they may be missing; without one a missing attribute is an error. An attribute of
  // another kind is always one.
  virtual bool has_attr(std::string_view name) const = 0;
  virtual std::vector<std::string> attr_names() const = 0;
  virtual Result<int64_t> integer(std::string_view name, std::optional<int64_t> fallback = {}) const = 0;
  virtual Result<double> real(std::string_view name, std::optional<double> fallback = {}) const = 0;
  virtual Result<std::string> text(std::string_view name, std::optional<std::string> fallback = {}) const = 0;
  virtual Result<std::vector<int64_t>> integers(std::string_view name,
                                                std::optional<std::vector<int64_t>> fallback = {}) const = 0;
  virtual Result<std::vector<double>> reals(std::string_view name,
                                            std::optional<std::vector<double>> fallback = {}) const = 0;
  virtual Result<std::vector<std::string>> texts(std::string_view name,
                                                 std::optional<std::vector<std::string>> fallback = {}) const = 0;
  virtual Result<ops::Tensor> tensor(std::string_view name) const = 0;
  // An element type by its number in the format ("to" of Cast). kInvalidArgument if there is none of that number.
  virtual Result<DType> dtype(std::string_view name, std::optional<DType> fallback = {}) const = 0;
  // A whole type ("type" of Optional).
  virtual Result<ops::TensorType> type_attr(std::string_view name) const = 0;

  // Emitting. Names are made from the node's. One result is expected by `emit`, as many as wanted by `emit_all`.
  virtual Result<std::vector<ValueId>> emit_all(std::string_view op, std::vector<ValueId> inputs, ops::Attrs attrs,
                                                size_t results) = 0;
  Result<ValueId> emit(std::string_view op, std::vector<ValueId> inputs, ops::Attrs attrs = {});
  virtual ValueId constant(ops::Tensor tensor) = 0;
  ValueId constant_integers(const std::vector<int64_t>& values);  // i64[n]
  ValueId constant_scalar(DType dtype, double value);             // of rank 0
  virtual void give(size_t output, ValueId value) = 0;
  // Emits the op and gives its results to the node's outputs in order.
  Status lower(std::string_view op, std::vector<ValueId> inputs, ops::Attrs attrs = {});

  // Graph attributes as regions of one node (graph/control.h): each takes its formal inputs first, of the types given
  // (as many as the attribute's graph has), then, all alike, what any of them takes from outside, whose values are put
  // into `captures`.
  virtual Result<std::vector<std::shared_ptr<const graph::Graph>>> regions(const std::vector<RegionRequest>& requests,
                                                                           std::vector<ValueId>& captures) = 0;
  // How many inputs and outputs a graph attribute has.
  virtual Result<std::pair<size_t, size_t>> region_arity(std::string_view attr) const = 0;
  // Emits an op with regions, which has that many results.
  virtual Result<std::vector<ValueId>> emit_control(std::string_view op, std::vector<ValueId> inputs, ops::Attrs attrs,
                                                    std::vector<std::shared_ptr<const graph::Graph>> regions,
                                                    size_t results) = 0;
  // The same, and gives its results to the node's outputs.
  Status lower_control(std::string_view op, std::vector<ValueId> inputs, ops::Attrs attrs,
                       std::vector<std::shared_ptr<const graph::Graph>> regions, size_t results);
};

}  // namespace nereid::import::onnx
