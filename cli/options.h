// SPDX-License-Identifier: Apache-2.0
// Kinds of options that several commands have.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "cli/command_line.h"
#include "llm/run/generate.h"

namespace nereid::cli {

// The options of sample::setting_table(), plus --stop, --logit-bias and -n for --max-tokens.
class SamplingOptions {
 public:
  explicit SamplingOptions(CommandLine& app);
  SamplingOptions(const SamplingOptions&) = delete;

  // After parsing. Error: a value out of its bounds.
  Result<sample::SamplingParams> params() const;

 private:
  sample::SamplingParams params_;
  std::vector<std::string> biases_;
};

}  // namespace nereid::cli
