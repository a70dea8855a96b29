// SPDX-License-Identifier: Apache-2.0
// The options of `nereid build` that say in which precision a network multiplies, and what it reports of them.
#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "cli/command_line.h"
#include "compile/mixed_build.h"

namespace nereid::cli {

class PrecisionOptions {
 public:
  explicit PrecisionOptions(CommandLine& app);
  PrecisionOptions(const PrecisionOptions&) = delete;

  // After parsing. Whether layers have precisions of their own: mixed() says which, else precision() holds throughout.
  bool is_mixed() const { return precision_ == "int8" || accuracy_.has_value(); }
  Result<compile::MixedOptions> mixed() const;
  Result<runtime::NetPrecision> precision() const;

 private:
  std::string precision_ = "f32", calib_, method_, cache_;
  std::optional<double> accuracy_;
  uint64_t seed_ = 1;
};

// Remarks, the certificate and, of a search, times; `explain`: of every layer.
std::string mixed_text(const compile::MixedBuild& build, bool explain);
nlohmann::ordered_json mixed_json(const compile::MixedBuild& build);

}  // namespace nereid::cli
