// SPDX-License-Identifier: Apache-2.0
// Kinds of options that several commands have.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "llm/run/generate.h"

namespace nereid::cli {

// A text that may be given several times, each taken as it is: CLI11's own lists would read "[a,b]" as two and "{}" as
// none.
CLI::Option* add_texts(CLI::App& app, const std::string& names, std::vector<std::string>& texts,
                       const std::string& help);

// The options of sample::setting_table(), plus --stop, --logit-bias and -n for --max-tokens.
class SamplingOptions {
 public:
  explicit SamplingOptions(CLI::App& app);
  SamplingOptions(const SamplingOptions&) = delete;

  // After parsing. Error: a value out of its bounds.
  Result<sample::SamplingParams> params() const;

 private:
  sample::SamplingParams params_;
  std::vector<std::string> biases_;
};

}  // namespace nereid::cli
