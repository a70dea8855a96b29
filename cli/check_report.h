// SPDX-License-Identifier: Apache-2.0
// What `nereid check` found, as text and as JSON.
#pragma once

#include <string>

#include "base/json.h"
#include "compile/check_network.h"

namespace nereid::cli {

struct Checked {
  std::string model, against;
  compile::Tolerance tolerance;
  compile::CheckReport report;
};

// A table and the verdict. Of a long network the outputs, what is past the tolerance and the largest errors, unless
// `all` are wanted.
std::string check_text(const Checked& checked, bool all);
// Whether all is within the tolerance; else which layer is the first that is not, its sources and its inputs.
std::string verdict_text(const Checked& checked);
nlohmann::ordered_json check_json(const Checked& checked);

}  // namespace nereid::cli
