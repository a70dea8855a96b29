// SPDX-License-Identifier: Apache-2.0
#include "cli/load_model.h"

#include "base/log.h"
#include "cli/model_path.h"
#include "cli/packing_bar.h"

namespace nereid::cli {
namespace {

Result<LoadedModel> open_with_bar(const std::string& path, const LoadArguments& args, const llm::LoadOptions& options,
                                  bool* wrong_option) {
  PackingBar bar;
  Result<LoadedModel> loaded = llm::open_model(path, args.open, options, bar.listener(), wrong_option);
  if (loaded.is_ok()) bar.finish();
  if (loaded.is_ok())
    for (const std::string& warning : loaded->warnings) log_warn("{}", warning);
  return loaded;
}

}  // namespace

void add_load_options(CommandLine& app, LoadArguments& args) {
  app.add_option("MODEL", args.model, "a path, or a name that `nereid models` lists")->required();
  app.add_option("--device", args.open.device, "where to run: cpu, cuda or cuda:NUMBER")->capture_default_str();
  app.add_option("--gpu-weights", args.open.gpu_weights,
                 "what a GPU makes of the layers' floats: as-is, or fp8, which halves what a token has to read")
      ->capture_default_str();
  app.add_option("--isa", args.open.isa,
                 "highest instruction set to use: baseline, avx2, avx512 or amx (default: the best)");
  app.add_option("--threads,-t", args.open.threads, "CPU threads (default: all that this process may use)");
  app.add_option("--context,-c", args.open.context,
                 "longest prompt and answer together, in tokens (default: the model's, up to 8192)");
  app.add_option("--kv-cache-dtype", args.open.kv_cache_dtype,
                 "keys and values as auto, f32, f16, bf16, fp8 or int8; for some layers: int8,0-1=f16 (default: auto)");
  app.add_flag("--exact", args.open.exact, "round nothing but the weights: slow and large, for checking answers");
  app.add_flag("--strict", args.open.strict, "fail where a part of the model would run without a fast kernel");
  app.add_flag("--quiet,-q", args.quiet, "no progress and no statistics");
}

std::optional<LoadedModel> load_model(const LoadArguments& args, llm::LoadOptions options, ExitCode* code) {
  if (args.quiet) stderr_console().set_level(LogLevel::warn);
  std::vector<std::string> warnings;  // open_model() has them again
  const Status status = llm::check_open_options(args.open, &warnings).status();
  Result<std::string> path = status.is_ok() ? resolve_model(args.model) : status;
  if (!path.is_ok()) {
    *code = fail(path.status());
    return std::nullopt;
  }
  bool wrong_option = false;
  Result<LoadedModel> loaded = open_with_bar(*path, args, options, &wrong_option);
  if (!loaded.is_ok()) {
    *code = fail(loaded.status(), wrong_option ? kWrongInput : kFailed);
    return std::nullopt;
  }
  *code = kDone;
  return std::move(loaded).value();
}

}  // namespace nereid::cli
