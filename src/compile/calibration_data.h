// SPDX-License-Identifier: Apache-2.0
// A folder of inputs that stand for what a network will see: for calibration and for measuring accuracy.
//
// One of three layouts, in the order of names:
// - folders, one a sample: files named as the inputs are (x.npy, y.pb), or input_0.pb, input_1.pb ... in the model's
//   order, or one .npz that holds all inputs by name;
// - .npz files, one a sample, with the arrays by the inputs' names;
// - .npy or .pb files: one a sample where the model has one input; where it has more, one sample of files named as the
//   inputs are.
// Names are the inputs' with bytes outside [A-Za-z0-9._-] as %XX, as `nereid infer` writes them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compile/infer_inputs.h"

namespace nereid::compile {

class CalibrationData {
 public:
  // Looks at names only. kNotFound: no folder; kInvalidArgument: it is empty, or a sample lacks an input.
  static Result<CalibrationData> open(const std::string& folder, std::vector<InputType> inputs);

  int64_t size() const { return static_cast<int64_t>(samples_.size()); }
  const std::string& name(int64_t index) const { return samples_[static_cast<size_t>(index)].name; }
  // One value an input. kInvalidArgument: a file that is none, that does not fit the input, or that holds NaN or
  // infinity.
  Result<std::map<std::string, ops::Datum, std::less<>>> read(int64_t index) const;

 private:
  struct Sample {
    std::string name;
    InputFiles files;
  };
  std::vector<InputType> inputs_;
  std::vector<Sample> samples_;
};

}  // namespace nereid::compile
