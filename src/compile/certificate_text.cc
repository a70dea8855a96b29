// SPDX-License-Identifier: Apache-2.0
// A certificate of accuracy in words.
#include "compile/mixed_build.h"

namespace nereid::compile {
namespace {

std::string error_text(const Json& output, const char* key) {
  const auto it = output.find(key);
  return it != output.end() && it->is_number() ? fmt::format("{:.3g}", it->get<double>()) : "not finite";
}

}  // namespace

std::string certificate_text(const Json& c) {
  if (!c.is_object()) return "";
  const bool is_measured = c.value("samples", int64_t{0}) > 0;
  std::string text =
      is_measured ? fmt::format("against {} over {}", c.value("against", ""), c.value("data", "")) : "not measured";
  if (const Json* bound = json_find(c, "bound"); bound != nullptr && bound->is_number())
    text += fmt::format(", bound {:g} of the range", bound->get<double>());
  if (const Json* layers = json_find(c, "layers"); layers != nullptr && layers->is_object()) {
    text += "; layers:";
    for (const auto& [name, count] : layers->items()) text += fmt::format(" {} {}", count.dump(), name);
  }
  text += "\n";
  if (const Json* outputs = json_find(c, "outputs"); outputs != nullptr && outputs->is_array())
    for (const Json& o : *outputs) {
      if (!o.is_object()) continue;
      if (o.contains("unequal"))
        text += fmt::format("{}: {} of {} elements differ\n", o.value("name", ""), o.at("unequal").dump(),
                            o.value("elements", Json()).dump());
      else
        text += fmt::format("{}: largest error {} of the range, mean {}\n", o.value("name", ""),
                            error_text(o, "max_error"), error_text(o, "mean_error"));
    }
  return text;
}

}  // namespace nereid::compile
