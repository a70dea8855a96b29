// SPDX-License-Identifier: Apache-2.0
#include "cli/load_model.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>

#include "base/clock.h"
#include "base/log.h"
#include "base/progress.h"
#include "cli/model_path.h"
#include "compile/engine_cache.h"

namespace nereid::cli {
namespace {

constexpr int kMaxThreads = 1024;

Status check_device(std::string_view device) {
  if (device == "cpu") return Status::ok();
  if (device == "cuda" || device.starts_with("cuda:"))
    return unsupported("the CUDA device comes with a later version; --device cpu is the only one in this one");
  return invalid_argument("--device must be cpu or cuda[:i], found '{}'", device);
}

Result<Isa> choose_isa(const std::string& name) {
  const CpuInfo info = read_cpu_info();
  if (name.empty()) return best_isa(info);
  NEREID_TRY(const Isa isa, best_isa(info.features, name).with("--isa"));
  if (isa_name(isa) != name)
    log_warn("this processor does not have the instruction set {}; {} is used", name, isa_name(isa));
  if (isa == Isa::amx && !request_amx_permission()) return Isa::avx512;
  return isa;
}

// What the command line alone can get wrong.
Result<Isa> check_arguments(const LoadArguments& args) {
  NEREID_RETURN_IF_ERROR(check_device(args.device));
  if (args.threads < 0 || args.threads > kMaxThreads)
    return invalid_argument("--threads must lie between 1 and {}, found {}", kMaxThreads, args.threads);
  if (args.context < 0) return invalid_argument("--context must be a number of tokens, found {}", args.context);
  return choose_isa(args.isa);
}

Result<compile::OpenedEngine> open_engine(const std::string& path, bool exact, ThreadPool& pool) {
  std::unique_ptr<Progress> bar;  // made at the first call: an engine that is found needs none
  auto result = compile::open_engine(path, {.exact = exact}, pool, [&](int64_t done, int64_t total) {
    if (!bar)
      bar = std::make_unique<Progress>(
          ProgressOptions{.what = "packing the weights", .total = total, .unit = Progress::Unit::bytes});
    bar->set(done);
  });
  if (bar && result.is_ok()) bar->finish();
  return result;
}

Result<LoadedModel> load(std::string path, const LoadArguments& args, llm::LoadOptions options, ExitCode* code) {
  LoadedModel loaded{.path = std::move(path), .isa = options.isa};
  const int64_t start = now_ns();
  loaded.pool = std::make_unique<ThreadPool>(ThreadPoolOptions{.threads = args.threads});
  NEREID_TRY(const compile::OpenedEngine engine, open_engine(loaded.path, args.exact, *loaded.pool));
  for (const std::string& warning : engine.warnings) log_warn("{}", warning);
  loaded.was_built = engine.was_built;
  const Json model = engine.file.info().value("model", Json::object());
  if (const int64_t most = model.value("max_context", int64_t{0}); most > 0 && args.context > most) {
    *code = kWrongInput;
    return invalid_argument("--context asks for {} tokens, but the model is made for at most {}", args.context, most);
  }
  options.context_tokens = args.context;
  NEREID_TRY(loaded.model, llm::LanguageModel::load(engine.file, options, *loaded.pool));
  for (const std::string& note : loaded.model->context().notes()) {
    if (args.strict) return unsupported("{} (--strict makes this an error)", note);
    log_warn("{}", note);
  }
  loaded.load_ms = static_cast<double>(now_ns() - start) / 1e6;
  return loaded;
}

}  // namespace

void add_load_options(CLI::App& app, LoadArguments& args) {
  app.add_option("MODEL", args.model, "a path, or a name that `nereid models` lists")->required();
  app.add_option("--device", args.device, "where to run: cpu (cuda comes later)")->capture_default_str();
  app.add_option("--isa", args.isa,
                 "highest instruction set to use: baseline, avx2, avx512 or amx (default: the best)");
  app.add_option("--threads,-t", args.threads, "CPU threads (default: all that this process may use)");
  app.add_option("--context,-c", args.context,
                 "longest prompt and answer together, in tokens (default: the model's, up to 8192)");
  app.add_flag("--exact", args.exact, "round nothing but the weights: slow and large, for checking answers");
  app.add_flag("--strict", args.strict, "fail where a part of the model would run without a fast kernel");
  app.add_flag("--quiet,-q", args.quiet, "no progress and no statistics");
}

std::optional<LoadedModel> load_model(const LoadArguments& args, llm::LoadOptions options, ExitCode* code) {
  if (args.quiet) stderr_console().set_level(LogLevel::warn);
  const Result<Isa> isa = check_arguments(args);
  Result<std::string> path = isa.is_ok() ? resolve_model(args.model) : isa.status();
  if (!path.is_ok()) {
    *code = fail(path.status());
    return std::nullopt;
  }
  options.isa = *isa;
  *code = kFailed;
  Result<LoadedModel> loaded = load(std::move(path).value(), args, options, code);
  if (!loaded.is_ok()) {
    *code = fail(loaded.status(), *code);
    return std::nullopt;
  }
  *code = kDone;
  return std::move(loaded).value();
}

}  // namespace nereid::cli
