// SPDX-License-Identifier: Apache-2.0
// docs/reference/weight-formats.md: every format weights may be stored in.
#include <fmt/format.h>

#include "gen_docs/page.h"
#include "quant/format_table.h"

namespace nereid::docs {

std::string weight_formats_page() {
  std::string page =
      "# Weight formats\n\nWhat the weights of a model file may be stored in. A group shares a scale (and a minimum, "
      "where it says\n"
      "so); a block is the unit a row is a whole number of.\n\n" +
      header({"format", "bits a weight", "block, elements", "block, bytes", "group", "code bits", "minimum"});
  for (const quant::Format& format : quant::all_formats()) {
    const DTypeInfo& info = dtype_info(format.dtype);
    const bool grouped = format.has_group_form();
    page += row({code(info.name), fmt::format("{:g}", format.bits_per_weight()), fmt::to_string(info.block_elements),
                 fmt::to_string(info.block_bytes), grouped ? fmt::to_string(format.form.group) : "",
                 grouped ? fmt::to_string(format.form.code_bits) : "",
                 grouped ? (format.form.has_min ? "yes" : "no") : ""});
  }
  return page;
}

}  // namespace nereid::docs
