// SPDX-License-Identifier: Apache-2.0
#include "server/backend/table/backend_table.h"

#include "server/backend/engine/engine_backend.h"
#include "server/backend/example/example_backends.h"
#include "server/backend/identity/identity_backend.h"
#include "server/backend/tokens/tokens_backend.h"

namespace nereid::server {
namespace {

struct Row {
  std::string_view name;  // as configurations have it
  std::unique_ptr<Backend> (*make)();
};

constexpr Row kRows[] = {
    {"nereid", make_engine_backend},
    {"onnxruntime", make_engine_backend},
    {"onnxruntime_onnx", make_engine_backend},
    {"tensorrt", make_engine_backend},
    {"tensorrt_plan", make_engine_backend},
    {"openvino", make_engine_backend},
    {"pytorch", make_engine_backend},
    {"pytorch_libtorch", make_engine_backend},
    {"torch_aoti", make_engine_backend},
    {"identity", make_identity_backend},
    {"count", make_count_backend},
    {"fail", make_fail_backend},
    {"accumulate", make_accumulate_backend},
    {"parameters", make_parameters_backend},
    {"tally", make_tally_backend},
    {"countdown", make_countdown_backend},
    {"repeat", make_repeat_backend},
    {"tokenize", make_tokenize_backend},
    {"detokenize", make_detokenize_backend},
};

}  // namespace

Result<Backend*> BackendTable::find(const ModelConfig& config) {
  const std::string& name = config.backend.empty() ? config.platform : config.backend;
  if (name.empty())
    return invalid_argument(
        "must specify 'platform' or 'backend' for '{}', or lay a file into its version folder that tells: model.onnx",
        config.name);
  for (const Row& row : kRows) {
    if (row.name != name) continue;
    const std::lock_guard lock(mutex_);
    std::unique_ptr<Backend>& slot = made_[name];
    if (slot == nullptr) slot = row.make();
    return slot.get();
  }
  if (name == "python")
    return unsupported(
        "the model '{}' is a program in Python, and these are not run; a model that hands its inputs on is "
        "backend: \"identity\", one that reads or writes tokens is backend: \"tokenize\" or \"detokenize\", and "
        "networks "
        "run from ONNX (backend: \"onnxruntime\")",
        config.name);
  for (const std::string_view graph : {"tensorflow", "tensorflow_graphdef", "tensorflow_savedmodel"})
    if (name == graph)
      return unsupported(
          "the model '{}' is a TensorFlow graph, and these are not read; make ONNX of it (python -m tf2onnx.convert "
          "--opset 17 --output model.onnx, with --graphdef or --saved-model), and say platform: \"onnxruntime_onnx\"",
          config.name);
  return invalid_argument(
      "unable to find backend library for backend '{}', try specifying runtime on the model configuration.", name);
}

}  // namespace nereid::server
