// SPDX-License-Identifier: Apache-2.0
// What a model is fed: files named on the command line, a model's own defaults, or random numbers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "ops/datum.h"

namespace nereid::compile {

using InputFiles = std::map<std::string, std::string, std::less<>>;  // by input name
using InputShapes = std::map<std::string, std::vector<int64_t>, std::less<>>;

// Each text is `NAME=FILE,NAME=FILE` (split at ',' and then at the first '='), or `@FILE.json` holding {"NAME":"FILE"},
// or an .npz file by itself, whose arrays are named as the inputs are.
Result<InputFiles> parse_input_files(std::span<const std::string> texts);
// Each text is `NAME:2x3,NAME:4`; a name may hold ':', `NAME:` is a scalar.
Result<InputShapes> parse_input_shapes(std::span<const std::string> texts);

struct InputType {
  std::string name;
  ops::TensorType type;
};

// One value an input, by name. Formats by the file's end: .npy,
// .npz (the array of the input's name, or the only one), .pb, .bin or .raw (bare elements, little endian).
// Errors: a name that the model does not have, a file that cannot be read or whose type is not the declared one, an
// input that is not given although there is no seed. Random: floats from -1 to 1, integers from 0 to 9, either bool.
Result<std::map<std::string, ops::Datum, std::less<>>> read_inputs(std::span<const InputType> inputs,
                                                                   const InputFiles& files, const InputShapes& shapes,
                                                                   std::optional<uint64_t> random_seed);

}  // namespace nereid::compile
