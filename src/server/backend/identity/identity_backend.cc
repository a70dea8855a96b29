// SPDX-License-Identifier: Apache-2.0
#include "server/backend/identity/identity_backend.h"

#include <charconv>
#include <chrono>
#include <thread>

#include "base/clock.h"

namespace nereid::server {
namespace {

class IdentityInstance final : public BackendInstance {
 public:
  IdentityInstance(const ModelConfig& config, int64_t delay_ms) : config_(config), delay_ms_(delay_ms) {}

  ExecutionTimes execute(std::span<const std::shared_ptr<Execution>> batch) override {
    const ExecutionTimes times{.input_end_ns = now_ns(), .infer_end_ns = 0};
    if (delay_ms_ > 0) std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms_));
    const int64_t infer_end_ns = now_ns();
    for (const std::shared_ptr<Execution>& one : batch) {
      InferResponse response;
      for (size_t i = 0; i < config_.outputs.size(); ++i) {
        if (!one->wants(config_.outputs[i].name)) continue;
        const InferTensor* input = one->input(config_.inputs[i].name);
        if (input == nullptr) continue;  // an optional one
        InferTensor& output = response.outputs.emplace_back(*input);
        output.name = config_.outputs[i].name;
      }
      one->send(std::move(response));
    }
    return {.input_end_ns = times.input_end_ns, .infer_end_ns = infer_end_ns};
  }

 private:
  const ModelConfig& config_;
  const int64_t delay_ms_;
};

class IdentityModel final : public BackendModel {
 public:
  IdentityModel(ModelConfig config, int64_t delay_ms) : config_(std::move(config)), delay_ms_(delay_ms) {}
  Result<std::unique_ptr<BackendInstance>> make_instance(const std::string&) override {
    return std::unique_ptr<BackendInstance>(std::make_unique<IdentityInstance>(config_, delay_ms_));
  }
  bool is_instant() const override { return delay_ms_ == 0; }

 private:
  const ModelConfig config_;
  const int64_t delay_ms_;
};

class IdentityBackend final : public Backend {
 public:
  Result<ConfigCompletion> complete(const ModelConfig&, const ModelPlace&) override { return ConfigCompletion{}; }

  Result<std::unique_ptr<BackendModel>> open(const ModelConfig& config, const ModelPlace&) override {
    if (config.inputs.size() != config.outputs.size())
      return invalid_argument("an identity model has as many outputs as inputs; '{}' has {} inputs and {} outputs",
                              config.name, config.inputs.size(), config.outputs.size());
    for (size_t i = 0; i < config.inputs.size(); ++i)
      if (config.inputs[i].type != config.outputs[i].type)
        return invalid_argument("the output '{}' of the identity model '{}' is {}, but its input '{}' is {}",
                                config.outputs[i].name, config.name, infer_type_name(config.outputs[i].type),
                                config.inputs[i].name, infer_type_name(config.inputs[i].type));
    int64_t delay_ms = 0;
    if (const auto it = config.parameters.find("execute_delay_ms"); it != config.parameters.end()) {
      const std::string& text = it->second;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), delay_ms);
      if (error != std::errc() || end != text.data() + text.size() || delay_ms < 0 || delay_ms > 3'600'000)
        return invalid_argument("the parameter execute_delay_ms of model '{}' is '{}'; it is a number up to 3600000",
                                config.name, text);
    }
    return std::unique_ptr<BackendModel>(std::make_unique<IdentityModel>(config, delay_ms));
  }
};

}  // namespace

std::unique_ptr<Backend> make_identity_backend() {
  return std::make_unique<IdentityBackend>();
}

}  // namespace nereid::server
