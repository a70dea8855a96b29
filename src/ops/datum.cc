// SPDX-License-Identifier: Apache-2.0
// The type of a datum.
#include "ops/datum.h"

#include "ops/shape_rule.h"

namespace nereid::ops {

TensorType type_of(const Datum& datum) {
  switch (datum.kind) {
    case Datum::Kind::kTensor:
      return {datum.tensor.dtype, Shape::of(datum.tensor.sizes)};
    case Datum::Kind::kNone:
      return {.dtype = datum.element, .shape = Shape::unranked(), .container = Container::kOptional};
    case Datum::Kind::kMap:
      return {.dtype = datum.tensor.dtype, .shape = Shape(), .container = Container::kMap, .key = datum.keys.dtype};
    case Datum::Kind::kSequence:
      break;
  }
  TensorType type{.dtype = datum.element, .shape = Shape::unranked(), .container = Container::kSequence};
  if (datum.items.empty()) return type;
  if (datum.items[0].kind == Datum::Kind::kMap) {
    const TensorType item = type_of(datum.items[0]);
    return {.dtype = item.dtype, .shape = item.shape, .container = Container::kSequenceOfMaps, .key = item.key};
  }
  type.shape = Shape::of(datum.items[0].tensor.sizes);
  for (const Datum& item : datum.items) type.shape = common_shape(type.shape, Shape::of(item.tensor.sizes));
  return type;
}

}  // namespace nereid::ops
