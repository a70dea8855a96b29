// SPDX-License-Identifier: Apache-2.0
// nereid bench: how fast a language model runs here, as a table and as a share of what the memory allows. Networks
// have a report of their own: bench_network.h.
#include <cstdio>

#include "base/log.h"
#include "base/progress.h"
#include "cli/bench_network.h"
#include "cli/bench_report.h"
#include "cli/bench_url.h"
#include "cli/command.h"
#include "cli/load_model.h"
#include "cli/process_memory.h"
#include "compile/describe.h"
#include "runtime/bandwidth.h"

namespace nereid::cli {
namespace {

struct BenchArguments {
  LoadArguments load;
  std::vector<int64_t> prompt = {512};
  std::vector<int64_t> gen = {128};
  std::vector<int64_t> batch = {1};
  std::vector<int64_t> depth = {0};
  std::vector<int> threads = {0};
  int repeat = 5;
  bool json = false;
  bool profile = false;
  bool no_roof = false;
};

void declare(CommandLine& app, BenchArguments& a) {
  add_load_options(app, a.load);
  // One measurement has its own context, and may run with several numbers of threads.
  app.remove_option("--context");
  app.remove_option("--threads");
  app.add_option("--prompt,-p", a.prompt, "tokens of the prompt tests, a list; 0: none")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--gen,-n", a.gen, "tokens of the generation tests, a list; 0: none")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--batch,-b", a.batch, "sequences that run together, a list")->delimiter(',')->capture_default_str();
  app.add_option("--depth,-d", a.depth, "tokens in the cache before a test, a list")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--threads,-t", a.threads, "CPU threads, a list (default: all that this process may use)")
      ->delimiter(',');
  app.add_option("--repeat,-r", a.repeat, "timed runs of each test, after one that warms up")->capture_default_str();
  app.add_flag("--json", a.json, "one JSON object for each number of threads on stdout");
  app.add_flag("--profile", a.profile, "also where the time goes, by kind of step");
  app.add_flag("--no-roof", a.no_roof, "do not measure the memory's speed");
}

Status check_list(std::string_view option, const std::vector<int64_t>& values, int64_t least) {
  constexpr int64_t kMost = int64_t{1} << 20;
  for (const int64_t v : values)
    if (v < least || v > kMost)
      return invalid_argument("{} takes numbers from {} to {}, found {}", option, least, kMost, v);
  return Status::ok();
}

Result<std::vector<BenchCase>> cases_of(const BenchArguments& a) {
  NEREID_RETURN_IF_ERROR(check_list("--prompt", a.prompt, 0));
  NEREID_RETURN_IF_ERROR(check_list("--gen", a.gen, 0));
  NEREID_RETURN_IF_ERROR(check_list("--batch", a.batch, 1));
  NEREID_RETURN_IF_ERROR(check_list("--depth", a.depth, 0));
  if (a.repeat < 1 || a.repeat > 1000)
    return invalid_argument("--repeat takes a number from 1 to 1000, found {}", a.repeat);
  std::vector<BenchCase> cases;
  const auto add = [&](BenchCase::Kind kind, const std::vector<int64_t>& tokens, int64_t batch, int64_t depth) {
    for (const int64_t n : tokens)
      if (n > 0) cases.push_back({.kind = kind, .tokens = n, .batch = batch, .depth = depth});
  };
  for (const int64_t depth : a.depth) {
    for (const int64_t batch : a.batch) {
      add(BenchCase::Kind::kPrompt, a.prompt, batch, depth);
      add(BenchCase::Kind::kGenerate, a.gen, batch, depth);
    }
  }
  if (cases.empty()) return invalid_argument("--prompt and --gen leave nothing to measure");
  return cases;
}

double measure_roof(ThreadPool& pool, int64_t bytes, Isa isa) {
  const auto roof = runtime::measure_read_bandwidth(pool, {.bytes = bytes, .isa = isa});
  if (!roof.is_ok()) log_warn("the memory's speed could not be measured: {}", roof.status().message());
  return roof.is_ok() ? roof->best : 0;
}

// All cases with one number of threads; the table's part of the text goes to `profiles`.
Result<BenchReport> measure(const BenchArguments& a, const std::vector<BenchCase>& cases, LoadedModel& loaded,
                            std::string* profiles) {
  llm::LanguageModel& model = *loaded.model;
  BenchReport report{.model = a.load.model,
                     .weight_bytes = model.weights_bytes(),
                     .isa = std::string(isa_name(model.kernels().isa)),
                     .threads = loaded.pool->size(),
                     .load_ms = loaded.load_ms};
  BenchRunner runner(model);
  Progress progress({.what = fmt::format("measuring with {} thread{}", report.threads, report.threads == 1 ? "" : "s"),
                     .total = static_cast<int64_t>(cases.size()) * (a.repeat + 1),
                     .silent = a.load.quiet});
  for (const BenchCase& one : cases) {
    NEREID_TRY(BenchResult result, runner.run(one, a.repeat, [&] { progress.add(1); }));
    report.results.push_back(std::move(result));
  }
  progress.finish();
  report.peak_bytes = process_memory().peak_bytes;
  for (const BenchCase& one : cases) {
    if (!a.profile) break;
    NEREID_TRY(const std::vector<BenchStepTime> times, runner.profile(one));
    *profiles += "\n" + bench_profile_markdown(one, times);
  }
  if (!a.no_roof) report.roof_bytes_per_second = measure_roof(*loaded.pool, model.weights_bytes(), loaded.isa);
  return report;
}

}  // namespace

int bench_command(Arguments args) {
  if (names_url(args)) return bench_url_command(args);
  if (names_network(args)) return bench_network_command(args);
  CommandLine app(
      "Measures how fast a model runs on this machine. Of an ONNX network and of a server the options are others: "
      "`nereid bench NET.onnx --help` and `nereid bench http://HOST:PORT --help` tell them.",
      "nereid bench");
  BenchArguments a;
  declare(app, a);
  if (const auto code = parse(app, args)) return *code;
  const Result<std::vector<BenchCase>> cases = cases_of(a);
  if (!cases.is_ok()) return fail(cases.status());
  const llm::LoadOptions options = BenchRunner::load_options(*cases);
  a.load.open.context = options.context_tokens;

  std::vector<BenchReport> reports;
  std::string profiles;
  for (const int threads : a.threads) {
    a.load.open.threads = threads;
    ExitCode code = kDone;
    reset_peak_memory();
    std::optional<LoadedModel> loaded = load_model(a.load, options, &code);
    if (!loaded) return code;
    Result<BenchReport> report = measure(a, *cases, *loaded, &profiles);
    if (!report.is_ok()) return fail(report.status());
    if (const auto described = compile::describe(loaded->path, {.tokenizer = false, .verify = false});
        described.is_ok()) {
      report->description = described->label;
      report->parameters = described->parameters;
    }
    if (a.json) {
      std::printf("%s\n", bench_json(*report).dump().c_str());
      std::fflush(stdout);
    }
    reports.push_back(std::move(*report));
  }
  if (!a.json) std::printf("%s%s", bench_markdown(reports).c_str(), profiles.c_str());
  if (a.json && a.profile) std::fprintf(stderr, "%s", profiles.c_str());
  return kDone;
}

}  // namespace nereid::cli
