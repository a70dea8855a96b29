// SPDX-License-Identifier: Apache-2.0
#include "compile/network.h"

#include "base/clock.h"
#include "base/mapped_file.h"
#include "compile/choose_kernels.h"
#include "compile/network_engine.h"

namespace nereid::compile {

Result<runtime::NetPrecision> precision_from_name(const std::string& name) {
  if (name == "f32") return runtime::NetPrecision::kF32;
  if (name == "bf16") return runtime::NetPrecision::kBF16;
  return invalid_argument("there is no precision '{}' here; networks run in f32 or bf16", name);
}

std::string_view precision_name(runtime::NetPrecision precision) {
  return precision == runtime::NetPrecision::kBF16 ? "bf16" : "f32";
}

Status check_stop(const NetworkOptions& options) {
  return options.stop && options.stop() ? cancelled("the caller asked to stop; nothing was written") : Status::ok();
}

namespace {

Result<OpenedNetwork> open_model(Result<import::onnx::OnnxModel> imported, int64_t start_ns,
                                 const NetworkOptions& options) {
  OpenedNetwork out;
  NEREID_TRY(import::onnx::OnnxModel model, std::move(imported));
  NEREID_RETURN_IF_ERROR(check_stop(options));
  const int64_t imported_ns = now_ns();
  for (const graph::ValueId id : model.graph.inputs())
    out.inputs.push_back({model.graph.value(id).name, model.graph.value(id).type});
  for (size_t i = 0; i < model.output_names.size(); ++i)
    out.outputs.push_back({model.output_names[i], model.graph.value(model.graph.outputs()[i]).type});
  out.defaults = std::move(model.defaults);
  out.warnings = std::move(model.warnings);
  out.weights = std::move(model.weights);
  out.weights_are_mapped = model.has_external_data;
  out.nodes_imported = static_cast<int64_t>(model.graph.order().size());
  if (options.optimise) {
    NEREID_TRY(out.passes, passes::run_network_pipeline(model.graph, {.disabled = options.disabled_passes}));
  }
  out.nodes_optimised = static_cast<int64_t>(model.graph.order().size());
  import::onnx::release_unread(model);
  NEREID_TRY(const Isa best, best_isa(read_cpu_info()));
  out.network = runtime::Network::create(std::move(model.graph), std::move(model.storage), options.isa.value_or(best),
                                         options.precision);
  out.import_ms = static_cast<double>(imported_ns - start_ns) / 1e6;
  out.optimise_ms = static_cast<double>(now_ns() - imported_ns) / 1e6;
  return out;
}

}  // namespace

Result<OpenedNetwork> open_network(const std::string& path, const NetworkOptions& options) {
  const int64_t start_ns = now_ns();
  return open_model(import::onnx::import_file(path, options.import), start_ns, options);
}

Result<OpenedNetwork> open_network_bytes(std::string_view bytes, const std::string& folder,
                                         const NetworkOptions& options) {
  const int64_t start_ns = now_ns();
  return open_model(import::onnx::import_bytes(bytes, folder, options.import), start_ns, options);
}

Result<OpenedNetwork> open_network(const std::string& path, const NetworkOptions& options, ThreadPool& pool) {
  NEREID_TRY(const MappedFile file, MappedFile::open(path));
  if (!engine::EngineFile::has_magic(file.bytes())) {
    NEREID_TRY(OpenedNetwork opened, open_network(path, options));
    NEREID_RETURN_IF_ERROR(tune_opened(opened, options, pool));
    if (options.frees_weights && !opened.weights_are_mapped) opened.network->free_packed_weights();
    return opened;
  }
  NEREID_TRY(engine::EngineFile engine, engine::EngineFile::open(path));
  return load_network(std::move(engine), options, pool);
}

}  // namespace nereid::compile
