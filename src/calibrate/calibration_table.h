// SPDX-License-Identifier: Apache-2.0
// The ranges that calibration has found, tensor by tensor, as a text file that a later build takes them from.
//
//   nereid calibration 1 entropy
//   0 6 features/relu6
//   -2.11790395 2.64000010 input
// least, most (as f32, nine digits), the tensor's name to the end of the line; sorted by name. TensorRT's calibration
// caches are read too: a first line TRT-<version>-<calibrator>, then `name: <f32 scale as 8 hexadecimal digits>`; their
// codes are symmetric, so that a scale s is the range from -127 s to 127 s.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "calibrate/range_histogram.h"

namespace nereid::calibrate {

using TensorRanges = std::map<std::string, QuantizedRange, std::less<>>;

struct CalibrationTable {
  std::string method;  // RangeMethod::name(), or TensorRT's first line
  bool is_foreign = false;
  TensorRanges ranges;
};

// Errors (kInvalidArgument) name the line: numbers that are no range, a name twice, another version.
Result<CalibrationTable> parse_calibration_table(std::string_view text);
std::string print_calibration_table(const CalibrationTable& table);

}  // namespace nereid::calibrate
