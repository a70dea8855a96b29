// SPDX-License-Identifier: Apache-2.0
// nereid infer: a model run once on files.
#include "cli/answer.h"
#include "cli/command.h"
#include "cli/model_path.h"
#include "cli/options.h"
#include "compile/infer_files.h"

namespace nereid::cli {
namespace {

std::string report_json(const compile::InferReport& report) {
  const nlohmann::ordered_json json = {{"load_ms", report.load_ms},
                                       {"run_ms", report.run_ms},
                                       {"warnings", report.warnings},
                                       {"outputs", compile::outputs_json(report.outputs)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string report_text(const compile::InferReport& report, const std::string& folder) {
  std::string text;
  for (const compile::InferredValue& one : report.outputs) {
    std::string what = one.dtype;
    if (one.sizes) what += Shape::of(*one.sizes).to_string();
    if (one.length) what += fmt::format(", {} items", *one.length);
    text += fmt::format("{}/{}  {} {}\n", folder, one.file, one.type, what);
  }
  return text + fmt::format("read in {:.1f} ms, run in {:.1f} ms\n", report.load_ms, report.run_ms);
}

}  // namespace

int infer_command(Arguments args) {
  CommandLine app("Runs a model once: inputs from files, outputs into files.", "nereid infer");
  compile::InferRequest request;
  bool json = false, quiet = false;
  std::string model;
  app.add_option("MODEL", model, "a path, or a name that `nereid models` lists")->required();
  app.add_texts(
      "--inputs", request.inputs,
      "NAME=FILE,NAME=FILE or @FILE.json holding {\"NAME\":\"FILE\"}, or an .npz whose arrays have the inputs' "
      "names; repeatable. Files: .npy, .npz, .pb (TensorProto, SequenceProto, OptionalProto or MapProto as the "
      "model declares), .bin or .raw (bare elements)");
  app.add_option("--outputs", request.outputs, "the folder for the outputs and outputs.json; made if missing")
      ->required();
  app.add_texts(
      "--shapes", request.shapes,
      "NAME:1x3x224x224,NAME:...; sizes that the model leaves open: they hold for random and bare inputs, and "
      "what they decide is computed before the run; repeatable");
  app.add_option("--random", request.random_seed, "random numbers for inputs that are not given, by this seed");
  app.add_option("--threads", request.threads, "how many threads compute; 0: as many as there are cores");
  app.add_option("--precision", request.precision,
                 "what products and convolutions multiply in: f32 or bf16 (sums are f32; an engine has its own)");
  bool as_is = false;
  app.add_flag("--no-optimise", as_is, "run the nodes of the file one by one, as it has them");
  app.add_flag("--json", json, "one JSON object on stdout: times, warnings and what outputs.json says");
  app.add_flag("--quiet", quiet, "nothing on stdout");
  if (const auto code = parse(app, args)) return *code;

  const Result<std::string> path = resolve_model(model);
  if (!path.is_ok()) return fail(path.status());
  request.model = *path;
  request.optimise = !as_is;
  const Result<compile::InferReport> report = compile::infer_files(request);
  if (!report.is_ok()) return fail(report.status());
  if (!quiet && !json)
    for (const std::string& warning : report->warnings) fmt::print(stderr, "nereid: warning: {}\n", warning);
  if (quiet) return kDone;
  const Status written = write_out(json ? report_json(*report) : report_text(*report, request.outputs));
  return written.is_ok() ? kDone : fail(written);
}

}  // namespace nereid::cli
