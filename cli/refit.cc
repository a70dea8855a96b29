// SPDX-License-Identifier: Apache-2.0
// nereid refit: gives an engine of a network the weights of an ONNX file, or takes them away.
#include "base/json.h"
#include "base/log.h"
#include "cli/answer.h"
#include "cli/command.h"
#include "cli/model_path.h"
#include "cli/options.h"
#include "compile/network_refit.h"

namespace nereid::cli {
namespace {

Status strip(const std::string& engine, const std::string& result, bool json, bool quiet) {
  NEREID_RETURN_IF_ERROR(compile::strip_network(engine, result));
  if (quiet) return Status::ok();
  if (json) return write_out(Json{{"engine", result}, {"stripped", true}}.dump() + "\n");
  return write_out(fmt::format("{}: the engine without its weights\n", result));
}

}  // namespace

int refit_command(Arguments args) {
  CommandLine app(
      "Gives an engine the weights of an ONNX file that has them under the same names and in the same sizes.",
      "nereid refit");
  std::string engine, weights, result;
  int threads = 0;
  bool take_away = false, json = false, quiet = false;
  app.add_option("ENGINE", engine, "the engine of a network, stripped or whole")->required();
  auto* from = app.add_option("--weights", weights, "the ONNX file: the one the engine was built from, or its like");
  app.add_flag("--strip", take_away, "write the engine without its weights")->excludes(from);
  app.add_option("-o,--output", result, "the engine file to write; may be ENGINE")->required();
  app.add_option("--threads", threads, "how many threads compute; 0: as many as there are cores");
  app.add_flag("--json", json, "one JSON object on stdout");
  app.add_flag("--quiet", quiet, "nothing on stdout");
  if (const auto code = parse(app, args)) return *code;

  if (take_away) {
    const Status stripped = strip(engine, result, json, quiet);
    return stripped.is_ok() ? kDone : fail(stripped);
  }
  if (weights.empty())
    return fail(invalid_argument("--weights MODEL.onnx is missing: where the weights come from (or --strip)"));
  const Result<std::string> path = resolve_model(weights);
  if (!path.is_ok()) return fail(path.status());
  ThreadPool pool({.threads = threads});
  const Result<compile::NetworkBuild> built = compile::refit_network(engine, *path, result, {}, pool);
  if (!built.is_ok()) return fail(built.status());
  for (const std::string& warning : built->opened.warnings) log_warn("{}", warning);
  if (quiet) return kDone;
  const nlohmann::ordered_json report = {{"engine", result},
                                         {"build_ms", built->build_ms},
                                         {"file_bytes", built->file_bytes},
                                         {"constant_bytes", built->constant_bytes},
                                         {"packed_bytes", built->packed_bytes}};
  const Status written = write_out(json ? report.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"
                                        : fmt::format("{}: the engine with the weights of {}, written in {:.2f} s\n",
                                                      result, *path, built->build_ms / 1e3));
  return written.is_ok() ? kDone : fail(written);
}

}  // namespace nereid::cli
