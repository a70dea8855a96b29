// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_network.h"

#include "base/log.h"
#include "base/progress.h"
#include "cli/answer.h"
#include "cli/model_path.h"
#include "cli/options.h"
#include "cli/process_memory.h"
#include "compile/mixed_build.h"
#include "compile/model_kind.h"

namespace nereid::cli {
namespace {

constexpr int kMaxThreads = 1024;

struct NetworkArguments {
  std::string model;
  compile::SessionOptions session;
  compile::TimingOptions timing;
  std::string precision = "f32";
  std::string isa;
  std::vector<int> threads = {0};
  int64_t profiled_runs = 20;
  bool profile = false, json = false, quiet = false, as_is = false;
};

void declare(CommandLine& app, NetworkArguments& a) {
  app.add_option("MODEL", a.model, "an ONNX file, its engine, or a name that `nereid models` lists")->required();
  app.add_texts("--shapes", a.session.shapes,
                "NAME:1x3x224x224,NAME:...; sizes that the model leaves open are 1 where nothing is said; repeatable");
  app.add_texts("--inputs", a.session.inputs,
                "NAME=FILE,NAME=FILE or @FILE.json, as for `nereid infer`; what is not given gets random numbers");
  app.add_option("--seed", a.session.seed, "of the random inputs")->capture_default_str();
  app.add_option(
         "--precision", a.precision,
         "what products and convolutions multiply in: f32, bf16 or int8 (with ranges of random inputs, for their "
         "time alone); auto: an engine's own, else f32")
      ->capture_default_str();
  app.add_option("--threads,-t", a.threads, "CPU threads, a list (default: all that this process may use)")
      ->delimiter(',');
  app.add_option("--isa", a.isa, "the most that may be used of: baseline, avx2, avx512, amx");
  app.add_option("--level", a.session.level,
                 "0 to 5: how long an ONNX file's kernels are timed before; an engine has its own")
      ->check(Check::range(0, 5))
      ->capture_default_str();
  app.add_option(
      "--timing-cache", a.session.timing_cache,
      "FILE with what was timed before, here or by `nereid build`: an ONNX file's kernels are those that were fastest");
  app.add_option("--iterations,-i", a.timing.iterations, "timed runs at least")->capture_default_str();
  app.add_option("--duration,-d", a.timing.duration_s, "seconds of timed runs at least")->capture_default_str();
  app.add_option("--warmup,-w", a.timing.warmup_ms, "milliseconds of runs before that")->capture_default_str();
  app.add_flag("--profile", a.profile, "also the time of each layer, and the kernel that runs it");
  app.add_flag("--no-optimise", a.as_is, "run the nodes of the file one by one, as it has them");
  app.add_flag("--json", a.json, "one JSON object for each number of threads on stdout");
  app.add_flag("--quiet", a.quiet, "no progress, warnings and errors only");
}

Status check(NetworkArguments& a) {
  const bool is_plain = a.precision != "auto" && a.precision != "int8";
  NEREID_TRY(a.session.precision, compile::precision_from_name(is_plain ? a.precision : "f32"));
  for (const int threads : a.threads)
    if (threads < 0 || threads > kMaxThreads)
      return invalid_argument("--threads must lie between 1 and {}, found {}", kMaxThreads, threads);
  if (a.timing.iterations < 1 || a.timing.iterations > 1'000'000)
    return invalid_argument("--iterations takes a number from 1 to 1000000, found {}", a.timing.iterations);
  if (!(a.timing.duration_s >= 0 && a.timing.duration_s <= 86400))
    return invalid_argument("--duration takes seconds from 0 to 86400, found {}", a.timing.duration_s);
  if (!(a.timing.warmup_ms >= 0 && a.timing.warmup_ms <= 86400e3))
    return invalid_argument("--warmup takes milliseconds from 0 to 86400000, found {}", a.timing.warmup_ms);
  return Status::ok();
}

Result<NetworkReport> measure(const NetworkArguments& a, int threads) {
  ThreadPool pool({.threads = threads});
  NEREID_TRY(compile::NetworkSession session, compile::open_session(a.session, pool));
  std::string precision(compile::precision_name(session.network.network->precision()));
  if (a.precision == "int8") {
    NEREID_TRY(const auto mixed,
               compile::mix_session(session, a.session.model, {.int8 = true, .random_ranges = true}, pool));
    if (mixed) precision = "int8";
  }
  for (const std::string& warning : session.network.warnings) log_warn("{}", warning);
  if (!a.quiet)
    for (const std::string& remark : session.remarks) log_info("{}", remark);
  Progress progress(
      {.what = fmt::format("measuring with {} thread{}", pool.size(), pool.size() == 1 ? "" : "s"), .silent = a.quiet});
  NEREID_TRY(compile::NetworkBench bench,
             compile::bench_network(session, pool,
                                    {.timing = a.timing, .profiled_runs = a.profile ? a.profiled_runs : 0, .tick = [&] {
                                       progress.add(1);
                                     }}));
  NetworkReport report{.model = a.model,
                       .precision = std::move(precision),
                       .isa = std::string(isa_name(session.network.network->kernels().isa)),
                       .threads = pool.size(),
                       .is_engine = session.is_engine,
                       .inputs = {},
                       .nodes_imported = session.network.nodes_imported,
                       .nodes_optimised = session.network.nodes_optimised,
                       .bench = std::move(bench),
                       .peak_bytes = process_memory().peak_bytes};
  for (const compile::NamedType& in : session.network.inputs)
    report.inputs.push_back(fmt::format("{} {}", in.name, in.type.to_string()));
  return report;
}

}  // namespace

bool names_network(Arguments args) {
  for (const std::string_view arg : args) {
    if (arg.starts_with('-')) continue;
    if (arg.ends_with(".onnx") && arg.find('=') == std::string_view::npos) return true;
    if (const Result<std::string> path = resolve_model(arg);
        path.is_ok() && compile::is_network(compile::model_kind(*path)))
      return true;
  }
  return false;
}

int bench_network_command(Arguments args) {
  CommandLine app("Measures how long a run of an ONNX network takes on this machine.", "nereid bench");
  NetworkArguments a;
  declare(app, a);
  if (const auto code = parse(app, args)) return *code;
  if (const Status status = check(a); !status.is_ok()) return fail(status);
  const Result<std::string> path = resolve_model(a.model);
  if (!path.is_ok()) return fail(path.status());
  a.session.model = *path;
  a.session.optimise = !a.as_is;
  if (!a.isa.empty()) {
    const Result<Isa> isa = best_isa(read_cpu_info().features, a.isa);
    if (!isa.is_ok()) return fail(isa.status().with("--isa"));
    a.session.isa = *isa;
  }
  for (const int threads : a.threads) {
    reset_peak_memory();
    const Result<NetworkReport> report = measure(a, threads);
    if (!report.is_ok()) return fail(report.status());
    const std::string text =
        a.json ? network_report_json(*report).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"
               : network_report_text(*report);
    if (const Status written = write_out(text); !written.is_ok()) return fail(written);
  }
  return kDone;
}

}  // namespace nereid::cli
