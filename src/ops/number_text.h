// SPDX-License-Identifier: Apache-2.0
// Numbers as the elements of string tensors write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace nereid::ops {

// "3.14", "-1e-5", "+INF", "nan", in any case, with spaces around. kInvalidArgument if the text is no number.
Result<double> number_from_text(std::string_view text);
// Whole numbers exactly (those beyond i64 as the u64 with the same bits); others towards zero.
Result<int64_t> whole_from_text(std::string_view text);

// The fewest digits that give the number back; "NaN", "INF", "-INF".
std::string number_text(float value);
std::string number_text(double value);

}  // namespace nereid::ops
