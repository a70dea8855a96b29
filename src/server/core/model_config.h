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

// What an instance takes while it runs, of a resource that all models share (--rate-limit).
struct InstanceResource {
  std::string name;
  bool is_global = false;  // else there is as much of it on each device
  uint32_t count = 0;
};

struct InstanceGroup {
  std::string name;
  InstanceKind kind = InstanceKind::kAuto;
  int count = 1;
  bool is_passive = false;
  std::vector<int> gpus;
  std::vector<InstanceResource> resources;
  uint32_t priority = 0;    // 2 runs half as often as 1; 0: as 1
  std::string host_policy;  // whose processors (--host-policy); "": "cpu", "model" or "gpu_0", by the kind
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

// A tensor that a model gives out and is given back with the next request of the sequence.
struct SequenceState {
  std::string input, output;
  InferType type = InferType::kInvalid;
  std::vector<int64_t> dims;          // without the batch dimension
  std::vector<int64_t> initial_dims;  // of what it begins with; none given: 1 where `dims` is open
  std::string initial_file;           // in the folder initial_state; "": zeros
};

struct SequenceBatching {
  uint64_t max_idle_us = 1'000'000;
  std::vector<ControlInput> controls;
  std::vector<SequenceState> states;
  bool is_iterative = false;  // a request runs again and again until the model is done with it
  bool is_oldest = false;
  uint32_t max_candidates = 0;           // of the strategy "oldest"
  std::vector<int32_t> preferred_sizes;  // of the strategy "oldest"
  uint64_t max_delay_us = 0;             // that a request may wait for company
  float min_utilization = 0;             // of the strategy "direct": the share of slots that need not wait
  bool preserves_order = false;          // of the strategy "oldest"
};

// Tensors that tell a model where requests of different sizes begin and end in a batch.
enum class BatchInputKind : uint8_t {
  kElementCount,
  kAccumulatedCount,
  kAccumulatedCountWithZero,
  kMaxElementCountAsShape,
  kItemShape,
  kItemShapeFlat,
};

struct BatchInput {
  BatchInputKind kind = BatchInputKind::kElementCount;
  InferType type = InferType::kInvalid;  // INT32 or FP32
  std::vector<std::string> targets;      // names of the tensors
  std::string source;                    // the input whose sizes are told
};

// Outputs that are cut up by the sizes of an input's requests.
struct BatchOutput {
  std::vector<std::string> targets;
  std::string source;
};

enum class WarmupData : uint8_t { kZero, kRandom, kFile };

struct WarmupInput {
  std::string name;
  InferType type = InferType::kInvalid;
  std::vector<int64_t> dims;  // without the batch dimension
  WarmupData data = WarmupData::kZero;
  std::string file;  // in the folder warmup
};

// A request that every instance runs before the model is ready.
struct WarmupSample {
  std::string name;
  uint32_t batch = 0;
  uint32_t count = 1;
  std::vector<WarmupInput> inputs;  // by name
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
  std::vector<BatchInput> batch_inputs;
  std::vector<BatchOutput> batch_outputs;
  std::vector<WarmupSample> warmups;
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
  bool is_decoupled = false;
};

}  // namespace nereid::server
