// SPDX-License-Identifier: Apache-2.0
#include "llm/arch/module_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "llm/arch/arch_table.h"
#include "llm/arch/bind_weights.h"

namespace nereid::llm {
namespace {

constexpr std::string_view kWeight = ".weight";

bool is_linear(const WeightRow& row) {
  return row.columns != Extent::kNone && row.role != Role::kTokenEmbedding && !row.gguf.empty() &&
         row.hf.ends_with(kWeight);
}

// The layer that makes the pattern the module's name; 0 for a pattern without one.
std::optional<int64_t> match(std::string_view pattern, std::string_view module) {
  const size_t at = pattern.find("{i}");
  if (at == std::string_view::npos) return pattern == module ? std::optional<int64_t>(0) : std::nullopt;
  const std::string_view before = pattern.substr(0, at), behind = pattern.substr(at + 3);
  if (module.size() <= before.size() + behind.size() || !module.starts_with(before) || !module.ends_with(behind))
    return std::nullopt;
  const std::string_view digits = module.substr(before.size(), module.size() - before.size() - behind.size());
  int32_t layer = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), layer);
  const bool is_plain = error == std::errc() && end == digits.data() + digits.size() && layer >= 0 &&
                        (digits[0] != '0' || digits.size() == 1);
  return is_plain ? std::optional<int64_t>(layer) : std::nullopt;
}

std::string replaced(std::string_view pattern, std::string_view what, std::string_view with) {
  const size_t at = pattern.find(what);
  if (at == std::string_view::npos) return std::string(pattern);
  return fmt::format("{}{}{}", pattern.substr(0, at), with, pattern.substr(at + what.size()));
}

// The last part of each linear module's name, in the table's order.
std::string known_modules(const Architecture& arch) {
  std::vector<std::string> names;
  for (const WeightRow& row : arch.weights) {
    if (!is_linear(row)) continue;
    std::string_view name = row.hf.substr(0, row.hf.size() - kWeight.size());
    name.remove_prefix(std::min(name.size(), name.find_last_of(".}") + 1));
    if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

Result<std::vector<ModuleWeight>> module_weights(std::string_view architecture, std::string_view module) {
  const auto all = arch_table();
  const auto arch = std::ranges::find(all, architecture, [](const Architecture* a) { return a->name; });
  if (arch == all.end()) return not_found("there is no architecture '{}'", architecture);
  std::vector<std::pair<size_t, ModuleWeight>> found;
  for (const HfRoot& root : kHfRoots) {
    for (const WeightRow& row : (*arch)->weights) {
      if (!is_linear(row)) continue;
      std::string pattern = replaced(replaced(row.hf, "{body}", root.body), "{head}", root.head);
      pattern.resize(pattern.size() - kWeight.size());
      if (const auto layer = match(pattern, module))
        found.emplace_back(row.rows.take, ModuleWeight{row.role, replaced(row.gguf, "{i}", std::to_string(*layer))});
    }
    if (!found.empty()) break;
  }
  if (found.empty())
    return not_found("a {} model has no linear module '{}'; those it has end in {}", architecture, module,
                     known_modules(**arch));
  std::ranges::sort(found, {}, &std::pair<size_t, ModuleWeight>::first);
  std::vector<ModuleWeight> weights;
  for (auto& [take, weight] : found) weights.push_back(std::move(weight));
  return weights;
}

}  // namespace nereid::llm
