// SPDX-License-Identifier: Apache-2.0
#include "server/trace/trace_record.h"

#include <algorithm>
#include <mutex>

#include "server/trace/tensor_text.h"

namespace nereid::server::trace {
namespace {

// The models of a trace as they end; written when the last has.
class Bundle {
 public:
  Bundle(std::string_view traceparent, RecordOptions given) : options(std::move(given)) {
    whole_.traceparent = traceparent;
  }
  ~Bundle() {
    std::sort(whole_.models.begin(), whole_.models.end(),
              [](const TracedModel& a, const TracedModel& b) { return a.id < b.id; });
    options.sink->write(std::move(whole_));
  }
  void take(TracedModel model) {
    const std::lock_guard lock(mutex_);
    whole_.models.push_back(std::move(model));
  }

  const RecordOptions options;

 private:
  std::mutex mutex_;
  FinishedTrace whole_;
};

class Record final : public RequestTrace {
 public:
  Record(std::shared_ptr<Bundle> bundle, std::string_view model, int64_t version, std::string_view request,
         uint64_t parent)
      : bundle_(std::move(bundle)) {
    model_.id = bundle_->options.ids->fetch_add(1, std::memory_order_relaxed) + 1;
    model_.parent_id = parent;
    model_.model = model;
    model_.version = version;
    model_.request_id = request;
  }
  ~Record() override { bundle_->take(std::move(model_)); }

  void mark(TraceMark mark, int64_t at_ns) override {
    if (mark == TraceMark::kResponseComplete && model_.parent_id != 0) return;  // only a client's response counts
    const std::lock_guard lock(mutex_);
    model_.marks[static_cast<size_t>(mark)] = at_ns;
  }
  bool wants_tensors() const override { return bundle_->options.has_tensors; }
  void tensor(TraceTensor where, const InferTensor& tensor) override {
    if (!wants_tensors()) return;
    TracedTensor text = describe(where, tensor);
    const std::lock_guard lock(mutex_);
    model_.tensors.push_back(std::move(text));
  }
  std::shared_ptr<RequestTrace> child(std::string_view model, int64_t version, std::string_view request) override {
    return std::make_shared<Record>(bundle_, model, version, request, model_.id);
  }

 private:
  const std::shared_ptr<Bundle> bundle_;
  std::mutex mutex_;
  TracedModel model_;
};

constexpr std::string_view kMarkNames[] = {
    "HTTP_RECV_START",      "HTTP_RECV_END", "GRPC_WAITREAD_START",     "GRPC_WAITREAD_END",
    "REQUEST_START",        "QUEUE_START",   "COMPUTE_START",           "COMPUTE_INPUT_END",
    "COMPUTE_OUTPUT_START", "COMPUTE_END",   "INFER_RESPONSE_COMPLETE", "REQUEST_END",
    "HTTP_SEND_START",      "HTTP_SEND_END", "GRPC_SEND_START",         "GRPC_SEND_END"};
static_assert(std::size(kMarkNames) == static_cast<size_t>(TraceMark::kCount));

constexpr std::string_view kTensorNames[] = {"TENSOR_QUEUE_INPUT", "TENSOR_BACKEND_INPUT", "TENSOR_BACKEND_OUTPUT"};

}  // namespace

std::string_view mark_name(TraceMark mark) {
  return kMarkNames[static_cast<size_t>(mark)];
}

std::string_view tensor_name(TraceTensor where) {
  return kTensorNames[static_cast<size_t>(where)];
}

std::shared_ptr<RequestTrace> make_record(const TracedRequest& request, RecordOptions options) {
  auto bundle = std::make_shared<Bundle>(request.traceparent, std::move(options));
  return std::make_shared<Record>(std::move(bundle), request.model, request.version, request.request_id, 0);
}

}  // namespace nereid::server::trace
