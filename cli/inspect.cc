// SPDX-License-Identifier: Apache-2.0
// nereid inspect: what is in a model or an engine.
#include <cstdio>

#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/inspect_text.h"
#include "cli/model_path.h"
#include "compile/describe.h"

namespace nereid::cli {
namespace {

struct InspectArguments {
  std::string model;
  bool tensors = false;
  bool metadata = false;
  bool json = false;
  bool no_verify = false;
  std::string graph;  // "": no graph; "import" or "fused"
};

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

int print_graph(const std::string& path, const InspectArguments& a) {
  const auto stage = a.graph == "fused" ? compile::GraphStage::kFused : compile::GraphStage::kImported;
  const Result<std::string> text = compile::graph_text(path, stage);
  if (!text.is_ok()) return fail(text.status());
  print(a.json ? Json{{"graph", *text}}.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n" : *text);
  return kDone;
}

}  // namespace

int inspect_command(Arguments args) {
  CommandLine app(
      "Tells what is in a model file (of an ONNX file also which of its operators can be read), a model folder or an "
      "engine.",
      "nereid inspect");
  InspectArguments a;
  app.add_option("MODEL", a.model, "a path, or a name that `nereid models` lists")->required();
  app.add_flag("--metadata", a.metadata, "the metadata alone");
  app.add_flag("--tensors", a.tensors, "the table of tensors alone");
  const Option* graph =
      app.add_flag("--graph{import}", a.graph, "the graph's text: --graph as imported, --graph=fused after the passes")
          ->check(Check::member({"import", "fused"}));
  app.add_flag("--json", a.json, "one JSON object on stdout");
  app.add_flag("--no-verify", a.no_verify, "do not read an engine's weights to check them");
  if (const auto code = parse(app, args)) return *code;

  const Result<std::string> path = resolve_model(a.model);
  if (!path.is_ok()) return fail(path.status());
  if (graph->given()) return print_graph(*path, a);
  const Result<compile::Description> description = compile::describe(*path, {.verify = !a.no_verify});
  if (!description.is_ok()) return fail(description.status());
  const bool all = !a.metadata && !a.tensors;
  const InspectParts parts = {.summary = all, .metadata = all || a.metadata, .tensors = all || a.tensors};
  print(a.json ? inspect_json(*description, parts).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"
               : inspect_text(*description, parts));
  return kDone;
}

}  // namespace nereid::cli
