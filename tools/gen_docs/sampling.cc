// SPDX-License-Identifier: Apache-2.0
// docs/reference/sampling.md: every number that shapes how a token is drawn.
#include <fmt/format.h>

#include "gen_docs/page.h"
#include "llm/sample/params.h"

namespace nereid::docs {

namespace {

// Bounds that only the type sets say nothing to a reader.
std::string number(double value) {
  return value >= 2147483647 ? "none" : fmt::format("{:g}", value);
}

}  // namespace

std::string sampling_page() {
  std::string page =
      "# Sampling\n\nIn JSON as written here; on the command line with `-` for `_`. A value out of bounds is an "
      "error.\n\n" +
      header({"setting", "default", "from", "to", "meaning"});
  const sample::SamplingParams defaults;
  for (const sample::Setting& setting : sample::setting_table())
    page += row({code(setting.name), fmt::format("{:g}", sample::get(defaults, setting)),
                 fmt::format("{:g}", setting.low), number(setting.high), setting.help});
  return page;
}

}  // namespace nereid::docs
