// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor_report.h"

#include <algorithm>
#include <array>

namespace nereid::cli {
namespace {

// What a line begins with; fine ones need no word.
std::string_view mark(Health health) {
  constexpr std::array<std::string_view, 4> kMarks = {"", "note: ", "missing: ", "BROKEN: "};
  return kMarks[static_cast<size_t>(health)];
}

std::string count_text(const Findings& findings, Health health, std::string_view what) {
  const auto n = std::count_if(findings.begin(), findings.end(), [&](const Finding& f) { return f.health == health; });
  return fmt::format("{} {}", n, what);
}

}  // namespace

std::string_view health_name(Health health) {
  constexpr std::array<std::string_view, 4> kNames = {"fine", "note", "missing", "broken"};
  return kNames[static_cast<size_t>(health)];
}

bool is_healthy(const Findings& findings) {
  return std::none_of(findings.begin(), findings.end(), [](const Finding& f) { return f.health == Health::kBroken; });
}

std::string doctor_text(const Findings& findings) {
  std::string out;
  std::string_view section;
  for (const Finding& f : findings) {
    if (f.section != section) out += fmt::format("{}{}\n", out.empty() ? "" : "\n", f.section);
    section = f.section;
    out += fmt::format("  {:<20} {}{}\n", f.name, mark(f.health), f.value);
    if (!f.advice.empty()) out += fmt::format("  {:<20}   -> {}\n", "", f.advice);
  }
  out += fmt::format("\n{}: {}, {}, {}\n", is_healthy(findings) ? "Nereid can work here" : "Nereid cannot work here",
                     count_text(findings, Health::kBroken, "broken"), count_text(findings, Health::kMissing, "missing"),
                     count_text(findings, Health::kNote, "worth a look"));
  return out;
}

Json doctor_json(const Findings& findings) {
  Json list = Json::array();
  for (const Finding& f : findings) {
    Json one = {{"section", f.section}, {"name", f.name}, {"value", f.value}, {"health", health_name(f.health)}};
    if (!f.advice.empty()) one["advice"] = f.advice;
    if (f.number) one["number"] = *f.number;
    if (!f.unit.empty()) one["unit"] = f.unit;
    list.push_back(std::move(one));
  }
  return {{"healthy", is_healthy(findings)}, {"findings", std::move(list)}};
}

}  // namespace nereid::cli
