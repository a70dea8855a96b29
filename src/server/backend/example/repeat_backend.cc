// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/clock.h"
#include "server/backend/example/example_backends.h"

namespace nereid::server {
namespace {

constexpr uint32_t kMostDelayMs = 60'000;  // a longer one would hold the instance for as long as a client likes
constexpr int64_t kNsOfMs = 1'000'000;

template <typename T>
std::vector<T> values_of(const InferTensor* input) {
  std::vector<T> values;
  if (input == nullptr) return values;
  values.resize(input->bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), input->bytes.data(), values.size() * sizeof(T));
  return values;
}

// Looks now and then whether anybody still waits.
void sleep_until(int64_t at_ns, const Execution& one) {
  for (int64_t left = at_ns - now_ns(); left > 0 && !one.request().is_cancelled(); left = at_ns - now_ns())
    std::this_thread::sleep_for(std::chrono::nanoseconds(std::min<int64_t>(left, 10 * kNsOfMs)));
}

class RepeatInstance final : public BackendInstance {
 public:
  ExecutionTimes execute(std::span<const std::shared_ptr<Execution>> batch) override {
    const int64_t begin_ns = now_ns();
    for (const std::shared_ptr<Execution>& one : batch) repeat(*one, now_ns());
    return {.input_end_ns = begin_ns, .infer_end_ns = now_ns()};
  }

 private:
  static void repeat(Execution& one, int64_t begin_ns) {
    const auto values = values_of<int32_t>(one.input("IN"));
    const auto delays = values_of<uint32_t>(one.input("DELAY"));
    const auto waits = values_of<uint32_t>(one.input("WAIT"));
    if (const Status status = check(values, delays, waits); !status.is_ok()) {
      InferResponse response;
      response.status = status;
      return one.send(std::move(response));
    }
    int64_t at_ns = begin_ns;
    for (size_t i = 0; i < values.size() && !one.request().is_cancelled(); ++i) {
      at_ns += delays[i] * kNsOfMs;
      sleep_until(at_ns, one);
      InferResponse response;
      if (one.wants("OUT"))
        response.outputs.push_back(tensor_of("OUT", InferType::kInt32, {1}, std::vector<int32_t>{values[i]}));
      if (one.wants("IDX"))
        response.outputs.push_back(
            tensor_of("IDX", InferType::kUint32, {1}, std::vector<uint32_t>{static_cast<uint32_t>(i)}));
      response.is_final = false;
      one.send(std::move(response));
    }
    if (!waits.empty()) sleep_until(begin_ns + waits[0] * kNsOfMs, one);
    InferResponse last;
    last.is_empty = true;
    one.send(std::move(last));
  }

  static Status check(const std::vector<int32_t>& values, const std::vector<uint32_t>& delays,
                      const std::vector<uint32_t>& waits) {
    if (values.size() != delays.size())
      return invalid_argument("IN has {} numbers and DELAY {}; each number has a delay", values.size(), delays.size());
    for (const auto* times : {&delays, &waits})
      for (const uint32_t ms : *times)
        if (ms > kMostDelayMs)
          return invalid_argument("a delay of {} ms is longer than the {} that are waited", ms, kMostDelayMs);
    return Status::ok();
  }
};

class RepeatModel final : public BackendModel {
 public:
  Result<std::unique_ptr<BackendInstance>> make_instance(const std::string&) override {
    return std::unique_ptr<BackendInstance>(std::make_unique<RepeatInstance>());
  }
};

class RepeatBackend final : public Backend {
 public:
  Result<ConfigCompletion> complete(const ModelConfig&, const ModelPlace&) override { return ConfigCompletion{}; }
  Result<std::unique_ptr<BackendModel>> open(const ModelConfig& config, const ModelPlace&) override {
    const auto has = [](const std::vector<TensorConfig>& tensors, std::string_view name, InferType type) {
      return std::any_of(tensors.begin(), tensors.end(),
                         [&](const TensorConfig& one) { return one.name == name && one.type == type; });
    };
    if (!config.is_decoupled || config.max_batch_size > 0 || !has(config.inputs, "IN", InferType::kInt32) ||
        !has(config.inputs, "DELAY", InferType::kUint32) || !has(config.inputs, "WAIT", InferType::kUint32) ||
        !has(config.outputs, "OUT", InferType::kInt32))
      return invalid_argument(
          "a model of the backend 'repeat' is decoupled, without a batch dimension, and has the inputs IN "
          "(TYPE_INT32), "
          "DELAY and WAIT (TYPE_UINT32) and the outputs OUT (TYPE_INT32) and IDX (TYPE_UINT32); '{}' is different",
          config.name);
    return std::unique_ptr<BackendModel>(std::make_unique<RepeatModel>());
  }
};

}  // namespace

std::unique_ptr<Backend> make_repeat_backend() {
  return std::make_unique<RepeatBackend>();
}

}  // namespace nereid::server
