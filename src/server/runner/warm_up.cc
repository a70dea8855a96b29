// SPDX-License-Identifier: Apache-2.0
#include "server/runner/warm_up.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <random>

#include "base/clock.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "server/core/infer_check.h"
#include "server/runner/control_inputs.h"
#include "server/runner/sequence_states.h"
#include "server/runner/ticket.h"

namespace nereid::server {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 30;         // of one input
constexpr int64_t kSilenceNs = int64_t{10'000'000'000};  // then how far it is

template <typename T>
void put_random(std::mt19937& random, std::string* out) {
  for (size_t at = 0; at + sizeof(T) <= out->size(); at += sizeof(T)) {
    T value;
    if constexpr (std::is_floating_point_v<T>) {
      value = std::uniform_real_distribution<T>(0, 1)(random);
    } else {
      value = static_cast<T>(random());
    }
    std::memcpy(out->data() + at, &value, sizeof value);
  }
}

// Numbers that are the same each time. Halves stay below 1: other bits could be infinite.
void fill_random(InferType type, std::string* out) {
  std::mt19937 random(1);
  switch (type) {
    case InferType::kFp32:
      return put_random<float>(random, out);
    case InferType::kFp64:
      return put_random<double>(random, out);
    case InferType::kFp16:
    case InferType::kBf16:
      for (size_t at = 0; at + 2 <= out->size(); at += 2) {
        const auto value = static_cast<uint16_t>(random() % 0x3800);
        std::memcpy(out->data() + at, &value, sizeof value);
      }
      return;
    case InferType::kBool:
      for (char& one : *out) one = static_cast<char>(random() % 2);
      return;
    case InferType::kBytes:  // lengths: texts stay empty
      return;
    default:
      return put_random<uint8_t>(random, out);
  }
}

Result<InferTensor> make_input(const WarmupInput& input, bool has_batch, const std::string& folder) {
  std::vector<int64_t> shape = input.dims;
  const int64_t elements = element_count(shape);
  if (has_batch) shape.insert(shape.begin(), 1);
  const int64_t width = input.type == InferType::kBytes ? 4 : infer_type_info(input.type).bytes;
  if (elements < 0)
    return invalid_argument("the warm-up input '{}' has the dims {}; give sizes, without -1", input.name,
                            shape_text(input.dims));
  if (width == 0) return invalid_argument("the warm-up input '{}' must specify 'data_type'", input.name);
  if (elements > kMostBytes / width)
    return invalid_argument("the warm-up input '{}' of the shape {} is larger than {} bytes; give smaller sizes",
                            input.name, shape_text(shape), kMostBytes);
  std::string bytes(static_cast<size_t>(elements * width), '\0');
  if (input.data == WarmupData::kRandom) fill_random(input.type, &bytes);
  if (input.data == WarmupData::kFile) {
    if (input.file.find("..") != std::string::npos || input.file.starts_with('/'))
      return invalid_argument("the warm-up file '{}' would lie outside of the folder warmup", input.file);
    NEREID_TRY(bytes, read_file(folder + "/warmup/" + input.file, static_cast<size_t>(kMostBytes))
                          .with("the warm-up input '" + input.name + "'"));
  }
  return tensor_of(input.name, input.type, std::move(shape), std::move(bytes));
}

// Of a sequence that is this one request.
std::vector<InferTensor> sequence_inputs(const ModelConfig& config, const SequenceStates& states) {
  const bool has_batch = config.max_batch_size > 0;
  std::vector<InferTensor> out =
      control_inputs(*config.sequence_batching, {.id = 1, .text_id = {}, .is_start = true, .is_end = true}, has_batch);
  for (InferTensor& state : states.initial()) out.push_back(std::move(state));
  return out;
}

Result<WarmupBatch> prepare(const ModelConfig& config, const WarmupSample& sample, const std::string& folder) {
  const bool has_batch = config.max_batch_size > 0;
  WarmupBatch out{.model = config.name,
                  .name = sample.name,
                  .count = sample.count,
                  .requests = has_batch ? std::max(1u, sample.batch) : 1u,
                  .request = {},
                  .more_inputs = {}};
  if (has_batch && sample.batch > static_cast<uint32_t>(config.max_batch_size))
    return invalid_argument("batch_size is {}, but the model takes at most {}", sample.batch, config.max_batch_size);
  if (config.sequence_batching) {
    NEREID_TRY(const SequenceStates states, SequenceStates::open(config, folder));
    out.more_inputs = sequence_inputs(config, states);
  }
  for (const WarmupInput& input : sample.inputs) {
    NEREID_TRY(InferTensor tensor, make_input(input, has_batch, folder));
    const auto more = std::find_if(out.more_inputs.begin(), out.more_inputs.end(),
                                   [&](const InferTensor& one) { return one.name == input.name; });
    if (more != out.more_inputs.end()) {
      *more = std::move(tensor);
    } else {
      out.request.inputs.push_back(std::move(tensor));
    }
  }
  int64_t batch = 1;
  NEREID_RETURN_IF_ERROR(check_request(config, &out.request, &batch));
  return out;
}

// What became of the requests of one execution. Held by them, whose thread may still be in it when the runner goes on.
struct Outcome {
  std::mutex mutex;
  std::condition_variable changed;
  uint32_t left = 0;
  Status first_error;

  void add(const Status& status) {
    const std::lock_guard lock(mutex);
    if (first_error.is_ok()) first_error = status;
    if (--left == 0) changed.notify_all();
  }
  Status wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return left == 0; });
    return first_error;
  }
};

Status run_once(const WarmupBatch& sample, BackendInstance& instance, ModelMeter& meter) {
  const auto outcome = std::make_shared<Outcome>();
  outcome->left = sample.requests;
  ModelMeter::Spans spans{.begin_ns = now_ns()};
  std::vector<std::shared_ptr<Execution>> batch;
  for (uint32_t i = 0; i < sample.requests; ++i) {
    InferRequest request = sample.request;
    request.arrival_ns = spans.begin_ns;
    auto ticket = std::make_shared<Ticket>(std::move(request), nullptr, 1,
                                           [outcome](const Ticket&, const Status& status) { outcome->add(status); });
    ticket->set_more_inputs(sample.more_inputs);
    batch.push_back(std::move(ticket));
  }
  const ExecutionTimes times = instance.execute(batch);
  batch.clear();
  spans.input_end_ns = times.input_end_ns, spans.infer_end_ns = times.infer_end_ns;
  NEREID_RETURN_IF_ERROR(outcome->wait());
  spans.end_ns = now_ns();
  meter.add_execution(sample.requests, sample.requests, spans);
  for (uint32_t i = 0; i < sample.requests; ++i) meter.add_success(1, spans.begin_ns, spans.begin_ns, spans.end_ns);
  return Status::ok();
}

}  // namespace

Result<std::vector<WarmupBatch>> prepare_warm_up(const ModelConfig& config, const std::string& folder) {
  std::vector<WarmupBatch> out;
  for (const WarmupSample& sample : config.warmups) {
    NEREID_TRY(WarmupBatch one,
               prepare(config, sample, folder).with(fmt::format("the warm-up sample '{}'", sample.name)));
    out.push_back(std::move(one));
  }
  return out;
}

Status warm_up(const std::vector<WarmupBatch>& samples, BackendInstance& instance, ModelMeter& meter) {
  int64_t said_ns = now_ns();
  for (const WarmupBatch& sample : samples)
    for (uint32_t i = 0; i < sample.count; ++i) {
      if (interrupted()) return cancelled("interrupted while model '{}' was warming up", sample.model);
      if (now_ns() - said_ns > kSilenceNs) {
        said_ns = now_ns();
        log_info("model '{}' is warming up: run {} of {} of the sample '{}'", sample.model, i + 1, sample.count,
                 sample.name);
      }
      NEREID_RETURN_IF_ERROR(
          run_once(sample, instance, meter).with(fmt::format("failed to run warmup sample '{}'", sample.name)));
    }
  return Status::ok();
}

}  // namespace nereid::server
