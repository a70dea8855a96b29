// SPDX-License-Identifier: Apache-2.0
// What a model's configuration says, as far as anything here acts on it. server/repository reads it from config.pbtxt
// and keeps the whole message; sizes left open are -1.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "server/core/infer_type.h"

namespace nereid::server {

struct TensorConfig {
  std::string name;
  InferType type = InferType::kInvalid;
  std::vector<int64_t> dims;                    // without the batch dimension
  std::optional<std::vector<int64_t>> reshape;  // what the backend sees instead
  bool is_optional = false;
  bool is_ragged = false;
  bool is_shape_tensor = false;
  std::string label_file;  // of an output
};

enum class InstanceKind : uint8_t { kAuto, kGpu, kCpu, kModel };

struct InstanceGroup {
  std::string name;
  InstanceKind kind = InstanceKind::kAuto;
  int count = 1;
  bool is_passive = false;
};

struct QueuePolicy {
  bool delays_late = false;         // a request that is late runs after the others instead of being refused
  uint64_t default_timeout_us = 0;  // 0: none
  bool may_override_timeout = false;
  uint32_t max_size = 0;  // 0: any
};

struct DynamicBatching {
  std::vector<int32_t> preferred_sizes;
  uint64_t max_delay_us = 0;
  bool preserves_order = false;
  uint64_t priority_levels = 0;
  uint64_t default_priority = 0;
  QueuePolicy default_policy;
  std::map<uint64_t, QueuePolicy> policies;  // by priority
};

enum class ControlKind : uint8_t { kStart, kReady, kEnd, kId };

struct ControlInput {
  std::string name;
  ControlKind kind = ControlKind::kStart;
  InferType type = InferType::kInvalid;
  double value_false = 0, value_true = 1;
};

struct SequenceBatching {
  uint64_t max_idle_us = 1'000'000;
  std::vector<ControlInput> controls;
  bool is_oldest = false;
  uint32_t max_candidates = 0;  // of the strategy "oldest"
};

struct EnsembleStep {
  std::string model;
  int64_t version = -1;                       // -1: the latest
  std::map<std::string, std::string> inputs;  // the step's name -> the ensemble's tensor
  std::map<std::string, std::string> outputs;
};

struct ModelConfig {
  std::string name, platform, backend, runtime;
  std::string model_file;  // default_model_filename
  int32_t max_batch_size = 0;
  std::vector<TensorConfig> inputs, outputs;
  std::vector<InstanceGroup> instances;
  std::optional<DynamicBatching> dynamic_batching;
  std::optional<SequenceBatching> sequence_batching;
  std::vector<EnsembleStep> steps;
  std::map<std::string, std::string> parameters;
  std::map<std::string, std::string> metric_tags;
  bool is_decoupled = false;
  bool has_scheduler = false;  // one of the three kinds of scheduling is named
  bool uses_cache = false;

  bool is_ensemble() const { return platform == "ensemble"; }
};

// What a backend can tell of a model's files where the configuration leaves it out; what is set there stays.
struct ConfigCompletion {
  std::optional<int32_t> max_batch_size;
  std::vector<TensorConfig> inputs, outputs;
  bool batches_dynamically = false;
};

}  // namespace nereid::server
