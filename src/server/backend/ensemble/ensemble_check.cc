// SPDX-License-Identifier: Apache-2.0
#include "server/backend/ensemble/ensemble_check.h"

#include <algorithm>

namespace nereid::server {
namespace {

const TensorConfig* find_tensor(const std::vector<TensorConfig>& tensors, const std::string& name) {
  for (const TensorConfig& one : tensors)
    if (one.name == name) return &one;
  return nullptr;
}

// Who makes each tensor, and of which type it is.
using Types = std::map<std::string, InferType>;

Status add_outputs(const ModelConfig& config, const EnsembleStep& step, const ModelConfig& member, Types* types) {
  for (const auto& [output, tensor] : step.outputs) {
    const TensorConfig* made = find_tensor(member.outputs, output);
    if (made == nullptr)
      return invalid_argument("in ensemble {}, the step '{}' maps an output '{}' that the model does not have",
                              config.name, step.model, output);
    if (!types->emplace(tensor, made->type).second)
      return invalid_argument("in ensemble {}, ensemble tensor '{}' is made more than once", config.name, tensor);
  }
  return Status::ok();
}

Status check_inputs(const ModelConfig& config, const EnsembleStep& step, const ModelConfig& member,
                    const Types& types) {
  for (const auto& [input, tensor] : step.inputs) {
    const TensorConfig* want = find_tensor(member.inputs, input);
    if (want == nullptr)
      return invalid_argument("in ensemble {}, the step '{}' maps an input '{}' that the model does not have",
                              config.name, step.model, input);
    const auto made = types.find(tensor);
    if (made == types.end())
      return invalid_argument("in ensemble {}, ensemble tensor '{}' is mapped to an input of '{}' but nothing makes it",
                              config.name, tensor, step.model);
    if (made->second != want->type)
      return invalid_argument("in ensemble {}, ensemble tensor '{}' is {}, but the input '{}' of '{}' is {}",
                              config.name, tensor, infer_type_name(made->second), input, step.model,
                              infer_type_name(want->type));
  }
  for (const TensorConfig& input : member.inputs)
    if (!input.is_optional && !step.inputs.contains(input.name))
      return invalid_argument("in ensemble {}, the step '{}' does not map the model's input '{}'", config.name,
                              step.model, input.name);
  return Status::ok();
}

// Steps whose inputs can be made one after the other; those that are left wait for each other.
Status check_order(const ModelConfig& config) {
  std::vector<std::string> made;
  for (const TensorConfig& input : config.inputs) made.push_back(input.name);
  std::vector<const EnsembleStep*> left;
  for (const EnsembleStep& step : config.steps) left.push_back(&step);
  const auto is_made = [&](const auto& input) {
    return std::find(made.begin(), made.end(), input.second) != made.end();
  };
  for (bool moves = true; moves && !left.empty();) {
    moves = false;
    for (auto it = left.begin(); it != left.end();) {
      if (!std::all_of((*it)->inputs.begin(), (*it)->inputs.end(), is_made)) {
        ++it;
        continue;
      }
      for (const auto& [output, tensor] : (*it)->outputs) made.push_back(tensor);
      it = left.erase(it);
      moves = true;
    }
  }
  if (left.empty()) return Status::ok();
  return invalid_argument("in ensemble {}, steps wait for each other, among them '{}': its inputs come from itself",
                          config.name, left[0]->model);
}

}  // namespace

Status check_ensemble(const ModelConfig& config, const FindConfig& find) {
  Types types;
  for (const TensorConfig& input : config.inputs) types[input.name] = input.type;
  std::vector<ModelConfig> members;
  for (const EnsembleStep& step : config.steps) {
    NEREID_TRY(ModelConfig member, find(step.model, step.version));
    if (member.is_decoupled)
      return unsupported("in ensemble {}, the step '{}' may answer several times, which ensembles do not take",
                         config.name, step.model);
    if (config.max_batch_size > 0 && member.max_batch_size < config.max_batch_size)
      return invalid_argument(
          "ensemble {} allows maximum batch size {}, but it contains model {} which only allows maximum batch size to "
          "be {}",
          config.name, config.max_batch_size, step.model, member.max_batch_size);
    NEREID_RETURN_IF_ERROR(add_outputs(config, step, member, &types));
    members.push_back(std::move(member));
  }
  for (size_t i = 0; i < members.size(); ++i)
    NEREID_RETURN_IF_ERROR(check_inputs(config, config.steps[i], members[i], types));
  NEREID_RETURN_IF_ERROR(check_order(config));
  for (const TensorConfig& output : config.outputs) {
    const auto made = types.find(output.name);
    if (made == types.end())
      return invalid_argument("in ensemble {}, no step makes the output '{}'", config.name, output.name);
    if (made->second != output.type)
      return invalid_argument("in ensemble {}, the output '{}' is {} but the step that makes it gives {}", config.name,
                              output.name, infer_type_name(output.type), infer_type_name(made->second));
  }
  return Status::ok();
}

}  // namespace nereid::server
