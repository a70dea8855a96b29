// SPDX-License-Identifier: Apache-2.0
#include "server/cache/cached_model.h"

#include <algorithm>

#include "base/clock.h"
#include "server/cache/cache_key.h"
#include "server/cache/equal_requests.h"
#include "server/core/infer_check.h"
#include "server/core/model_meter.h"
#include "server/core/running_count.h"

namespace nereid::server {
namespace {

struct Pending;

// What requests on their way hold on to, whatever becomes of the model.
struct Shared {
  std::shared_ptr<InferModel> model;
  std::shared_ptr<ResponseCache> cache;
  ModelMeter meter;
  RunningCount running;
  EqualRequests<Pending> equals;
};

// A request that the cache was asked about.
struct Pending {
  std::shared_ptr<Shared> shared;
  InferRequest request;
  InferSink sink;
  std::string key;
  bool may_wait = true;  // for the answer to an equal request
  int64_t arrival_ns = 0, begin_ns = 0, found_ns = 0;

  void answer(InferResponse&& response) {
    // The sink may be the last to hold the model, whose end waits for this request's.
    const InferSink last = std::move(sink);
    last(std::move(response));
    shared->running.end();
  }
};

void take_hit(Pending& pending, const std::shared_ptr<const CachedResponse>& found) {
  const int64_t end_ns = now_ns();
  if (const std::shared_ptr<RequestTrace> trace = pending.request.trace) {
    trace->mark(TraceMark::kRequestStart, pending.begin_ns);
    trace->mark(TraceMark::kResponseComplete, end_ns);
    trace->mark(TraceMark::kRequestEnd, end_ns);
  }
  pending.shared->meter.add_cache_hit(
      {.arrival_ns = pending.arrival_ns, .begin_ns = pending.begin_ns, .end_ns = end_ns});
  pending.answer(CachedResponse::response(found));
}

void take_miss(const std::shared_ptr<Pending>& pending);

// Those that waited for the answer get it; where it was an error, which is nobody else's, they run after all.
void end_first(const std::shared_ptr<Pending>& first, const std::shared_ptr<const CachedResponse>& kept) {
  if (!first->may_wait) return;
  for (const std::shared_ptr<Pending>& one : first->shared->equals.end(first->key)) {
    if (kept != nullptr) {
      take_hit(*one, kept);
    } else {
      take_miss(one);
    }
  }
}

void take_miss(const std::shared_ptr<Pending>& pending) {
  const std::shared_ptr<Shared> shared = pending->shared;
  if (pending->may_wait && shared->equals.join(pending->key, pending)) return;
  pending->found_ns = now_ns();
  const Status status = shared->model->infer(std::move(pending->request), [pending](InferResponse&& response) {
    if (!response.is_final) return pending->sink(std::move(response));
    const int64_t begin_ns = now_ns();
    const std::shared_ptr<const CachedResponse> kept = CachedResponse::copy_of(response);
    if (kept != nullptr) {
      pending->shared->cache->insert(pending->key, kept);
      pending->shared->meter.add_cache_miss(pending->found_ns - pending->begin_ns + now_ns() - begin_ns);
    }
    end_first(pending, kept);
    pending->answer(std::move(response));
  });
  if (status.is_ok()) return;
  end_first(pending, nullptr);
  pending->answer({.status = status, .outputs = {}, .parameters = {}, .is_empty = true});
}

class CachedModel final : public InferModel {
 public:
  CachedModel(std::shared_ptr<InferModel> model, std::shared_ptr<ResponseCache> cache)
      : shared_(std::make_shared<Shared>()) {
    shared_->model = std::move(model);
    shared_->cache = std::move(cache);
  }

  const ModelConfig& config() const override { return shared_->model->config(); }
  int64_t version() const override { return shared_->model->version(); }
  const std::string& config_json() const override { return shared_->model->config_json(); }
  const std::vector<std::string>& labels(std::string_view output) const override {
    return shared_->model->labels(output);
  }
  uint64_t content_mark() const override { return shared_->model->content_mark(); }
  std::shared_ptr<TextModel> text() const override { return shared_->model->text(); }

  Status infer(InferRequest request, InferSink sink) override {
    int64_t batch = 1;
    // The order of the inputs must not matter, and what is wrong is told before it is looked for.
    NEREID_RETURN_IF_ERROR(check_request(config(), &request, &batch));
    if (!shared_->running.begin())
      return unavailable("{}the model is being unloaded and takes no more requests", request_mark(request.id));
    if (request.arrival_ns == 0) request.arrival_ns = now_ns();
    const auto pending = std::make_shared<Pending>();
    pending->shared = shared_;
    pending->arrival_ns = request.arrival_ns;
    pending->begin_ns = now_ns();
    pending->key = cache_key(*shared_->model, request);
    // What is to be answered by a time, or before others, has a place of its own in the queue.
    pending->may_wait = request.timeout_us == 0 && request.priority == 0;
    pending->request = std::move(request);
    pending->sink = std::move(sink);
    shared_->cache->find(pending->key, [pending](std::shared_ptr<const CachedResponse> found) {
      found != nullptr ? take_hit(*pending, found) : take_miss(pending);
    });
    return Status::ok();
  }

  InferStatistics statistics() const override {
    InferStatistics out = shared_->model->statistics();
    const InferStatistics own = shared_->meter.read();
    out.success.count += own.success.count, out.success.ns += own.success.ns;
    out.queue.count += own.queue.count, out.queue.ns += own.queue.ns;
    out.cache_hit = own.cache_hit, out.cache_miss = own.cache_miss;
    out.last_inference_ms = std::max(out.last_inference_ms, own.last_inference_ms);
    for (size_t i = 0; i < out.latencies.size(); ++i) out.latencies[i].add(own.latencies[i]);
    out.has_cache = true;
    return out;
  }
  bool is_ready() const override { return shared_->running.takes() && shared_->model->is_ready(); }
  void drain() override {
    shared_->running.drain();
    shared_->model->drain();
  }

 private:
  const std::shared_ptr<Shared> shared_;
};

}  // namespace

std::shared_ptr<InferModel> make_cached_model(std::shared_ptr<InferModel> model, std::shared_ptr<ResponseCache> cache) {
  return std::make_shared<CachedModel>(std::move(model), std::move(cache));
}

}  // namespace nereid::server
