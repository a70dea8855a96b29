// SPDX-License-Identifier: Apache-2.0
// How far a value is from what it should be: the numbers that `nereid check` and certificates of accuracy state.
//
// The error of a tensor of reals is the largest |found - expected| over the elements that are finite on both sides. It
// is seen against the range of the expected values, the largest minus the smallest (where all are the same: their
// magnitude). NaN and infinity are right where the other side has the same. Integers, bools and texts are right or
// wrong; codes of 8 bits and less may be one step off, because rounding decides them.
#pragma once

#include <cstdint>
#include <string>

#include "ops/datum.h"

namespace nereid::compile {

struct Tolerance {
  double relative = 1e-4;  // of the expected values' range
  double absolute = 1e-6;
};

struct ValueDifference {
  int64_t elements = 0;
  double max_abs = 0, mean_abs = 0;
  double range = 0;      // largest minus smallest expected value; of equal ones: their magnitude
  double magnitude = 0;  // largest |expected|
  int64_t nans = 0;      // elements that are NaN on one side alone
  int64_t infinities = 0;
  int64_t unequal = 0;                    // of integers, bools and texts
  bool is_exact = false;                  // of integers, bools and texts
  bool channels_last = false;             // found is channels-last what expected is channels-first
  std::string mismatch;                   // what cannot be compared: kinds, element types or sizes differ; a sentence
  double relative() const;                // max_abs / range; 0 where there is no error
  void add(const ValueDifference& item);  // of a sequence's items together
};

// Where sizes fit channels-last as well (or only then), the order is taken that fits better: optimised networks keep
// images channels-last under their names.
ValueDifference compare_values(const ops::Datum& found, const ops::Datum& expected);

// max_abs <= absolute + relative * range + 1e-6 * magnitude (what f32 itself rounds away), and nothing else differs.
bool is_within(const ValueDifference& difference, const Tolerance& tolerance);

}  // namespace nereid::compile
