// SPDX-License-Identifier: Apache-2.0
#include "server/runner/sequence_model.h"

#include <fmt/format.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "base/clock.h"
#include "server/batch/sequence_batcher.h"
#include "server/core/infer_check.h"
#include "server/core/model_meter.h"
#include "server/runner/control_inputs.h"
#include "server/runner/ticket.h"

namespace nereid::server {
namespace {

class SequenceModel final : public InferModel {
 public:
  SequenceModel(ServedParts parts, std::vector<std::unique_ptr<BackendInstance>> instances)
      : parts_(std::move(parts)), state_(std::make_shared<State>(parts_.config, std::move(instances))) {
    state_->meter.set_load_s(parts_.load_s);
    for (int i = 0; i < static_cast<int>(state_->instances.size()); ++i)
      threads_.emplace_back([state = state_, i] { state->work(i); });
  }
  ~SequenceModel() override {
    state_->stop();
    for (std::thread& thread : threads_)
      thread.get_id() == std::this_thread::get_id() ? thread.detach() : thread.join();
  }

  const ModelConfig& config() const override { return parts_.config; }
  int64_t version() const override { return parts_.version; }
  const std::string& config_json() const override { return parts_.json; }
  const std::vector<std::string>& labels(std::string_view output) const override { return labels_of(parts_, output); }

  Status infer(InferRequest request, InferSink sink) override {
    int64_t batch = 1;
    NEREID_RETURN_IF_ERROR(check_request(parts_.config, &request, &batch));
    if (batch != 1)
      return invalid_argument(
          "inference request to model '{}' must specify batch-size 1 due to requirements of sequence batcher",
          parts_.config.name);
    if (request.sequence.is_none())
      return invalid_argument("inference request to model '{}' must specify a non-zero or non-empty correlation ID",
                              parts_.config.name);
    if (request.arrival_ns == 0) request.arrival_ns = now_ns();
    const bool has_batch = parts_.config.max_batch_size > 0;
    for (InferTensor& one : control_inputs(*parts_.config.sequence_batching, request.sequence, has_batch))
      request.inputs.push_back(std::move(one));
    return state_->take(std::move(request), std::move(sink), parts_.config.name);
  }

  InferStatistics statistics() const override {
    InferStatistics out = state_->meter.read();
    out.pending = state_->waiting();
    return out;
  }
  bool is_ready() const override { return state_->takes_requests(); }
  void drain() override { state_->drain(); }

 private:
  struct State {
    State(const ModelConfig& config, std::vector<std::unique_ptr<BackendInstance>> made)
        : instances(std::move(made)),
          batcher({.instances = static_cast<int>(instances.size()),
                   .slots = std::max(1, config.max_batch_size),
                   .max_idle_ns = static_cast<int64_t>(
                       std::min<uint64_t>(config.sequence_batching->max_idle_us, uint64_t{1} << 50) * 1000)}) {}

    Status take(InferRequest request, InferSink sink, const std::string& model) {
      SequenceRequest asked{.ticket = 0,
                            .sequence = sequence_key(request.sequence),
                            .is_start = request.sequence.is_start,
                            .is_end = request.sequence.is_end,
                            .arrival_ns = request.arrival_ns};
      const std::string mark = request_mark(request.id);
      const std::string name =
          request.sequence.text_id.empty() ? std::to_string(request.sequence.id) : request.sequence.text_id;
      std::unique_lock lock(mutex);
      if (is_stopping) return unavailable("{}the model is being unloaded and takes no more requests", mark);
      batcher.reap(now_ns());
      asked.ticket = ++last_number;
      if (!batcher.add(asked))
        return invalid_argument(
            "inference request for sequence {} to model '{}' must specify the START flag on the first request of the "
            "sequence",
            name, model);
      auto ended = [this](const Ticket& ticket, const Status& status) { end(ticket, status); };
      tickets.emplace(asked.ticket, std::make_shared<Ticket>(std::move(request), std::move(sink), 1, std::move(ended)));
      ++running;
      lock.unlock();
      changed.notify_all();
      return Status::ok();
    }

    void work(int instance) {
      std::unique_lock lock(mutex);
      for (;;) {
        if (is_ended) return;
        batcher.reap(now_ns());
        const std::vector<SequenceBatcher::Step> steps = batcher.next(instance, now_ns());
        if (steps.empty()) {
          changed.wait_for(
              lock, std::chrono::nanoseconds(std::clamp<int64_t>(batcher.again_ns() - now_ns(), 0, 1'000'000'000)));
          continue;
        }
        std::vector<std::shared_ptr<Execution>> batch;
        for (const SequenceBatcher::Step& step : steps) {
          const auto it = tickets.find(step.ticket);
          if (it == tickets.end()) continue;  // was let go of
          it->second->begin_ns = now_ns();
          batch.push_back(std::move(it->second));
          tickets.erase(it);
        }
        lock.unlock();
        ModelMeter::Spans spans{.begin_ns = now_ns()};
        const ExecutionTimes times = instances[static_cast<size_t>(instance)]->execute(batch);
        batch.clear();
        spans.input_end_ns = times.input_end_ns, spans.infer_end_ns = times.infer_end_ns;
        spans.end_ns = now_ns();
        meter.add_execution(static_cast<int64_t>(steps.size()), static_cast<int64_t>(steps.size()), spans);
        lock.lock();
        batcher.done(instance, steps, now_ns());
        changed.notify_all();
      }
    }

    void end(const Ticket& ticket, const Status& status) {
      const int64_t end_ns = now_ns();
      if (status.is_ok()) {
        meter.add_success(1, ticket.request().arrival_ns, ticket.begin_ns, end_ns);
      } else {
        meter.add_failure(ticket.failure, ticket.request().arrival_ns, end_ns);
      }
      const std::lock_guard lock(mutex);
      if (--running == 0 && is_stopping) all_ended.notify_all();
    }

    // Requests of sequences that wait for a slot are let go of: what would free one may never come.
    void drain() {
      std::unordered_map<uint64_t, std::shared_ptr<Ticket>> dropped;
      std::unique_lock lock(mutex);
      is_stopping = true;
      all_ended.wait_for(lock, std::chrono::seconds(30), [this] { return running == 0; });
      dropped.swap(tickets);
      lock.unlock();
      for (auto& [number, ticket] : dropped)
        ticket->fail(
            unavailable("{}the model was unloaded before the request's turn came", request_mark(ticket->request().id)));
      dropped.clear();
      lock.lock();
      all_ended.wait(lock, [this] { return running == 0; });
    }

    void stop() {
      drain();
      {
        const std::lock_guard lock(mutex);
        is_ended = true;
      }
      changed.notify_all();
    }

    int64_t waiting() const {
      const std::lock_guard lock(mutex);
      return static_cast<int64_t>(batcher.waiting());
    }
    bool takes_requests() const {
      const std::lock_guard lock(mutex);
      return !is_stopping;
    }

    ModelMeter meter;
    mutable std::mutex mutex;
    std::condition_variable changed, all_ended;
    std::vector<std::unique_ptr<BackendInstance>> instances;
    SequenceBatcher batcher;
    std::unordered_map<uint64_t, std::shared_ptr<Ticket>> tickets;
    uint64_t last_number = 0;
    int64_t running = 0;
    bool is_stopping = false, is_ended = false;
  };

  ServedParts parts_;
  std::shared_ptr<State> state_;
  std::vector<std::thread> threads_;
};

}  // namespace

Result<std::shared_ptr<InferModel>> serve_sequence_model(ServedParts parts) {
  NEREID_TRY(std::vector<std::unique_ptr<BackendInstance>> instances, make_instances(parts));
  return std::shared_ptr<InferModel>(std::make_shared<SequenceModel>(std::move(parts), std::move(instances)));
}

}  // namespace nereid::server
