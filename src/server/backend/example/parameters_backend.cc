// SPDX-License-Identifier: Apache-2.0
// A model that answers with the parameters of its request, as a JSON text.
#include <fmt/format.h>

#include <map>

#include "base/clock.h"
#include "server/backend/example/example_backends.h"

namespace nereid::server {
namespace {

std::string value_text(const InferParameter& value) {
  if (const bool* boolean = std::get_if<bool>(&value)) return *boolean ? "true" : "false";
  if (const int64_t* integer = std::get_if<int64_t>(&value)) return std::to_string(*integer);
  if (const double* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  std::string out = "\"";
  for (const char c : std::get<std::string>(value)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string parameters_text(const InferParameters& parameters) {
  std::map<std::string, std::string> sorted;
  for (const auto& [name, value] : parameters) sorted.emplace(name, value_text(value));
  std::string out = "{";
  for (const auto& [name, text] : sorted) {
    if (out.size() > 1) out += ", ";
    out += value_text(InferParameter(name)) + ": " + text;
  }
  return out + "}";
}

class ParametersInstance final : public BackendInstance {
 public:
  explicit ParametersInstance(const ModelConfig& config) : config_(config) {}
  ExecutionTimes execute(std::span<const std::shared_ptr<Execution>> batch) override {
    const int64_t begin_ns = now_ns();
    for (const std::shared_ptr<Execution>& one : batch) {
      const std::string text = parameters_text(one->request().parameters);
      const auto length = static_cast<uint32_t>(text.size());
      std::string bytes(reinterpret_cast<const char*>(&length), sizeof length);
      bytes += text;
      InferResponse response;
      response.outputs.push_back(tensor_of(config_.outputs[0].name, InferType::kBytes, {1}, std::move(bytes)));
      one->send(std::move(response));
    }
    return {.input_end_ns = begin_ns, .infer_end_ns = now_ns()};
  }

 private:
  const ModelConfig& config_;
};

class ParametersModel final : public BackendModel {
 public:
  explicit ParametersModel(ModelConfig config) : config_(std::move(config)) {}
  Result<std::unique_ptr<BackendInstance>> make_instance(const std::string&) override {
    return std::unique_ptr<BackendInstance>(std::make_unique<ParametersInstance>(config_));
  }

 private:
  const ModelConfig config_;
};

class ParametersBackend final : public Backend {
 public:
  Result<ConfigCompletion> complete(const ModelConfig&, const ModelPlace&) override { return ConfigCompletion{}; }
  Result<std::unique_ptr<BackendModel>> open(const ModelConfig& config, const ModelPlace&) override {
    if (config.outputs.size() != 1 || config.outputs[0].type != InferType::kBytes || config.max_batch_size != 0)
      return invalid_argument(
          "a model of the backend 'parameters' has one output of TYPE_STRING and no batches; '{}' is "
          "different",
          config.name);
    return std::unique_ptr<BackendModel>(std::make_unique<ParametersModel>(config));
  }
};

}  // namespace

std::unique_ptr<Backend> make_parameters_backend() {
  return std::make_unique<ParametersBackend>();
}

}  // namespace nereid::server
