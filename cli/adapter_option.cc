// SPDX-License-Identifier: Apache-2.0
#include "cli/adapter_option.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <filesystem>

namespace nereid::cli {

Result<llm::AdapterSource> parse_adapter(const std::string& text) {
  llm::AdapterSource source{.path = text};
  const size_t colon = text.rfind(':');
  std::error_code ignored;
  if (colon != std::string::npos && !std::filesystem::exists(text, ignored)) {
    double scale = 0;
    const char* begin = text.data() + colon + 1;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(begin, end, scale);
    if (begin != end && stop == end && error == std::errc()) {
      if (!std::isfinite(scale))
        return invalid_argument("--lora: the scale of '{}' is {}; expected a finite number", text, scale);
      source = {.path = text.substr(0, colon), .scale = scale};
    }
  }
  if (source.path.empty()) return invalid_argument("--lora: '{}' names no folder; expected DIR or DIR:SCALE", text);
  return source;
}

Result<NamedAdapter> parse_named_adapter(const std::string& text, std::span<const std::string> models) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return invalid_argument("--lora: '{}' gives no name; expected NAME=DIR or MODEL:NAME=DIR", text);
  NamedAdapter adapter{.model = {}, .name = text.substr(0, equals), .source = {}};
  for (const std::string& model : models)
    if (model.size() > adapter.model.size() && adapter.name.size() > model.size() + 1 &&
        adapter.name.starts_with(model + ":"))
      adapter.model = model;
  if (!adapter.model.empty())
    adapter.name.erase(0, adapter.model.size() + 1);
  else if (models.size() == 1)
    adapter.model = models[0];
  else
    return invalid_argument("--lora: '{}' does not say for which model; expected MODEL:NAME=DIR with one of {}", text,
                            fmt::join(models, ", "));
  NEREID_TRY(adapter.source, parse_adapter(text.substr(equals + 1)));
  return adapter;
}

}  // namespace nereid::cli
