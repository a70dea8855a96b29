// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_url.h"

#include <algorithm>
#include <cstdio>

#include "base/atomic_file.h"
#include "base/file.h"
#include "base/log.h"
#include "base/progress.h"
#include "cli/command_line.h"
#include "server/load/infer_load.h"
#include "server/load/load_client.h"
#include "server/load/load_report.h"

namespace nereid::cli {
namespace {

namespace load = server::load;

struct UrlArguments {
  std::string url, endpoint = "chat", slo, trace, csv, html;
  load::LoadOptions options;
  std::vector<int64_t> concurrency;
  std::vector<double> rate;
  std::vector<std::string> inputs;
  int64_t requests = 0, prompt = 128, gen = 64, warmup = 1;
  double speed = 1;
  bool json = false, quiet = false;
};

void declare(CommandLine& app, UrlArguments& a) {
  app.add_option(
         "URL", a.url,
         "http://HOST:PORT or unix:PATH of a server of OpenAI's API or of KServe's protocol, or grpc://HOST:PORT of "
         "the latter")
      ->required();
  app.add_option("--model", a.options.model, "the model to ask (default: the first that the server lists)");
  app.add_option("--api-key", a.options.api_key, "shown as 'Authorization: Bearer KEY'");
  app.add_option("--endpoint", a.endpoint,
                 "what to ask for: chat, completions, or infer (tensors, by KServe's protocol; with grpc:// always)")
      ->check(Check::member({"chat", "completions", "infer"}))
      ->capture_default_str();
  app.add_texts(
      "--input", a.inputs,
      "of infer, an input as NAME=TYPE[SIZE,...], once for each (default: what the server says over HTTP, with 1 "
      "for sizes that are free)");
  app.add_option("--concurrency,-c", a.concurrency,
                 "requests at one time, a list: a new one starts where one ends (default: 1)")
      ->delimiter(',')
      ->check(Check::range(int64_t{1}, int64_t{100'000}));
  app.add_option("--rate", a.rate,
                 "requests a second that arrive by chance (Poisson), a list, whether others have ended or not")
      ->delimiter(',')
      ->check(Check::range(1e-3, 1e6));
  app.add_option("--trace", a.trace,
                 "a file of requests to replay, a JSON object a line: at_s, prompt_tokens, answer_tokens");
  app.add_option("--speed", a.speed, "so many times as fast as the trace")
      ->check(Check::range(1e-3, 1e6))
      ->capture_default_str();
  app.add_option("--requests,-r", a.requests,
                 "requests of each load (default: 4 for each of the concurrency, at least 16)")
      ->check(Check::range(int64_t{1}, int64_t{10'000'000}));
  app.add_option("--prompt,-p", a.prompt, "tokens of a prompt, about")
      ->check(Check::range(int64_t{1}, int64_t{1} << 20))
      ->capture_default_str();
  app.add_option("--gen,-n", a.gen, "tokens of an answer")
      ->check(Check::range(int64_t{1}, int64_t{1} << 20))
      ->capture_default_str();
  app.add_option("--shared-prefix", a.options.shared_tokens, "tokens at the beginning that all prompts have in common")
      ->check(Check::range(int64_t{0}, int64_t{1} << 20))
      ->capture_default_str();
  app.add_flag("--stop-at-end", a.options.stops_at_end, "let answers end where the model ends them");
  app.add_option("--warmup", a.warmup, "requests before the first that counts")
      ->check(Check::range(0, 1000))
      ->capture_default_str();
  app.add_option("--slo", a.slo, "what a good request keeps, as ttft=500ms,itl=50ms,e2e=20s: counts goodput");
  app.add_option("--seed", a.options.seed, "of prompts and arrivals")->capture_default_str();
  app.add_option("--timeout-ms", a.options.timeout_ms, "milliseconds after which a request has failed")
      ->check(Check::range(int64_t{1}, int64_t{86'400'000}))
      ->capture_default_str();
  app.add_flag("--json", a.json, "one JSON object on stdout");
  app.add_option("--csv", a.csv, "a file for a line a request");
  app.add_option("--html", a.html, "a file for a page with drawings");
  app.add_flag("--quiet,-q", a.quiet, "no progress");
}

// One load of the several that the command line may ask for.
struct Load {
  std::string mode;
  double level = 0;
  int64_t concurrency = 0;
  std::vector<load::PlannedRequest> plan;
};

Result<std::vector<Load>> plan_loads(const UrlArguments& a) {
  constexpr size_t kMaxTraceBytes = size_t{1} << 30;
  if (!a.trace.empty() + !a.rate.empty() + !a.concurrency.empty() > 1)
    return invalid_argument("--concurrency, --rate and --trace are three kinds of load; give one of them");
  std::vector<Load> loads;
  if (!a.trace.empty()) {
    NEREID_TRY(const std::string text, read_file(a.trace, kMaxTraceBytes));
    NEREID_TRY(auto plan, load::parse_trace(text, a.speed).with(a.trace));
    if (a.requests > 0 && static_cast<size_t>(a.requests) < plan.size()) plan.resize(static_cast<size_t>(a.requests));
    loads.push_back({.mode = "trace", .level = a.speed, .concurrency = 0, .plan = std::move(plan)});
    return loads;
  }
  for (const double rate : a.rate)
    loads.push_back(
        {.mode = fmt::format("rate {:g}/s", rate),
         .level = rate,
         .concurrency = 0,
         .plan = load::poisson_plan(a.requests > 0 ? a.requests : 16, rate, a.prompt, a.gen, a.options.seed)});
  std::vector<int64_t> concurrency = a.concurrency;
  if (concurrency.empty() && a.rate.empty()) concurrency.push_back(1);
  for (const int64_t c : concurrency) {
    const auto count = static_cast<size_t>(a.requests > 0 ? a.requests : std::max<int64_t>(16, 4 * c));
    const load::PlannedRequest one{.at_us = 0, .prompt_tokens = a.prompt, .answer_tokens = a.gen};
    loads.push_back({.mode = fmt::format("concurrency {}", c),
                     .level = static_cast<double>(c),
                     .concurrency = c,
                     .plan = std::vector<load::PlannedRequest>(count, one)});
  }
  return loads;
}

Status write_whole(const std::string& path, const std::string& text) {
  NEREID_TRY(AtomicFile file, AtomicFile::create(path));
  NEREID_RETURN_IF_ERROR(file.write(std::string_view(text)));
  return file.commit();
}

Status measure(UrlArguments& a, std::vector<Load>& loads, load::LoadReport* report) {
  if (a.warmup > 0) {
    load::LoadOptions warm = a.options;
    warm.seed = a.options.seed + 1'000'000;
    const std::vector<load::PlannedRequest> plan(static_cast<size_t>(a.warmup), loads.front().plan.front());
    NEREID_TRY(const auto figures, load::run_load(warm, plan, 1, [] {}));
    if (!figures.front().is_ok()) return unavailable("the first request failed: {}", figures.front().error);
  }
  for (Load& one : loads) {
    Progress progress({.what = one.mode, .total = static_cast<int64_t>(one.plan.size()), .silent = a.quiet});
    NEREID_TRY(auto figures, load::run_load(a.options, one.plan, one.concurrency, [&] { progress.add(1); }));
    progress.finish();
    a.options.seed += 1;  // the next load has other prompts, so that no cache knows them
    load::LoadSummary summary = load::summarize(one.mode, one.level, figures, report->service_level);
    if (summary.failed > 0)
      log_warn("{}: {} of {} requests failed; the first: {}", one.mode, summary.failed, summary.requests,
               summary.first_error);
    report->runs.push_back({.summary = std::move(summary), .requests = std::move(figures)});
  }
  return Status::ok();
}

Status prepare(UrlArguments& a, std::vector<Load>* loads, load::LoadReport* report) {
  NEREID_TRY(a.options.target, load::parse_target(a.url));
  NEREID_TRY(report->service_level, load::parse_service_level(a.slo));
  NEREID_TRY(*loads, plan_loads(a));
  a.options.is_chat = a.endpoint == "chat";
  report->url = a.url;
  report->endpoint = a.options.is_chat ? "/v1/chat/completions" : "/v1/completions";
  return Status::ok();
}

Result<load::InferLoadOptions> inference_options(const UrlArguments& a) {
  if (!a.rate.empty() || !a.trace.empty())
    return invalid_argument("inferences are asked for by clients in a closed loop: give --concurrency");
  if (a.options.model.empty()) return invalid_argument("name the model with --model");
  load::InferLoadOptions options{.target = {},
                                 .is_grpc = a.url.starts_with("grpc://"),
                                 .model = a.options.model,
                                 .api_key = a.options.api_key,
                                 .inputs = {},
                                 .timeout_ms = a.options.timeout_ms};
  NEREID_TRY(options.target, load::parse_target(a.url));
  for (const std::string& text : a.inputs) {
    NEREID_TRY(load::InferInput input, load::parse_infer_input(text).with("--input"));
    options.inputs.push_back(std::move(input));
  }
  if (options.inputs.empty() && options.is_grpc) return invalid_argument("over gRPC the inputs are told by --input");
  return options;
}

Result<load::LoadReport> measure_inferences(const UrlArguments& a, load::InferLoadOptions& options) {
  if (options.inputs.empty()) {
    NEREID_TRY(options.inputs, load::ask_inputs(options.target, options.model, options.api_key));
  }
  load::LoadReport report{.url = a.url, .model = options.model, .endpoint = "infer", .service_level = {}, .runs = {}};
  if (a.warmup > 0) {
    NEREID_TRY(const auto figures, load::run_infer_load(options, 1, a.warmup, [] {}));
    if (!figures.front().is_ok()) return unavailable("the first request failed: {}", figures.front().error);
  }
  for (const int64_t c : a.concurrency.empty() ? std::vector<int64_t>{1} : a.concurrency) {
    const int64_t requests = a.requests > 0 ? a.requests : std::max<int64_t>(1000, 20 * c);
    const std::string mode = fmt::format("concurrency {}", c);
    Progress progress({.what = mode, .total = requests, .silent = a.quiet});
    NEREID_TRY(auto figures, load::run_infer_load(options, c, requests, [&] { progress.add(1); }));
    progress.finish();
    load::LoadSummary summary = load::summarize(mode, static_cast<double>(c), figures, {});
    if (summary.failed > 0)
      log_warn("{}: {} of {} requests failed; the first: {}", mode, summary.failed, summary.requests,
               summary.first_error);
    report.runs.push_back({.summary = std::move(summary), .requests = std::move(figures)});
  }
  return report;
}

int bench_inferences(const UrlArguments& a) {
  Result<load::InferLoadOptions> options = inference_options(a);
  if (!options.is_ok()) return fail(options.status());
  const Result<load::LoadReport> report = measure_inferences(a, *options);
  if (!report.is_ok()) return fail(report.status(), kFailed);
  std::printf("%s", a.json ? (load::load_json(*report).dump() + "\n").c_str() : load::infer_table(*report).c_str());
  if (!a.csv.empty())
    if (const Status status = write_whole(a.csv, load::load_csv(*report)); !status.is_ok()) return fail(status);
  return std::all_of(report->runs.begin(), report->runs.end(), [](const auto& run) { return run.summary.failed == 0; })
             ? kDone
             : kFailed;
}

}  // namespace

bool names_url(Arguments args) {
  for (const std::string_view arg : args)
    for (const std::string_view scheme : {"http://", "https://", "grpc://", "unix:"})
      if (arg.starts_with(scheme)) return true;
  return false;
}

int bench_url_command(Arguments args) {
  CommandLine app("Puts load on a server of OpenAI's API and tells how it bears it.", "nereid bench");
  UrlArguments a;
  declare(app, a);
  if (const auto code = parse(app, args)) return *code;
  if (a.endpoint == "infer" || a.url.starts_with("grpc://")) return bench_inferences(a);
  std::vector<Load> loads;
  load::LoadReport report;
  if (const Status status = prepare(a, &loads, &report); !status.is_ok()) return fail(status);
  if (a.options.model.empty()) {
    Result<std::string> model = load::first_model(a.options.target, a.options.api_key);
    if (!model.is_ok()) return fail(model.status(), kFailed);
    a.options.model = std::move(*model);
  }
  report.model = a.options.model;
  if (const Status status = measure(a, loads, &report); !status.is_ok()) return fail(status, kFailed);

  if (a.json) {
    std::printf("%s\n", load::load_json(report).dump().c_str());
  } else {
    std::printf("%s", load::load_table(report).c_str());
  }
  for (const auto& [path, text] : {std::pair(a.csv, &load::load_csv), std::pair(a.html, &load::load_page)})
    if (!path.empty())
      if (const Status status = write_whole(path, text(report)); !status.is_ok()) return fail(status);
  int64_t failed = 0;
  for (const load::LoadRun& run : report.runs) failed += run.summary.failed;
  return failed == 0 ? kDone : kFailed;
}

}  // namespace nereid::cli
