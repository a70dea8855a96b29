// SPDX-License-Identifier: Apache-2.0
#include "llm/run/open_model.h"

#include <algorithm>

#include "base/clock.h"
#include "compile/engine_cache.h"
#include "runtime/device/device_accelerator.h"

namespace nereid::llm {
namespace {

constexpr int kMaxThreads = 1024;
// Of a step of one that generates alone on a GPU: products of fewer tokens read the weights as often.
constexpr int64_t kDeviceStepTokens = 2048;

Result<Isa> choose_isa(const std::string& name, std::vector<std::string>* warnings) {
  const CpuInfo info = read_cpu_info();
  if (name.empty()) return best_isa(info);
  NEREID_TRY(const Isa isa, best_isa(info.features, name).with("--isa"));
  if (isa_name(isa) != name)
    warnings->push_back(
        fmt::format("this processor does not have the instruction set {}; {} is used", name, isa_name(isa)));
  if (isa == Isa::amx && !request_amx_permission()) return Isa::avx512;
  return isa;
}

// A context that the engine says it cannot have. An engine that says nothing sensible is refused when it is loaded.
Status check_context(const Json& info, int64_t context) {
  const Result<const Json*> model = json_object(info, "model");
  const Result<int64_t> most = model.is_ok() ? json_int(**model, "max_context") : model.status();
  if (most.is_ok() && *most > 0 && context > *most)
    return invalid_argument("--context asks for {} tokens, but the model is made for at most {}", context, *most);
  return Status::ok();
}

Status check_layers(const Json& info, const KvTypes& types) {
  const Result<const Json*> model = json_object(info, "model");
  const Result<int64_t> layers = model.is_ok() ? json_int(**model, "layers") : model.status();
  if (layers.is_ok() && types.last_layer() >= *layers)
    return invalid_argument("--kv-cache-dtype names layer {}, but the model's layers are 0 to {}", types.last_layer(),
                            *layers - 1);
  return Status::ok();
}

}  // namespace

Result<Isa> check_open_options(const OpenOptions& options, std::vector<std::string>* warnings) {
  if (options.threads < 0 || options.threads > kMaxThreads)
    return invalid_argument("--threads must lie between 1 and {}, found {}", kMaxThreads, options.threads);
  if (options.context < 0) return invalid_argument("--context must be a number of tokens, found {}", options.context);
  NEREID_RETURN_IF_ERROR(KvTypes::parse(options.kv_cache_dtype).status().with("--kv-cache-dtype"));
  if (options.device != "cpu")
    NEREID_RETURN_IF_ERROR(device::parse_cuda_name(options.device).status().with("--device"));
  if (options.gpu_weights != "as-is" && options.gpu_weights != "fp8")
    return invalid_argument("--gpu-weights is as-is or fp8, found '{}'", options.gpu_weights);
  if (options.device != "cpu" && options.exact)
    return invalid_argument("--exact computes in f32, which the CPU alone does; found --device {}", options.device);
  return choose_isa(options.isa, warnings);
}

Result<OpenedModel> open_model(const std::string& path, const OpenOptions& options, LoadOptions load,
                               const std::function<void(int64_t, int64_t)>& progress, bool* wrong_option) {
  const int64_t start = now_ns();
  const auto blame_options = [&](Status status) {
    if (wrong_option) *wrong_option = true;
    return status;
  };
  OpenedModel opened{.path = path};
  const Result<Isa> isa = check_open_options(options, &opened.warnings);
  if (!isa.is_ok()) return blame_options(isa.status());
  opened.isa = *isa;
  opened.device = options.device;
  if (options.device != "cpu") {  // before anything is packed: a GPU that does not answer is told at once
    Result<std::shared_ptr<runtime::Accelerator>> device =
        runtime::open_accelerator(options.device, {.floats_as_f8 = options.gpu_weights == "fp8"});
    if (device.status().code() == StatusCode::kInvalidArgument) return blame_options(device.status());
    NEREID_TRY(load.accelerator, std::move(device));
    opened.device = load.accelerator->name();
    if (load.cache_tokens == 0) load.step_tokens = std::max(load.step_tokens, kDeviceStepTokens);
  }
  opened.pool = std::make_unique<ThreadPool>(ThreadPoolOptions{.threads = options.threads});
  NEREID_TRY(const compile::OpenedEngine engine,
             compile::open_engine(path, {.exact = options.exact}, *opened.pool, progress));
  opened.warnings.insert(opened.warnings.end(), engine.warnings.begin(), engine.warnings.end());
  opened.was_built = engine.was_built;
  if (const Json& info = engine.file.info(); info.is_object() && info.value("kind", Json()) == "encoder")
    return blame_options(invalid_argument(
        "'{}' encodes texts and generates none; `nereid embed` and `nereid serve` know what to do with it", path));
  if (Status s = check_context(engine.file.info(), options.context); !s.is_ok()) return blame_options(std::move(s));
  NEREID_TRY(load.kv_types, KvTypes::parse(options.kv_cache_dtype));
  if (Status s = check_layers(engine.file.info(), load.kv_types); !s.is_ok()) return blame_options(std::move(s));
  load.isa = opened.isa;
  load.context_tokens = options.context;
  NEREID_TRY(opened.model, LanguageModel::load(engine.file, load, *opened.pool));
  for (const std::string& note : opened.model->context().notes()) {
    if (options.strict) return unsupported("{} (--strict makes this an error)", note);
    opened.warnings.push_back(note);
  }
  opened.load_ms = static_cast<double>(now_ns() - start) / 1e6;
  return opened;
}

}  // namespace nereid::llm
