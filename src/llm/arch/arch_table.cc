// SPDX-License-Identifier: Apache-2.0
// The one ordered table of architectures, and finding the one a model's files name.
#include "llm/arch/arch_table.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/json.h"
#include "llm/arch/hyper_parameters.h"

namespace nereid::llm {

extern const Architecture kBert;
extern const Architecture kDistilBert;
extern const Architecture kGemma3;
extern const Architecture kLlama;
extern const Architecture kMistral;
extern const Architecture kMpnet;
extern const Architecture kQwen2;
extern const Architecture kQwen3;
extern const Architecture kRoberta;

namespace {

constexpr std::array kTable = {&kBert,  &kDistilBert, &kGemma3, &kLlama,  &kMistral,
                               &kMpnet, &kQwen2,      &kQwen3,  &kRoberta};

std::span<const std::string_view> names(const Architecture& a, bool gguf) {
  return gguf ? a.gguf_names : a.hf_names;
}

// Levenshtein distance; both texts are short.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, substituted});
    }
  }
  return row.back();
}

std::string_view nearest(std::string_view name, bool gguf) {
  std::string_view best;
  size_t least = SIZE_MAX;
  for (const Architecture* a : kTable) {
    for (const std::string_view known : names(*a, gguf)) {
      const size_t distance = edit_distance(name, known);
      if (distance < least) best = known, least = distance;
    }
  }
  return best;
}

std::string supported_names() {
  std::string list;
  for (const Architecture* a : kTable) list += fmt::format("{}{}", list.empty() ? "" : ", ", a->name);
  return list;
}

// Every name the files give, most telling first.
std::vector<std::string> given_names(const ArchInput& input) {
  std::vector<std::string> given;
  if (!input.architecture.empty()) given.emplace_back(input.architecture);
  if (const Json* list = json_member(input.hf, "architectures"); list != nullptr && list->is_array()) {
    for (const Json& entry : *list) {
      if (entry.is_string()) given.push_back(entry.get<std::string>());
    }
  }
  if (const Json* type = json_member(input.hf, "model_type"); type != nullptr && type->is_string()) {
    given.push_back(type->get<std::string>());
  }
  return given;
}

}  // namespace

std::span<const Architecture* const> arch_table() {
  return kTable;
}

Result<const Architecture*> find_architecture(const ArchInput& input) {
  const bool gguf = input.gguf != nullptr;
  const std::vector<std::string> given = given_names(input);
  for (const std::string& name : given) {
    for (const Architecture* a : kTable) {
      if (std::ranges::find(names(*a, gguf), name) != names(*a, gguf).end()) return a;
    }
  }
  if (given.empty()) {
    return invalid_argument("The model does not name its architecture ({} is missing). Supported: {}.",
                            gguf ? "general.architecture" : "architectures and model_type in config.json",
                            supported_names());
  }
  const std::string name = given.front().substr(0, 64);
  return unsupported("The architecture '{}' is not supported; the nearest known name is '{}'. Supported: {}.", name,
                     nearest(name, gguf), supported_names());
}

}  // namespace nereid::llm
