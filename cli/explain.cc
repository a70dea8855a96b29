// SPDX-License-Identifier: Apache-2.0
// nereid explain: what the passes did to a network, which kernel each layer got, and why.
#include "cli/answer.h"
#include "cli/command.h"
#include "cli/explain_text.h"
#include "cli/view_options.h"

namespace nereid::cli {

int explain_command(Arguments args) {
  CommandLine app(
      "Tells what the passes did to a network, which kernel each layer got and why, and what was refused, with "
      "reasons.",
      "nereid explain");
  ViewArguments a;
  bool json = false, all = false;
  add_view_options(app, a);
  app.add_flag("--all", all, "every place of every fusion and refusal, not the first of each kind");
  app.add_flag("--json", json, "one JSON object on stdout");
  if (const auto code = parse(app, args)) return *code;
  Result<compile::ViewOptions> options = view_options(a);
  if (!options.is_ok()) return fail(options.status());
  options->guess_sizes = true;  // without kernels there would be little to explain

  ThreadPool pool({.threads = a.threads});
  const Result<compile::NetworkView> view = compile::view_model(*options, pool);
  if (!view.is_ok()) return fail(view.status());
  const std::string text =
      json
          ? compile::view_json(*view, false).dump(-1, ' ', false, compile::OrderedJson::error_handler_t::replace) + "\n"
          : explain_text(*view, all);
  const Status written = write_out(text);
  return written.is_ok() ? kDone : fail(written);
}

}  // namespace nereid::cli
