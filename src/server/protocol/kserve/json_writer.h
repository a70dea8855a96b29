// SPDX-License-Identifier: Apache-2.0
// JSON of answers, written the way clients of the protocol have always got it: no spaces, floats as the shortest text
// of a double with a point in it ("1.0", "1.0000000116860974e-7"), texts as their bytes are.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "server/core/infer_request.h"

namespace nereid::server::kserve {

void append_text(std::string* out, std::string_view text);
void append_number(std::string* out, double value);
void append_shape(std::string* out, std::span<const int64_t> shape);
void append_parameter(std::string* out, const InferParameter& value);
// The elements of a tensor, one after the other, between commas.
void append_elements(std::string* out, const InferTensor& tensor);

}  // namespace nereid::server::kserve
