// SPDX-License-Identifier: Apache-2.0
// What a value holds when a graph runs: a tensor, a sequence, an optional that may be empty, or a map.
#pragma once

#include <utility>
#include <vector>

#include "ops/op.h"
#include "ops/tensor.h"

namespace nereid::ops {

struct Datum {
  enum class Kind : uint8_t { kTensor, kSequence, kNone, kMap };

  Kind kind = Kind::kTensor;
  Tensor tensor;             // kTensor; of a map: its values, one a key
  Tensor keys;               // kMap: i64[n] or string[n]
  std::vector<Datum> items;  // kSequence: tensors or maps
  // Of a sequence or of nothing: the element type, which holds even when there are no items.
  DType element = DType::f32;

  Datum() = default;
  Datum(Tensor t) : tensor(std::move(t)) {}
  static Datum sequence(DType element, std::vector<Datum> items) {
    Datum d;
    d.kind = Kind::kSequence;
    d.element = element;
    d.items = std::move(items);
    return d;
  }
  static Datum none(DType element) {
    Datum d;
    d.kind = Kind::kNone;
    d.element = element;
    return d;
  }
  static Datum map(Tensor keys, Tensor values) {
    Datum d;
    d.kind = Kind::kMap;
    d.keys = std::move(keys);
    d.tensor = std::move(values);
    return d;
  }
  bool is_tensor() const { return kind == Kind::kTensor; }
  ConstTensorView view() const { return std::as_const(tensor).view(); }
};

// The type of what is there: sizes as they are. A sequence whose items differ in rank is unranked, in size unknown.
TensorType type_of(const Datum& datum);

}  // namespace nereid::ops
