// SPDX-License-Identifier: Apache-2.0
// What runs models: a backend opens a version's files and makes instances, an instance runs batches of requests.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/infer_request.h"
#include "server/core/model_config.h"

namespace nereid::server {

// One request of a batch that an instance runs.
class Execution {
 public:
  virtual ~Execution() = default;
  virtual const InferRequest& request() const = 0;
  virtual int64_t batch() const = 0;  // items of the request; 1 where the model has no batch dimension
  // The input of that name, or nullptr (it is optional, or is not the model's).
  virtual const InferTensor* input(std::string_view name) const = 0;
  virtual bool wants(std::string_view output) const = 0;
  // A response; exactly one with is_final set, also for a decoupled model. On any thread.
  virtual void send(InferResponse response) = 0;
  // Instead of a last response, while it is executed: the request is to run once more, with these tensors for the
  // states of its sequence. False: the configuration does not say iterative_sequence, and nothing has happened.
  virtual bool run_again(std::vector<InferTensor> /*states*/) { return false; }
};

// When the parts of an execution were over, by now_ns().
struct ExecutionTimes {
  int64_t input_end_ns = 0, infer_end_ns = 0;
};

// One thread at a time uses it.
class BackendInstance {
 public:
  virtual ~BackendInstance() = default;
  // Answers every one of them, now or (a decoupled model) later.
  virtual ExecutionTimes execute(std::span<const std::shared_ptr<Execution>> batch) = 0;
};

class BackendModel {
 public:
  virtual ~BackendModel() = default;
  virtual Result<std::unique_ptr<BackendInstance>> make_instance(const std::string& name) = 0;
  // The instances that are made from now on are those of another configuration, which differs in nothing else.
  virtual void expect_instances(const ModelConfig&) {}
  // Its runs take less than handing them to another thread would.
  virtual bool is_instant() const { return false; }
};

struct ModelPlace {
  std::string folder;          // of the model
  std::string version_folder;  // of the version
  int64_t version = 1;
};

class Backend {
 public:
  virtual ~Backend() = default;
  // What the files say where the configuration is silent.
  virtual Result<ConfigCompletion> complete(const ModelConfig& config, const ModelPlace& place) = 0;
  virtual Result<std::unique_ptr<BackendModel>> open(const ModelConfig& config, const ModelPlace& place) = 0;
};

}  // namespace nereid::server
