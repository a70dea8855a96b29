// SPDX-License-Identifier: Apache-2.0
#include "server/repository/config_values.h"

#include <algorithm>

#include "model_config.pb.h"

namespace nereid::server {
namespace {

template <typename Dims>
std::vector<int64_t> sizes_of(const Dims& dims) {
  return {dims.begin(), dims.end()};
}

template <typename Message>
TensorConfig tensor_of_message(const Message& m) {
  TensorConfig t{.name = m.name(),
                 .type = static_cast<InferType>(m.data_type()),
                 .dims = sizes_of(m.dims()),
                 .reshape = {},
                 .label_file = {}};
  if (m.has_reshape()) t.reshape = sizes_of(m.reshape().shape());
  t.is_shape_tensor = m.is_shape_tensor();
  return t;
}

QueuePolicy queue_policy(const inference::ModelQueuePolicy& m) {
  return {.delays_late = m.timeout_action() == inference::ModelQueuePolicy::DELAY,
          .default_timeout_us = m.default_timeout_microseconds(),
          .may_override_timeout = m.allow_timeout_override(),
          .max_size = m.max_queue_size()};
}

DynamicBatching dynamic_batching(const inference::ModelDynamicBatching& m) {
  DynamicBatching out{.preferred_sizes = {m.preferred_batch_size().begin(), m.preferred_batch_size().end()},
                      .max_delay_us = m.max_queue_delay_microseconds(),
                      .preserves_order = m.preserve_ordering(),
                      .priority_levels = m.priority_levels(),
                      .default_priority = m.default_priority_level(),
                      .default_policy = queue_policy(m.default_queue_policy()),
                      .policies = {}};
  for (const auto& [level, policy] : m.priority_queue_policy()) out.policies[level] = queue_policy(policy);
  return out;
}

ControlInput control_input(const std::string& name, const inference::ModelSequenceBatching::Control& m) {
  ControlInput out{.name = name, .kind = static_cast<ControlKind>(0), .type = static_cast<InferType>(m.data_type())};
  switch (m.kind()) {
    case inference::ModelSequenceBatching::Control::CONTROL_SEQUENCE_READY:
      out.kind = ControlKind::kReady;
      break;
    case inference::ModelSequenceBatching::Control::CONTROL_SEQUENCE_END:
      out.kind = ControlKind::kEnd;
      break;
    case inference::ModelSequenceBatching::Control::CONTROL_SEQUENCE_CORRID:
      out.kind = ControlKind::kId;
      break;
    default:
      out.kind = ControlKind::kStart;
  }
  const auto take = [&](const auto& pair, InferType type) {
    if (pair.size() != 2) return;
    out.type = type;
    out.value_false = static_cast<double>(pair.Get(0)), out.value_true = static_cast<double>(pair.Get(1));
  };
  take(m.int32_false_true(), InferType::kInt32);
  take(m.fp32_false_true(), InferType::kFp32);
  take(m.bool_false_true(), InferType::kBool);
  return out;
}

SequenceState sequence_state(const inference::ModelSequenceBatching::State& m) {
  SequenceState out{.input = m.input_name(),
                    .output = m.output_name(),
                    .type = static_cast<InferType>(m.data_type()),
                    .dims = sizes_of(m.dims()),
                    .initial_dims = {},
                    .initial_file = {}};
  if (m.initial_state_size() > 0) {
    out.initial_dims = sizes_of(m.initial_state(0).dims());
    out.initial_file = m.initial_state(0).data_file();
  }
  return out;
}

SequenceBatching sequence_batching(const inference::ModelSequenceBatching& m) {
  SequenceBatching out;
  out.max_idle_us = m.max_sequence_idle_microseconds();
  out.is_iterative = m.iterative_sequence();
  out.is_oldest = m.has_oldest();
  if (out.is_oldest) {
    const auto& oldest = m.oldest();
    out.max_candidates = static_cast<uint32_t>(std::max(0, oldest.max_candidate_sequences()));
    out.preferred_sizes = {oldest.preferred_batch_size().begin(), oldest.preferred_batch_size().end()};
    out.max_delay_us = oldest.max_queue_delay_microseconds();
    out.preserves_order = oldest.preserve_ordering();
  } else {
    out.max_delay_us = m.direct().max_queue_delay_microseconds();
    out.min_utilization = m.direct().minimum_slot_utilization();
  }
  for (const auto& state : m.state()) out.states.push_back(sequence_state(state));
  for (const auto& input : m.control_input())
    for (const auto& control : input.control()) out.controls.push_back(control_input(input.name(), control));
  return out;
}

WarmupSample warmup_sample(const inference::ModelWarmup& m) {
  WarmupSample out{.name = m.name(), .batch = m.batch_size(), .count = std::max(1u, m.count()), .inputs = {}};
  for (const auto& [name, input] : m.inputs()) {
    WarmupInput one{.name = name,
                    .type = static_cast<InferType>(input.data_type()),
                    .dims = sizes_of(input.dims()),
                    .file = input.input_data_file()};
    if (!one.file.empty()) {
      one.data = WarmupData::kFile;
    } else if (input.random_data()) {
      one.data = WarmupData::kRandom;
    }
    out.inputs.push_back(std::move(one));
  }
  std::sort(out.inputs.begin(), out.inputs.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return out;
}

BatchInput batch_input(const inference::BatchInput& m) {
  return {.kind = static_cast<BatchInputKind>(m.kind()),
          .type = static_cast<InferType>(m.data_type()),
          .targets = {m.target_name().begin(), m.target_name().end()},
          .source = m.source_input_size() > 0 ? m.source_input(0) : std::string()};
}

BatchOutput batch_output(const inference::BatchOutput& m) {
  return {.targets = {m.target_name().begin(), m.target_name().end()},
          .source = m.source_input_size() > 0 ? m.source_input(0) : std::string()};
}

InstanceGroup instance_group(const inference::ModelInstanceGroup& m) {
  InstanceGroup out{.name = m.name(),
                    .count = m.count(),
                    .is_passive = m.passive(),
                    .gpus = {m.gpus().begin(), m.gpus().end()},
                    .resources = {},
                    .priority = m.rate_limiter().priority(),
                    .host_policy = m.host_policy()};
  for (const auto& one : m.rate_limiter().resources())
    out.resources.push_back({.name = one.name(), .is_global = one.global(), .count = one.count()});
  switch (m.kind()) {
    case inference::ModelInstanceGroup::KIND_GPU:
      out.kind = InstanceKind::kGpu;
      break;
    case inference::ModelInstanceGroup::KIND_CPU:
      out.kind = InstanceKind::kCpu;
      break;
    case inference::ModelInstanceGroup::KIND_MODEL:
      out.kind = InstanceKind::kModel;
      break;
    default:
      out.kind = InstanceKind::kAuto;
  }
  return out;
}

}  // namespace

ModelConfig config_values(const inference::ModelConfig& m) {
  ModelConfig c{.name = m.name(),
                .platform = m.platform(),
                .backend = m.backend(),
                .runtime = m.runtime(),
                .model_file = m.default_model_filename(),
                .max_batch_size = m.max_batch_size()};
  for (const auto& input : m.input()) {
    TensorConfig t = tensor_of_message(input);
    t.is_optional = input.optional(), t.is_ragged = input.allow_ragged_batch();
    c.inputs.push_back(std::move(t));
  }
  for (const auto& output : m.output()) {
    TensorConfig t = tensor_of_message(output);
    t.label_file = output.label_filename();
    c.outputs.push_back(std::move(t));
  }
  for (const auto& group : m.instance_group()) c.instances.push_back(instance_group(group));
  c.has_scheduler = m.scheduling_choice_case() != inference::ModelConfig::SCHEDULING_CHOICE_NOT_SET;
  if (m.has_dynamic_batching()) c.dynamic_batching = dynamic_batching(m.dynamic_batching());
  if (m.has_sequence_batching()) c.sequence_batching = sequence_batching(m.sequence_batching());
  for (const auto& one : m.batch_input()) c.batch_inputs.push_back(batch_input(one));
  for (const auto& one : m.batch_output()) c.batch_outputs.push_back(batch_output(one));
  for (const auto& one : m.model_warmup()) c.warmups.push_back(warmup_sample(one));
  for (const auto& step : m.ensemble_scheduling().step())
    c.steps.push_back({.model = step.model_name(),
                       .version = step.model_version(),
                       .inputs = {step.input_map().begin(), step.input_map().end()},
                       .outputs = {step.output_map().begin(), step.output_map().end()}});
  for (const auto& [key, value] : m.parameters()) c.parameters[key] = value.string_value();
  for (const auto& [key, value] : m.metric_tags()) c.metric_tags[key] = value;
  c.is_decoupled = m.model_transaction_policy().decoupled();
  c.uses_cache = m.response_cache().enable();
  return c;
}

}  // namespace nereid::server
