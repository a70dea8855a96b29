// SPDX-License-Identifier: Apache-2.0
// A tensor's elements from a JSON array, nested or flat, into the bytes of its type.
#pragma once

#include <string>

#include "server/core/infer_type.h"
#include "server/protocol/kserve/json_reader.h"

namespace nereid::server::kserve {

// `elements` is what the tensor's shape needs, -1 if that overflows. kInternal: another number of them, or elements of
// another kind.
Result<std::string> read_elements(const JsonValue& data, InferType type, int64_t elements);

// The same of one element, or of an array of as many as there are; `elements` gets how many.
Result<std::string> read_values(const JsonValue& value, InferType type, int64_t* elements);

}  // namespace nereid::server::kserve
