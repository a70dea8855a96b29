// SPDX-License-Identifier: Apache-2.0
// One state of a network that runs batches of requests: inputs laid one after the other, outputs cut up again.
#pragma once

#include <memory>

#include "base/buffer.h"
#include "base/thread_pool.h"
#include "compile/network.h"
#include "server/core/backend.h"

namespace nereid::server {

class EngineInstance final : public BackendInstance {
 public:
  // `inputs`, `outputs`: those of the configuration, and those by which it learns of sequences and batches and gives
  // out states. All outlive it.
  EngineInstance(const ModelConfig& config, const std::vector<TensorConfig>& inputs,
                 const std::vector<TensorConfig>& outputs, const compile::OpenedNetwork& network, int threads);
  ExecutionTimes execute(std::span<const std::shared_ptr<Execution>> batch) override;

 private:
  struct Input {
    size_t index = 0;  // of the network
    const TensorConfig* config = nullptr;
    const BatchInput* rule = nullptr;  // of one that tells of the batch
    size_t target = 0;                 // of the rule
    InferTensor told;                  // its value
    Buffer joined;                     // several requests' bytes, or one's where they lie awkwardly
    std::vector<std::string> texts;
  };
  struct Output {
    size_t index = 0;
    const TensorConfig* config = nullptr;
    const std::string* source = nullptr;  // the input by whose requests it is cut up
  };
  Status set_input(Input& input, std::span<const std::shared_ptr<Execution>> batch, int64_t items);
  Status tell(Input& input, std::span<const std::shared_ptr<Execution>> batch);
  Status scatter(const Output& output, std::span<const std::shared_ptr<Execution>> batch,
                 std::vector<InferResponse>* responses);
  Result<const void*> join(Input& input, std::span<const std::shared_ptr<Execution>> batch, size_t width);
  Status answer(std::span<const std::shared_ptr<Execution>> batch, int64_t items,
                std::vector<InferResponse>* responses);
  Status cut(const Output& output, std::span<const std::shared_ptr<Execution>> batch, int64_t items,
             std::vector<InferResponse>* responses);

  const ModelConfig& config_;
  const bool has_batch_;
  std::unique_ptr<ThreadPool> pool_;
  std::unique_ptr<runtime::NetContext> context_;
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
};

}  // namespace nereid::server
