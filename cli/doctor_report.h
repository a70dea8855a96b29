// SPDX-License-Identifier: Apache-2.0
// What `nereid doctor` found, as data, and its two forms: lines for people, JSON for programs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace nereid::cli {

enum class Health : uint8_t {
  kFine,
  kNote,     // works, but slower or less than it could
  kMissing,  // not there; what needs it does without
  kBroken,   // Nereid needs it
};
std::string_view health_name(Health health);  // "fine", "note", "missing", "broken"

struct Finding {
  std::string section;  // "cpu", "memory", "gpu", ...
  std::string name;     // "huge pages"
  std::string value;    // "madvise"
  Health health = Health::kFine;
  std::string advice;  // the command that mends it, or a sentence; empty when nothing needs mending
  // The value as a number, for programs, where it is one.
  std::optional<double> number = std::nullopt;
  std::string unit = "";
};

using Findings = std::vector<Finding>;

bool is_healthy(const Findings& findings);  // nothing is broken
std::string doctor_text(const Findings& findings);
Json doctor_json(const Findings& findings);

}  // namespace nereid::cli
