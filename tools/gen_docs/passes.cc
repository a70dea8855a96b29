// SPDX-License-Identifier: Apache-2.0
// docs/reference/passes.md: the pipeline, with the reason for each pass's place.
#include <fmt/format.h>

#include "gen_docs/page.h"
#include "passes/pipeline.h"

namespace nereid::docs {

std::string passes_page() {
  std::string page = fmt::format("# Passes\n\nWhat happens to a graph before it is packed, in this order.\n\n{}",
                                 header({"", "pass", "why, and why here"}));
  int number = 0;
  for (const passes::Pass& pass : passes::pipeline())
    page += row({fmt::to_string(++number), code(pass.name), pass.reason});
  return page;
}

}  // namespace nereid::docs
