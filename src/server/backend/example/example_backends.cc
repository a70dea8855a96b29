// SPDX-License-Identifier: Apache-2.0
#include "server/backend/example/example_backends.h"

#include <cstring>
#include <functional>
#include <unordered_map>

#include "base/clock.h"

namespace nereid::server {
namespace {

// What a model does with one request; it answers.
using Answer = std::function<void(const ModelConfig& config, Execution& one)>;
using MakeAnswer = std::function<Answer()>;  // one an instance

class ExampleInstance final : public BackendInstance {
 public:
  ExampleInstance(const ModelConfig& config, Answer answer) : config_(config), answer_(std::move(answer)) {}
  ExecutionTimes execute(std::span<const std::shared_ptr<Execution>> batch) override {
    const int64_t begin_ns = now_ns();
    for (const std::shared_ptr<Execution>& one : batch) answer_(config_, *one);
    return {.input_end_ns = begin_ns, .infer_end_ns = now_ns()};
  }

 private:
  const ModelConfig& config_;
  const Answer answer_;
};

class ExampleModel final : public BackendModel {
 public:
  ExampleModel(ModelConfig config, MakeAnswer make) : config_(std::move(config)), make_(std::move(make)) {}
  Result<std::unique_ptr<BackendInstance>> make_instance(const std::string&) override {
    return std::unique_ptr<BackendInstance>(std::make_unique<ExampleInstance>(config_, make_()));
  }

 private:
  const ModelConfig config_;
  const MakeAnswer make_;
};

class ExampleBackend final : public Backend {
 public:
  ExampleBackend(InferType type, MakeAnswer make) : type_(type), make_(std::move(make)) {}
  Result<ConfigCompletion> complete(const ModelConfig&, const ModelPlace&) override { return ConfigCompletion{}; }
  Result<std::unique_ptr<BackendModel>> open(const ModelConfig& config, const ModelPlace&) override {
    if (config.inputs.size() != 1 || config.outputs.size() != 1 || config.inputs[0].type != type_ ||
        config.outputs[0].type != type_)
      return invalid_argument("a model of the backend '{}' has one input and one output of {}; '{}' is different",
                              config.backend, infer_type_info(type_).config_name, config.name);
    return std::unique_ptr<BackendModel>(std::make_unique<ExampleModel>(config, make_));
  }

 private:
  const InferType type_;
  const MakeAnswer make_;
};

// The first element of an input; 0 where there is none.
template <typename T>
T first_of(const InferTensor* input) {
  T value{};
  if (input != nullptr && input->bytes.size() >= sizeof value) std::memcpy(&value, input->bytes.data(), sizeof value);
  return value;
}

InferResponse number_response(const ModelConfig& config, int32_t value) {
  InferResponse response;
  std::vector<int64_t> shape = config.outputs[0].dims;
  if (config.max_batch_size > 0) shape.insert(shape.begin(), 1);
  response.outputs.push_back(
      tensor_of(config.outputs[0].name, InferType::kInt32, std::move(shape), std::vector<int32_t>{value}));
  return response;
}

void count(const ModelConfig& config, Execution& one) {
  const auto n = first_of<int32_t>(one.input(config.inputs[0].name));
  for (int32_t i = 0; i < n && !one.request().is_cancelled(); ++i) {
    InferResponse response = number_response(config, i);
    response.is_final = false;
    one.send(std::move(response));
  }
  InferResponse last;
  last.is_empty = true;
  one.send(std::move(last));
}

void fail(const ModelConfig& config, Execution& one) {
  InferResponse response;
  response.status =
      first_of<float>(one.input(config.inputs[0].name)) == 1.0f
          ? internal("Failed to process the request(s) for model '{}_0_0', message: deliberate failure", config.name)
          : invalid_argument("deliberate response error");
  one.send(std::move(response));
}

Answer make_accumulate() {
  auto sums = std::make_shared<std::unordered_map<uint64_t, int32_t>>();
  return [sums](const ModelConfig& config, Execution& one) {
    int32_t& sum = (*sums)[first_of<uint64_t>(one.input("CORRID"))];
    if (first_of<int32_t>(one.input("START")) != 0) sum = 0;
    // Sums that overflow wrap.
    sum = static_cast<int32_t>(static_cast<uint32_t>(sum) +
                               static_cast<uint32_t>(first_of<int32_t>(one.input(config.inputs[0].name))));
    one.send(number_response(config, sum));
  };
}

// How often an instance has run, and what it saw first.
Answer make_tally() {
  struct Tally {
    int32_t requests = 0, first = 0;
  };
  return [tally = std::make_shared<Tally>()](const ModelConfig& config, Execution& one) {
    const InferTensor* input = one.input(config.inputs[0].name);
    if (tally->requests++ == 0) tally->first = first_of<int32_t>(input);
    const std::vector<int32_t> row = {tally->requests, tally->first,
                                      static_cast<int32_t>(input == nullptr ? 0 : element_count(input->shape)),
                                      first_of<int32_t>(input)};
    InferResponse response;
    std::vector<int32_t> values;
    for (int64_t i = 0; i < one.batch(); ++i) values.insert(values.end(), row.begin(), row.end());
    std::vector<int64_t> shape = {static_cast<int64_t>(row.size())};
    if (config.max_batch_size > 0) shape.insert(shape.begin(), one.batch());
    response.outputs.push_back(
        tensor_of(config.outputs[0].name, InferType::kInt32, std::move(shape), std::move(values)));
    one.send(std::move(response));
  };
}

void count_down(const ModelConfig& config, Execution& one) {
  if (!config.sequence_batching || config.sequence_batching->states.size() != 1) {
    InferResponse refusal;
    refusal.status = invalid_argument("a model of the backend 'countdown' has sequence_batching with one state");
    return one.send(std::move(refusal));
  }
  const SequenceState& state = config.sequence_batching->states[0];
  const bool is_start = first_of<int32_t>(one.input("START")) != 0;
  const auto left = first_of<int32_t>(one.input(is_start ? config.inputs[0].name : state.input));
  if (config.is_decoupled) {
    InferResponse response = number_response(config, left);
    response.is_final = false;
    one.send(std::move(response));
  }
  std::vector<int64_t> shape(config.max_batch_size > 0 ? 2 : 1, 1);
  std::vector<InferTensor> states = {
      tensor_of(state.output, InferType::kInt32, std::move(shape), std::vector<int32_t>{left - 1})};
  if (left > 1 && one.run_again(std::move(states))) return;
  InferResponse last = config.is_decoupled ? InferResponse{} : number_response(config, left);
  last.is_empty = config.is_decoupled;
  one.send(std::move(last));
}

}  // namespace

std::unique_ptr<Backend> make_count_backend() {
  return std::make_unique<ExampleBackend>(InferType::kInt32, [] { return Answer(count); });
}

std::unique_ptr<Backend> make_fail_backend() {
  return std::make_unique<ExampleBackend>(InferType::kFp32, [] { return Answer(fail); });
}

std::unique_ptr<Backend> make_tally_backend() {
  return std::make_unique<ExampleBackend>(InferType::kInt32, make_tally);
}

std::unique_ptr<Backend> make_countdown_backend() {
  return std::make_unique<ExampleBackend>(InferType::kInt32, [] { return Answer(count_down); });
}

std::unique_ptr<Backend> make_accumulate_backend() {
  return std::make_unique<ExampleBackend>(InferType::kInt32, make_accumulate);
}

}  // namespace nereid::server
