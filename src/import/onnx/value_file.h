// SPDX-License-Identifier: Apache-2.0
// Values in the format's own files (.pb): TensorProto, SequenceProto, OptionalProto, MapProto.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "ops/datum.h"

namespace nereid::import::onnx {

// Reads what `type` says is in there; the name inside is ignored. Shapes are not compared. An OptionalProto without a
// value is nothing. Damaged bytes and elements of another type: a sentence.
Result<ops::Datum> read_value(std::string_view bytes, const ops::TensorType& type);
// `type` says which message it is: an optional that has a value is a tensor or a sequence by itself.
std::string write_value(const ops::Datum& value, const ops::TensorType& type, std::string_view name);

}  // namespace nereid::import::onnx
