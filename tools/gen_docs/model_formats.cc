// SPDX-License-Identifier: Apache-2.0
// docs/reference/model-formats.md: every form a model may have on disk.
#include "gen_docs/page.h"
#include "import/format_table.h"

namespace nereid::docs {

std::string model_formats_page() {
  std::string page = "# Model formats\n\nWhat MODEL may be on a command line, asked in this order.\n\n" +
                     header({"format", "what it is"});
  for (const import::ModelFormat& format : import::format_table()) page += row({format.name, format.description});
  return page;
}

}  // namespace nereid::docs
