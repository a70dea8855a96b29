// SPDX-License-Identifier: Apache-2.0
// nereid view: a model's graph as one HTML page.
#include "base/log.h"
#include "base/progress.h"
#include "cli/answer.h"
#include "cli/command.h"
#include "cli/graph_page.h"
#include "cli/view_options.h"

namespace nereid::cli {
namespace {

std::string summary(const compile::NetworkView& view, const std::string& page, int64_t bytes) {
  std::string text;
  for (const std::string& remark : view.remarks) text += "note: " + remark + "\n";
  if (!view.account.not_run.empty()) text += "note: " + view.account.not_run + "\n";
  const std::string nodes =
      view.before ? fmt::format("{} nodes, {} after the passes", view.before->order().size(), view.after.order().size())
                  : fmt::format("{} nodes", view.after.order().size());
  return text + fmt::format("{}: {} ({}); open it in a browser\n", page, nodes, format_bytes(bytes));
}

}  // namespace

int view_command(Arguments args) {
  CommandLine app("Writes one HTML page that shows a model's graph before and after the passes.", "nereid view");
  ViewArguments a;
  std::string page;
  bool quiet = false;
  add_view_options(app, a);
  app.add_option("-o,--output", page, "the page to write (default: the model's name with .html, in this folder)");
  app.add_flag("--quiet", quiet, "nothing on stdout");
  if (const auto code = parse(app, args)) return *code;
  const Result<compile::ViewOptions> options = view_options(a);
  if (!options.is_ok()) return fail(options.status());

  ThreadPool pool({.threads = a.threads});
  const Result<compile::NetworkView> view = compile::view_model(*options, pool);
  if (!view.is_ok()) return fail(view.status());
  if (page.empty()) page = view->file + ".html";
  Result<AtomicFile> file = AtomicFile::create(page);
  if (!file.is_ok()) return fail(file.status());
  if (const Status written = write_graph_page(*file, *view); !written.is_ok()) return fail(written);
  if (quiet) return kDone;
  const Status said = write_out(summary(*view, page, file->size()));
  return said.is_ok() ? kDone : fail(said);
}

}  // namespace nereid::cli
