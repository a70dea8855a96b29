// SPDX-License-Identifier: Apache-2.0
// adapter_config.json: what a LoRA's modules are scaled by, and every setting that would change its result.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/status.h"

namespace nereid::import::peft {

class Config {
 public:
  // kUnsupported: a setting that Nereid does not follow; kInvalidArgument: values of no sense.
  static Result<Config> parse(const Json& json);

  const std::string& base_model() const { return base_model_; }
  // What the config says of a module's rank.
  Result<int64_t> rank_of(std::string_view module) const;
  // lora_alpha / rank, or / sqrt(rank).
  Result<double> scale_of(std::string_view module, int64_t rank) const;

 private:
  // Patterns are regular expressions that match the end of a name from a '.' on. Of several that do, PEFT takes the one
  // that the file has first; here they must agree.
  using Patterns = std::vector<std::pair<std::string, double>>;
  static Result<Patterns> read_patterns(const Json& json, std::string_view key);
  static Result<double> find(const Patterns& patterns, std::string_view module, double otherwise);

  std::string base_model_;
  double rank_ = 0, alpha_ = 0;
  bool is_rank_stabilised_ = false;
  Patterns ranks_, alphas_;
};

// True if `pattern` matches the module's whole name or what follows one of its dots, as PEFT matches it.
// kInvalidArgument: no regular expression, or one that would take too long.
Result<bool> pattern_matches(const std::string& pattern, std::string_view module);

}  // namespace nereid::import::peft
