// SPDX-License-Identifier: Apache-2.0
#include "server/repository/config_check.h"

#include <algorithm>

namespace nereid::server {
namespace {

const TensorConfig* find_tensor(const std::vector<TensorConfig>& tensors, const std::string& name) {
  const auto it = std::find_if(tensors.begin(), tensors.end(), [&](const auto& one) { return one.name == name; });
  return it == tensors.end() ? nullptr : &*it;
}

Status check_batch_tensors(const ModelConfig& config) {
  for (const BatchInput& rule : config.batch_inputs) {
    if (rule.targets.empty() || find_tensor(config.inputs, rule.source) == nullptr)
      return invalid_argument(
          "a batch_input of {} needs a target_name and one source_input that is an input of the model; found '{}'",
          config.name, rule.source);
    if (rule.type != InferType::kInt32 && rule.type != InferType::kFp32)
      return invalid_argument("the batch_input '{}' of {} has the data type {}; it may be TYPE_INT32 or TYPE_FP32",
                              rule.targets[0], config.name, infer_type_info(rule.type).config_name);
    for (const std::string& target : rule.targets)
      if (find_tensor(config.inputs, target) != nullptr)
        return invalid_argument("the batch_input '{}' of {} is also an input of the model", target, config.name);
  }
  for (const BatchOutput& rule : config.batch_outputs) {
    if (rule.targets.empty() || find_tensor(config.inputs, rule.source) == nullptr)
      return invalid_argument(
          "a batch_output of {} needs a target_name and one source_input that is an input of the model; found '{}'",
          config.name, rule.source);
    for (const std::string& target : rule.targets)
      if (find_tensor(config.outputs, target) == nullptr)
        return invalid_argument("the batch_output '{}' of {} is no output of the model", target, config.name);
  }
  for (const TensorConfig& input : config.inputs)
    if (input.is_ragged && config.max_batch_size <= 0)
      return invalid_argument("the input '{}' of {} has allow_ragged_batch, which needs a max_batch_size", input.name,
                              config.name);
  return Status::ok();
}

Status check_sequences(const ModelConfig& config) {
  if (!config.sequence_batching) return Status::ok();
  const SequenceBatching& rules = *config.sequence_batching;
  if (rules.is_oldest && rules.max_candidates == 0)
    return invalid_argument("sequence batching of {} with the strategy oldest needs max_candidate_sequences",
                            config.name);
  if (rules.min_utilization < 0 || rules.min_utilization > 1)
    return invalid_argument("sequence batching minimum slot utilization must be in range [0.0, 1.0] for {}",
                            config.name);
  std::vector<std::string> inputs;
  for (const SequenceState& state : rules.states) {
    if (state.input.empty() || state.output.empty() || state.type == InferType::kInvalid || state.dims.empty())
      return invalid_argument("a state of {} needs input_name, output_name, data_type and dims; found '{}' and '{}'",
                              config.name, state.input, state.output);
    if (find_tensor(config.inputs, state.input) != nullptr ||
        std::find(inputs.begin(), inputs.end(), state.input) != inputs.end())
      return invalid_argument("the state '{}' of {} has the name of another input", state.input, config.name);
    inputs.push_back(state.input);
  }
  return Status::ok();
}

}  // namespace

Status check_scheduling(const ModelConfig& config) {
  NEREID_RETURN_IF_ERROR(check_batch_tensors(config));
  NEREID_RETURN_IF_ERROR(check_sequences(config));
  for (const InstanceGroup& group : config.instances) {
    if (group.kind == InstanceKind::kCpu && !group.gpus.empty())
      return invalid_argument("instance group {} of model {} has kind KIND_CPU but specifies one or more GPUs",
                              group.name, config.name);
    if (group.count > 1024)
      return invalid_argument("the instance group '{}' of {} has {} instances; at most 1024 are made", group.name,
                              config.name, group.count);
  }
  return Status::ok();
}

}  // namespace nereid::server
