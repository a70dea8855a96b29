// SPDX-License-Identifier: Apache-2.0
#include "server/backend/engine/engine_backend.h"

#include <charconv>
#include <mutex>

#include "base/cpu_limits.h"
#include "base/file.h"
#include "compile/model_kind.h"
#include "server/backend/engine/engine_instance.h"
#include "server/backend/engine/tensor_types.h"

namespace nereid::server {
namespace {

// What a batch may hold where neither the file nor the configuration says: as others have it.
constexpr int32_t kDefaultMaxBatch = 4;

std::string model_path(const ModelConfig& config, const ModelPlace& place) {
  return place.version_folder + "/" + (config.model_file.empty() ? "model.onnx" : config.model_file);
}

// Why a file that is there cannot be run.
Status check_file(const std::string& path) {
  NEREID_RETURN_IF_ERROR(file_info(path));
  if (compile::is_network(compile::model_kind(path))) return Status::ok();
  if (path.ends_with(".pt") || path.ends_with(".pt2"))
    return unsupported(
        "'{}' is a PyTorch program; export it with torch.onnx.export(model, inputs, 'model.onnx') and serve that file",
        path);
  if (path.ends_with(".plan"))
    return unsupported(
        "'{}' is a TensorRT plan, which only runs on the GPU it was made for; put the ONNX file that it was built from "
        "beside it and name it with default_model_filename",
        path);
  return unsupported("'{}' is neither an ONNX file nor an engine of a network (`nereid build` makes one)", path);
}

std::vector<int64_t> dims_of(const ops::TensorType& type) {
  std::vector<int64_t> dims;
  for (const Dim& dim : type.shape.dims()) dims.push_back(dim.is_static() ? dim.size() : -1);
  return dims;
}

bool starts_open(const std::vector<TensorConfig>& tensors) {
  for (const TensorConfig& one : tensors)
    if (one.dims.empty() || one.dims[0] != -1) return false;
  return true;
}

void drop_first(std::vector<TensorConfig>* tensors) {
  for (TensorConfig& one : *tensors)
    if (!one.dims.empty()) one.dims.erase(one.dims.begin());
}

// A tensor without dimensions is configured as one element.
void fill_empty(std::vector<TensorConfig>* tensors) {
  for (TensorConfig& one : *tensors)
    if (one.dims.empty()) one.dims = {1}, one.reshape = std::vector<int64_t>{};
}

std::string names_of(const std::vector<compile::NamedType>& values) {
  std::string out;
  for (const compile::NamedType& one : values) out += (out.empty() ? "" : ", ") + one.name;
  return out;
}

Status check_tensor(const TensorConfig& want, const std::vector<compile::NamedType>& have, std::string_view what,
                    const std::string& model) {
  for (const compile::NamedType& one : have) {
    if (one.name != want.name) continue;
    if (!one.type.is_tensor() || infer_type_of(one.type.dtype) != want.type)
      return invalid_argument("the {} '{}' of model '{}' is {} in its file, but {} in its configuration", what,
                              want.name, model, one.type.to_string(), infer_type_info(want.type).config_name);
    return Status::ok();
  }
  return invalid_argument("unexpected inference {} '{}' for model '{}'; its file has: {}", what, want.name, model,
                          names_of(have));
}

// The inputs that the server adds to requests of sequences and to batches.
std::vector<TensorConfig> control_inputs(const ModelConfig& config) {
  std::vector<TensorConfig> inputs;
  const auto add = [&](const std::string& name, InferType type, std::vector<int64_t> dims) {
    inputs.push_back({.name = name, .type = type, .dims = std::move(dims), .reshape = {}, .label_file = {}});
  };
  if (config.sequence_batching) {
    for (const ControlInput& one : config.sequence_batching->controls) add(one.name, one.type, {1});
    for (const SequenceState& one : config.sequence_batching->states) add(one.input, one.type, one.dims);
  }
  for (const BatchInput& rule : config.batch_inputs)
    for (const std::string& target : rule.targets) add(target, rule.type, {-1});
  return inputs;
}

// With those of requests.
std::vector<TensorConfig> all_inputs(const ModelConfig& config) {
  std::vector<TensorConfig> inputs = config.inputs;
  for (TensorConfig& one : control_inputs(config)) inputs.push_back(std::move(one));
  return inputs;
}

// The states of sequences that no client may ask for.
std::vector<TensorConfig> state_outputs(const ModelConfig& config) {
  std::vector<TensorConfig> outputs;
  if (!config.sequence_batching) return outputs;
  for (const SequenceState& one : config.sequence_batching->states)
    if (std::none_of(config.outputs.begin(), config.outputs.end(), [&](const auto& o) { return o.name == one.output; }))
      outputs.push_back({.name = one.output, .type = one.type, .dims = one.dims, .reshape = {}, .label_file = {}});
  return outputs;
}

// With those of responses.
std::vector<TensorConfig> all_outputs(const ModelConfig& config) {
  std::vector<TensorConfig> outputs = config.outputs;
  for (TensorConfig& one : state_outputs(config)) outputs.push_back(std::move(one));
  return outputs;
}

bool names(const std::vector<TensorConfig>& tensors, const std::string& name) {
  return std::any_of(tensors.begin(), tensors.end(), [&](const TensorConfig& one) { return one.name == name; });
}

// The processors there are, shared by the instances; or what the configuration asks for.
int threads_of(const ModelConfig& config) {
  if (const auto it = config.parameters.find("intra_op_thread_count"); it != config.parameters.end()) {
    int threads = 0;
    const std::string& text = it->second;
    std::from_chars(text.data(), text.data() + text.size(), threads);
    if (threads > 0 && threads <= 1024) return threads;
  }
  int instances = 0;
  for (const InstanceGroup& group : config.instances) instances += group.is_passive ? 0 : group.count;
  return std::max(1, usable_cpus() / std::max(1, instances));
}

class EngineModel final : public BackendModel {
 public:
  EngineModel(ModelConfig config, compile::OpenedNetwork network, int threads)
      : config_(std::move(config)),
        inputs_(all_inputs(config_)),
        outputs_(all_outputs(config_)),
        network_(std::move(network)),
        threads_(threads) {}
  Result<std::unique_ptr<BackendInstance>> make_instance(const std::string&) override {
    return std::unique_ptr<BackendInstance>(
        std::make_unique<EngineInstance>(config_, inputs_, outputs_, network_, threads_));
  }
  void expect_instances(const ModelConfig& config) override { threads_ = threads_of(config); }

 private:
  const ModelConfig config_;
  const std::vector<TensorConfig> inputs_, outputs_;
  const compile::OpenedNetwork network_;
  int threads_;
};

class EngineBackend final : public Backend {
 public:
  Result<ConfigCompletion> complete(const ModelConfig& config, const ModelPlace& place) override {
    if (!config.inputs.empty() && !config.outputs.empty()) return ConfigCompletion{};
    const std::string path = model_path(config, place);
    NEREID_TRY(compile::OpenedNetwork network, open_file(path));
    ConfigCompletion found;
    const std::vector<TensorConfig> controls = control_inputs(config);
    for (const compile::NamedType& one : network.inputs) {
      if (names(controls, one.name)) continue;
      TensorConfig& tensor = found.inputs.emplace_back();
      tensor = {.name = one.name,
                .type = infer_type_of(one.type.dtype),
                .dims = dims_of(one.type),
                .reshape = {},
                .is_optional = network.defaults.contains(one.name),
                .label_file = {}};
    }
    const std::vector<TensorConfig> states = state_outputs(config);
    for (const compile::NamedType& one : network.outputs) {
      if (names(states, one.name)) continue;
      found.outputs.push_back({.name = one.name,
                               .type = infer_type_of(one.type.dtype),
                               .dims = dims_of(one.type),
                               .reshape = {},
                               .label_file = {}});
    }
    const bool takes_batches = starts_open(found.inputs) && starts_open(found.outputs);
    const bool is_silent = config.inputs.empty() && config.outputs.empty();
    if (config.max_batch_size > 0 || (is_silent && takes_batches)) {
      found.max_batch_size = config.max_batch_size > 0 ? config.max_batch_size : kDefaultMaxBatch;
      found.batches_dynamically = takes_batches;
      drop_first(&found.inputs);
      drop_first(&found.outputs);
    }
    fill_empty(&found.inputs);
    fill_empty(&found.outputs);
    keep(path, std::move(network));
    return found;
  }

  Result<std::unique_ptr<BackendModel>> open(const ModelConfig& config, const ModelPlace& place) override {
    const std::string path = model_path(config, place);
    NEREID_TRY(compile::OpenedNetwork network, take(path));
    const std::vector<TensorConfig> inputs = all_inputs(config);
    for (const TensorConfig& one : inputs)
      NEREID_RETURN_IF_ERROR(check_tensor(one, network.inputs, "input", config.name));
    for (const TensorConfig& one : all_outputs(config))
      NEREID_RETURN_IF_ERROR(check_tensor(one, network.outputs, "output", config.name));
    for (const compile::NamedType& one : network.inputs) {
      if (!network.defaults.contains(one.name) && !names(inputs, one.name))
        return invalid_argument("the model's file has an input '{}' that the configuration of '{}' does not name",
                                one.name, config.name);
    }
    const int threads = threads_of(config);
    return std::unique_ptr<BackendModel>(std::make_unique<EngineModel>(config, std::move(network), threads));
  }

 private:
  static Result<compile::OpenedNetwork> open_file(const std::string& path) {
    NEREID_RETURN_IF_ERROR(check_file(path));
    ThreadPool pool(ThreadPoolOptions{.threads = usable_cpus(), .pin = false});
    compile::NetworkOptions options;
    options.frees_weights = true;
    return compile::open_network(path, options, pool);
  }

  // What complete() has opened is what open() asks for next.
  void keep(const std::string& path, compile::OpenedNetwork network) {
    const std::lock_guard lock(mutex_);
    kept_path_ = path;
    kept_ = std::move(network);
  }
  Result<compile::OpenedNetwork> take(const std::string& path) {
    {
      const std::lock_guard lock(mutex_);
      if (kept_path_ == path) {
        kept_path_.clear();
        return std::move(kept_);
      }
      kept_ = {};
    }
    return open_file(path);
  }

  std::mutex mutex_;
  std::string kept_path_;
  compile::OpenedNetwork kept_;
};

}  // namespace

std::unique_ptr<Backend> make_engine_backend() {
  return std::make_unique<EngineBackend>();
}

}  // namespace nereid::server
