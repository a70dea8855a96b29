// SPDX-License-Identifier: Apache-2.0
#include "server/backend/ensemble/ensemble_model.h"

#include <algorithm>
#include <mutex>
#include <set>

#include "base/checksum.h"
#include "base/clock.h"
#include "server/backend/ensemble/ensemble_check.h"
#include "server/core/infer_check.h"
#include "server/core/model_meter.h"
#include "server/core/running_count.h"

namespace nereid::server {
namespace {

struct Shared {
  ModelConfig config;
  const InferModels* models = nullptr;
  ModelMeter meter;
  RunningCount running;
};

// One request on its way through the steps.
class Run : public std::enable_shared_from_this<Run> {
 public:
  Run(std::shared_ptr<Shared> shared, InferRequest request, InferSink sink, int64_t batch)
      : shared_(std::move(shared)),
        request_(std::move(request)),
        sink_(std::move(sink)),
        batch_(batch),
        begin_ns_(now_ns()),
        is_issued_(shared_->config.steps.size(), true) {
    for (InferTensor& input : request_.inputs) {
      const std::string name = input.name;
      tensors_.emplace(name, std::move(input));
    }
    request_.inputs.clear();
    if (request_.trace != nullptr) {
      request_.trace->mark(TraceMark::kRequestStart, begin_ns_);
      request_.trace->mark(TraceMark::kQueueStart, begin_ns_);
      if (request_.trace->wants_tensors())
        for (const auto& [name, tensor] : tensors_) request_.trace->tensor(TraceTensor::kQueueInput, tensor);
    }
    std::set<std::string> wanted(request_.outputs.begin(), request_.outputs.end());
    if (wanted.empty())
      for (const TensorConfig& output : shared_->config.outputs) wanted.insert(output.name);
    outputs_ = wanted;
    need(wanted);
  }

  // Issues every step whose inputs are there. A step may answer before this returns.
  void advance() {
    std::vector<size_t> ready;
    bool is_done = false;
    {
      const std::lock_guard lock(mutex_);
      if (is_over_) return;
      for (size_t i = 0; i < is_issued_.size(); ++i)
        if (!is_issued_[i] && has_inputs(shared_->config.steps[i])) {
          is_issued_[i] = true;
          ready.push_back(i);
        }
      is_done =
          std::all_of(outputs_.begin(), outputs_.end(), [&](const auto& name) { return tensors_.contains(name); });
    }
    if (is_done) return finish(Status::ok());
    for (const size_t i : ready) issue(shared_->config.steps[i]);
  }

 private:
  // Marks the steps that the tensors are made by, and those that these need.
  void need(const std::set<std::string>& names) {
    for (size_t i = 0; i < shared_->config.steps.size(); ++i) {
      const EnsembleStep& step = shared_->config.steps[i];
      const bool makes_one = std::any_of(step.outputs.begin(), step.outputs.end(),
                                         [&](const auto& output) { return names.contains(output.second); });
      if (!makes_one || !is_issued_[i]) continue;
      is_issued_[i] = false;
      std::set<std::string> inputs;
      for (const auto& [input, tensor] : step.inputs) inputs.insert(tensor);
      need(inputs);
    }
  }

  // An input of the ensemble that was not given is optional, and so for the step.
  bool is_left_out(const std::string& tensor) const {
    if (tensors_.contains(tensor)) return false;
    const auto& inputs = shared_->config.inputs;
    return std::any_of(inputs.begin(), inputs.end(), [&](const TensorConfig& one) { return one.name == tensor; });
  }

  bool has_inputs(const EnsembleStep& step) const {
    return std::all_of(step.inputs.begin(), step.inputs.end(),
                       [&](const auto& input) { return tensors_.contains(input.second) || is_left_out(input.second); });
  }

  void issue(const EnsembleStep& step) {
    if (request_.is_cancelled()) return finish(cancelled("{}the request was cancelled", request_mark(request_.id)));
    const auto model = shared_->models->find(step.model, step.version);
    if (!model.is_ok()) return finish(model.status());
    InferRequest request;
    request.id = request_.id;
    request.parameters = request_.parameters;
    request.sequence = request_.sequence;
    request.priority = request_.priority;
    request.timeout_us = request_.timeout_us;
    request.cancelled = request_.cancelled;
    if (request_.trace != nullptr) request.trace = request_.trace->child(step.model, (*model)->version(), request_.id);
    {
      const std::lock_guard lock(mutex_);
      if (is_over_) return;  // another step has failed meanwhile
      for (const auto& [input, tensor] : step.inputs) {
        const auto it = tensors_.find(tensor);
        if (it == tensors_.end()) continue;
        request.inputs.push_back(it->second);
        request.inputs.back().name = input;
      }
    }
    for (const auto& [output, tensor] : step.outputs) request.outputs.push_back(output);
    const Status status =
        (*model)->infer(std::move(request), [run = shared_from_this(), &step, held = *model](InferResponse&& response) {
          run->take(step, std::move(response));
        });
    if (!status.is_ok()) finish(status);
  }

  void take(const EnsembleStep& step, InferResponse&& response) {
    if (!response.status.is_ok()) return finish(response.status);
    std::string missing;
    {
      const std::lock_guard lock(mutex_);
      for (InferTensor& output : response.outputs)
        if (const auto it = step.outputs.find(output.name); it != step.outputs.end()) {
          output.name = it->second;
          tensors_[it->second] = std::move(output);
        }
      for (const auto& [output, tensor] : step.outputs)
        if (!is_over_ && !tensors_.contains(tensor)) missing = tensor;
    }
    if (!missing.empty())
      return finish(
          internal("in ensemble '{}', the step '{}' gave no tensor '{}'", shared_->config.name, step.model, missing));
    advance();
  }

  void finish(Status status) {
    InferResponse response;
    {
      const std::lock_guard lock(mutex_);
      if (is_over_) return;
      is_over_ = true;
      response.status = status;
      if (status.is_ok())
        for (const TensorConfig& output : shared_->config.outputs)
          if (outputs_.contains(output.name)) response.outputs.push_back(std::move(tensors_[output.name]));
      tensors_.clear();
    }
    const int64_t end_ns = now_ns();
    const auto items = std::max<int64_t>(1, batch_);
    if (status.is_ok()) {
      shared_->meter.add_execution(
          items, 1, {.begin_ns = begin_ns_, .input_end_ns = begin_ns_, .infer_end_ns = end_ns, .end_ns = end_ns});
      shared_->meter.add_success(items, request_.arrival_ns, begin_ns_, end_ns);
      response.parameters = {{"sequence_id", static_cast<int64_t>(request_.sequence.id)},
                             {"sequence_start", request_.sequence.is_start},
                             {"sequence_end", request_.sequence.is_end}};
    } else {
      shared_->meter.add_failure(
          status.code() == StatusCode::kCancelled ? InferFailure::kCancelled : InferFailure::kOther,
          request_.arrival_ns, end_ns);
    }
    const std::shared_ptr<RequestTrace> trace = request_.trace;
    if (trace != nullptr) {
      if (trace->wants_tensors())
        for (const InferTensor& output : response.outputs) trace->tensor(TraceTensor::kBackendOutput, output);
      trace->mark(TraceMark::kResponseComplete, end_ns);
    }
    const InferSink sink = std::move(sink_);
    sink(std::move(response));
    if (trace != nullptr) trace->mark(TraceMark::kRequestEnd, now_ns());
    shared_->running.end();
  }

  const std::shared_ptr<Shared> shared_;
  InferRequest request_;
  InferSink sink_;
  const int64_t batch_, begin_ns_;
  std::mutex mutex_;
  std::map<std::string, InferTensor> tensors_;
  std::set<std::string> outputs_;
  std::vector<bool> is_issued_;  // or not needed
  bool is_over_ = false;
};

class EnsembleModel final : public InferModel {
 public:
  explicit EnsembleModel(EnsembleParts parts) : parts_(std::move(parts)), shared_(std::make_shared<Shared>()) {
    shared_->config = parts_.config;
    shared_->models = parts_.models;
  }
  const ModelConfig& config() const override { return shared_->config; }
  int64_t version() const override { return parts_.version; }
  const std::string& config_json() const override { return parts_.json; }
  const std::vector<std::string>& labels(std::string_view output) const override {
    static const std::vector<std::string> kNone;
    for (size_t i = 0; i < parts_.config.outputs.size() && i < parts_.labels.size(); ++i)
      if (parts_.config.outputs[i].name == output) return parts_.labels[i];
    return kNone;
  }

  Status infer(InferRequest request, InferSink sink) override {
    int64_t batch = 1;
    NEREID_RETURN_IF_ERROR(check_request(shared_->config, &request, &batch));
    if (request.arrival_ns == 0) request.arrival_ns = now_ns();
    if (!shared_->running.begin())
      return unavailable("{}the model is being unloaded and takes no more requests", request_mark(request.id));
    std::make_shared<Run>(shared_, std::move(request), std::move(sink), batch)->advance();
    return Status::ok();
  }

  // Its members' answers are its own.
  uint64_t content_mark() const override {
    uint64_t mark = xxhash64(parts_.json);
    for (const EnsembleStep& step : shared_->config.steps)
      if (const auto model = shared_->models->find(step.model, step.version); model.is_ok())
        mark = mark * 31 + (*model)->content_mark();
    return mark;
  }

  InferStatistics statistics() const override { return shared_->meter.read(); }
  bool is_ready() const override {
    return shared_->running.takes() &&
           std::all_of(shared_->config.steps.begin(), shared_->config.steps.end(), [this](const EnsembleStep& step) {
             return shared_->models->find(step.model, step.version).is_ok();
           });
  }
  void drain() override { shared_->running.drain(); }

 private:
  const EnsembleParts parts_;
  const std::shared_ptr<Shared> shared_;
};

}  // namespace

Result<std::shared_ptr<InferModel>> make_ensemble(EnsembleParts parts) {
  NEREID_RETURN_IF_ERROR(
      check_ensemble(parts.config, [&](const std::string& model, int64_t version) -> Result<ModelConfig> {
        NEREID_TRY(const std::shared_ptr<InferModel> found, parts.models->find(model, version));
        return found->config();
      }));
  return std::shared_ptr<InferModel>(std::make_shared<EnsembleModel>(std::move(parts)));
}

}  // namespace nereid::server
