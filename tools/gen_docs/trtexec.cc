// SPDX-License-Identifier: Apache-2.0
// docs/reference/trtexec.md: every flag of that tool, and what becomes of it.
#include "cli/compat/trtexec_flags.h"
#include "gen_docs/page.h"

namespace nereid::docs {

std::string trtexec_page() {
  std::string page =
      "# trtexec\n\n`build/compat/trtexec` is `nereid` under that name: it takes the flags of the releases 8.6, 10 and "
      "11, "
      "prints their report and writes their files. A flag that changes nothing is accepted, and one line says "
      "why.\n\n" +
      header({"flag", "here", "what it does, or why not"});
  for (const cli::TrtexecFlag& flag : cli::trtexec_flags()) {
    const bool acts = flag.use == cli::TrtexecFlag::Use::kActs;
    const bool ignored = flag.use == cli::TrtexecFlag::Use::kIgnored;
    std::string name(flag.name);
    if (flag.value == cli::TrtexecFlag::Value::kRequired) name += "=...";
    page += row({code(name), acts ? "works" : ignored ? "accepted, no effect" : "refused", flag.text});
  }
  return page;
}

}  // namespace nereid::docs
