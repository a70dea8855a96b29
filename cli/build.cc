// SPDX-License-Identifier: Apache-2.0
// nereid build: an ONNX file made into an engine.
#include <filesystem>
#include <functional>
#include <optional>

#include "base/clock.h"
#include "base/log.h"
#include "base/progress.h"
#include "cli/answer.h"
#include "cli/build_report.h"
#include "cli/command.h"
#include "cli/model_path.h"
#include "cli/options.h"
#include "cli/precision_options.h"
#include "compile/infer_inputs.h"
#include "compile/network_engine.h"

namespace nereid::cli {
namespace {

std::string megabytes(int64_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / 1048576.0);
}

// A bar a stage that says how far it is.
class Stages {
 public:
  explicit Stages(bool silent) : silent_(silent) {}
  void operator()(std::string_view stage, int64_t done, int64_t total) {
    if (total <= 0) return;
    if (stage != stage_) {
      stage_ = stage;
      bar_.emplace(ProgressOptions{.what = stage_, .total = total, .unit = Progress::Unit::items, .silent = silent_});
    }
    bar_->set(done);
    if (done == total) bar_->finish();
  }

 private:
  bool silent_;
  std::string stage_;
  std::optional<Progress> bar_;
};

nlohmann::ordered_json choices_json(const compile::KernelChoices& choices) {
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();
  for (const auto& [layer, c] : choices.layers) {
    nlohmann::ordered_json timed = nlohmann::ordered_json::array();
    for (const auto& t : c.timed) timed.push_back({{"tactic", t.tactic}, {"us", t.us}, {"given_up", t.given_up}});
    layers.push_back({{"layer", layer},
                      {"problem", c.problem},
                      {"rule", c.rule},
                      {"chosen", c.chosen},
                      {"reason", c.reason},
                      {"level", c.level},
                      {"from_cache", c.from_cache},
                      {"timed", std::move(timed)}});
  }
  return {{"machine", choices.machine}, {"threads", choices.threads},       {"level", choices.level},
          {"tune_ms", choices.tune_ms}, {"from_cache", choices.from_cache}, {"layers", std::move(layers)}};
}

std::string report_json(const compile::NetworkBuild& build, const std::string& engine,
                        const std::optional<compile::MixedBuild>& mixed) {
  nlohmann::ordered_json json = {{"engine", engine},
                                 {"build_ms", build.build_ms},
                                 {"import_ms", build.opened.import_ms},
                                 {"optimise_ms", build.opened.optimise_ms},
                                 {"nodes_imported", build.opened.nodes_imported},
                                 {"nodes_optimised", build.opened.nodes_optimised},
                                 {"file_bytes", build.file_bytes},
                                 {"constant_bytes", build.constant_bytes},
                                 {"packed_bytes", build.packed_bytes},
                                 {"notes", build.notes},
                                 {"choices", choices_json(build.choices)}};
  if (mixed) json["precision"] = mixed_json(*mixed);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string report_text(const compile::NetworkBuild& build, const std::string& engine, bool explain) {
  std::string text;
  if (explain) text += build.opened.passes.to_text() + build.choices.to_text();
  for (const std::string& note : build.notes) text += "note: " + note + "\n";
  if (build.choices.level > 0)
    text +=
        fmt::format("{} problems of kernels, {} of them known; the others timed in {:.2f} s (level {})\n",
                    build.choices.problems, build.choices.from_cache, build.choices.tune_ms / 1e3, build.choices.level);
  text += fmt::format("{} nodes became {}; {} of constants, {} of them packed\n", build.opened.nodes_imported,
                      build.opened.nodes_optimised, megabytes(build.constant_bytes), megabytes(build.packed_bytes));
  return text + fmt::format("{}: {}, built in {:.2f} s\n", engine, megabytes(build.file_bytes), build.build_ms / 1e3);
}

// The engine of a network whose layers have precisions of their own.
Result<compile::NetworkBuild> build_mixed(const std::string& path, const std::string& engine,
                                          const compile::NetworkOptions& options, const PrecisionOptions& precisions,
                                          ThreadPool& pool, Stages& stages, std::optional<compile::MixedBuild>& mixed) {
  const int64_t start_ns = now_ns();
  NEREID_TRY(const compile::MixedOptions wanted, precisions.mixed());
  NEREID_TRY(mixed, compile::open_mixed(path, options, wanted, pool, std::ref(stages)));
  NEREID_TRY(compile::NetworkBuild build,
             compile::write_network(mixed->opened, std::filesystem::path(path).filename().string(), engine, options,
                                    pool, std::ref(stages)));
  build.build_ms = static_cast<double>(now_ns() - start_ns) / 1e6;
  return build;
}

}  // namespace

int build_command(Arguments args) {
  CommandLine app("Makes an engine of an ONNX file: imported, optimised, its weights packed.", "nereid build");
  std::string model, engine;
  std::vector<std::string> shapes;
  int threads = 0, level = 3;
  std::string timing_cache, page;
  bool json = false, quiet = false, explain = false, strip = false;
  app.add_option("MODEL", model, "an ONNX file")->required();
  app.add_option("-o,--output", engine, "the engine file to write")->required();
  app.add_texts("--shapes,--opt-shapes", shapes,
                "NAME:1x3x224x224,NAME:...; fixes sizes that the file leaves open; repeatable");
  PrecisionOptions precisions(app);
  app.add_option("--threads", threads, "how many threads compute; 0: as many as there are cores");
  app.add_option("--level", level, "0 to 5: how long kernels are timed against each other; 0: chosen by rule")
      ->check(Check::range(0, 5));
  app.add_option("--timing-cache", timing_cache,
                 "FILE with what was timed before; gains what is timed now; with it a build is repeatable");
  app.add_flag("--explain", explain,
               "what every pass did and what it refused, and each kernel that was chosen, with reasons");
  app.add_option("--report", page,
                 "FILE.html: a page with the graph before and after, and each layer's time and kernel");
  app.add_flag("--strip", strip, "leave the weights out of the engine; `nereid refit` puts them in");
  app.add_flag("--json", json, "one JSON object on stdout");
  app.add_flag("--quiet", quiet, "nothing on stdout");
  if (const auto code = parse(app, args)) return *code;

  const Result<std::string> path = resolve_model(model);
  if (!path.is_ok()) return fail(path.status());
  const auto sizes = compile::parse_input_shapes(shapes);
  if (!sizes.is_ok()) return fail(sizes.status());
  const Result<runtime::NetPrecision> multiply_in =
      precisions.is_mixed() ? Result<runtime::NetPrecision>(runtime::NetPrecision::kF32) : precisions.precision();
  if (!multiply_in.is_ok()) return fail(multiply_in.status());
  ThreadPool pool({.threads = threads});
  const compile::NetworkOptions options{.import = {.shapes = *sizes, .overridden = {}},
                                        .disabled_passes = {},
                                        .precision = *multiply_in,
                                        .isa = {},
                                        .level = level,
                                        .timing_cache = timing_cache,
                                        .strip_weights = strip};
  Result<BuildReport> report = BuildReport::create(page);
  if (!report.is_ok()) return fail(report.status());
  Stages stages(quiet || json);
  std::optional<compile::MixedBuild> mixed;
  const Result<compile::NetworkBuild> build =
      precisions.is_mixed() ? build_mixed(*path, engine, options, precisions, pool, stages, mixed)
                            : compile::build_network(*path, engine, options, pool, std::ref(stages));
  if (!build.is_ok()) return fail(build.status());
  for (const std::string& warning : build->opened.warnings) log_warn("{}", warning);
  if (const Status reported = report->write(*path, options, *build, build->choices.layers, pool); !reported.is_ok())
    return fail(reported.with("the report"));
  if (quiet) return kDone;
  const Status written =
      write_out(json ? report_json(*build, engine, mixed)
                     : (mixed ? mixed_text(*mixed, explain) : "") + report_text(*build, engine, explain));
  return written.is_ok() ? kDone : fail(written);
}

}  // namespace nereid::cli
