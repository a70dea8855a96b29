// SPDX-License-Identifier: Apache-2.0
// Values in the format's own files (.pb): TensorProto, SequenceProto, OptionalProto, MapProto.
#pragma once

#include <string>

#include "base/status.h"
#include "ops/datum.h"

namespace nereid::import::onnx {

// Reads what `type` says is in there; the name inside is ignored. Damaged bytes: a sentence.
Result<ops::Datum> read_value(std::string_view bytes, const ops::TensorType& type);
std::string write_value(const ops::Datum& value, std::string_view name);

}  // namespace nereid::import::onnx
