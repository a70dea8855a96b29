// SPDX-License-Identifier: Apache-2.0
#include "server/runner/served_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "base/clock.h"
#include "server/batch/dynamic_batcher.h"
#include "server/core/infer_check.h"
#include "server/core/model_meter.h"
#include "server/core/running_count.h"
#include "server/runner/compute_traces.h"
#include "server/runner/instances.h"
#include "server/runner/ordered_sinks.h"
#include "server/runner/sequence_model.h"
#include "server/runner/ticket.h"

namespace nereid::server {
namespace {

using Tickets = std::vector<std::shared_ptr<Ticket>>;

bool has_timeouts(const DynamicBatching& rules) {
  const auto has_one = [](const QueuePolicy& p) { return p.default_timeout_us > 0 || p.may_override_timeout; };
  bool any = has_one(rules.default_policy);
  for (const auto& [priority, policy] : rules.policies) any |= has_one(policy);
  return any;
}

BatcherOptions batcher_options(const ModelConfig& config) {
  BatcherOptions options{.max_batch = std::max(1, config.max_batch_size), .joins = false, .rules = {}};
  if (config.dynamic_batching) options.rules = *config.dynamic_batching, options.joins = config.max_batch_size > 1;
  return options;
}

class ServedModel final : public InferModel {
 public:
  explicit ServedModel(ServedParts parts) : parts_(std::move(parts)), state_(std::make_shared<State>(parts_.config)) {
    state_->meter.set_load_s(parts_.load_s);
  }

  ~ServedModel() override {
    state_->stop();
    for (std::thread& thread : threads_)
      thread.get_id() == std::this_thread::get_id() ? thread.detach() : thread.join();
  }

  Status start() {
    NEREID_TRY(state_->instances, make_instances(parts_, state_->meter));
    bool is_bound = false;  // to a place or by a gate
    for (const auto& instance : state_->instances) {
      state_->idle.push_back(instance.get());
      is_bound |= instance->cpus != nullptr || instance->pass.has_gate();
    }
    if (parts_.rules != nullptr) state_->gate = parts_.rules->gate;
    state_->is_instant =
        parts_.backend->is_instant() && !state_->options.joins && !is_bound && state_->order == nullptr;
    // Each thread keeps what it works on, should it be the last to know the model.
    for (size_t i = 0; i < state_->instances.size(); ++i) threads_.emplace_back([state = state_] { state->work(); });
    if (parts_.config.dynamic_batching && has_timeouts(*parts_.config.dynamic_batching))
      threads_.emplace_back([state = state_] { state->watch_queue(); });
    return Status::ok();
  }

  const ModelConfig& config() const override { return parts_.config; }
  int64_t version() const override { return parts_.version; }
  const std::string& config_json() const override { return parts_.json; }
  const std::vector<std::string>& labels(std::string_view output) const override { return labels_of(parts_, output); }

  Status infer(InferRequest request, InferSink sink) override {
    int64_t batch = 1;
    NEREID_RETURN_IF_ERROR(check_request(parts_.config, &request, &batch));
    if (request.arrival_ns == 0) request.arrival_ns = now_ns();
    return state_->take(std::move(request), std::move(sink), batch);
  }

  InferStatistics statistics() const override {
    InferStatistics out = state_->meter.read();
    out.pending = state_->waiting();
    return out;
  }
  uint64_t content_mark() const override { return parts_.content_mark; }
  bool is_ready() const override { return state_->running.takes(); }
  void drain() override { state_->running.drain(); }

 private:
  // What the threads share with the model.
  struct State {
    explicit State(const ModelConfig& of) : config(of), options(batcher_options(of)), batcher(options) {
      if (options.rules.preserves_order) order = std::make_shared<OrderedSinks>();
    }

    Status take(InferRequest request, InferSink sink, int64_t batch) {
      const std::string mark = request_mark(request.id);
      auto ended = [this](const Ticket& ticket, const Status& status) { end(ticket, status); };
      if (!running.begin()) return unavailable("{}the model is being unloaded and takes no more requests", mark);
      std::unique_lock lock(mutex);
      WaitingRequest waits{.ticket = ++last_number,
                           .items = batch,
                           .shape_key = 0,
                           .priority = request.priority,
                           .timeout_us = request.timeout_us,
                           .arrival_ns = request.arrival_ns};
      if (options.joins) waits.shape_key = shape_key(request, config);
      if (order != nullptr) sink = order->wrap(waits.ticket, std::move(sink));
      auto ticket = std::make_shared<Ticket>(std::move(request), std::move(sink), batch, std::move(ended));
      ticket->number = waits.ticket;
      if (is_instant && batcher.size() == 0 && !idle.empty()) {
        ServedInstance* instance = idle.back();
        idle.pop_back();
        lock.unlock();
        run(*instance->backend, {std::move(ticket)});
        give_back(instance);
        return Status::ok();
      }
      if (!batcher.add(waits) && !(forget_cancelled(lock) && batcher.add(waits))) {
        lock.unlock();
        ticket->failure = InferFailure::kRejected;
        ticket->fail(unavailable("{}Exceeds maximum queue size", mark));
        return Status::ok();
      }
      tickets.emplace(ticket->number, std::move(ticket));
      lock.unlock();
      changed.notify_one();
      if (!options.rules.policies.empty() || has_timeouts(options.rules)) queue_changed.notify_one();
      return Status::ok();
    }

    // Takes tickets out of the map; the mutex is held.
    Tickets pick(const std::vector<uint64_t>& numbers) {
      Tickets out;
      for (const uint64_t number : numbers) {
        const auto it = tickets.find(number);
        out.push_back(std::move(it->second));
        tickets.erase(it);
      }
      return out;
    }

    // Makes room where requests wait that nobody wants any more. False: there are none.
    bool forget_cancelled(std::unique_lock<std::mutex>& lock) {
      std::vector<uint64_t> unwanted;
      for (const auto& [number, waiting] : tickets)
        if (waiting->request().is_cancelled() && batcher.remove(number)) unwanted.push_back(number);
      const Tickets gone = pick(unwanted);
      lock.unlock();
      for (const auto& ticket : gone) {
        ticket->failure = InferFailure::kCancelled;
        ticket->fail(cancelled("{}the request was cancelled before it ran", request_mark(ticket->request().id)));
      }
      lock.lock();
      return !gone.empty();
    }

    static void refuse_late(const Tickets& late) {
      for (const auto& ticket : late) {
        ticket->failure = InferFailure::kRejected;
        ticket->fail(unavailable("Request timeout expired"));
      }
    }

    void work() {
      ThreadPlace place;
      std::unique_lock lock(mutex);
      while (!is_ended) {
        ServedInstance* instance = nullptr;
        int64_t again_ns = DynamicBatcher::kNever;
        bool is_free = !idle.empty();
        if (gate != nullptr) {
          if (is_free && batcher.is_due(now_ns(), &again_ns)) instance = pass_gate(lock);
          is_free = instance != nullptr;
        }
        const DynamicBatcher::Decision decision = batcher.next(now_ns(), is_free);
        if (decision.run.empty() && instance != nullptr) leave(instance);
        if (decision.run.empty() && decision.late.empty()) {
          wait(lock, changed, std::min(again_ns, decision.again_ns));
          continue;
        }
        const Tickets late = pick(decision.late);
        Tickets batch = pick(decision.run);
        if (!batch.empty() && instance == nullptr) instance = idle.back(), idle.pop_back();
        if (order != nullptr)
          for (const auto& ticket : batch) order->begin(ticket->number);
        lock.unlock();
        refuse_late(late);
        if (!batch.empty()) {
          place.move_to(instance->cpus);
          run(*instance->backend, std::move(batch));
          instance->pass.leave();
          give_back(instance);
        }
        lock.lock();
      }
    }

    // The idle instance whose turn it is, when it may run; waits for that without the lock.
    ServedInstance* pass_gate(std::unique_lock<std::mutex>& lock) {
      std::vector<uint64_t> numbers;
      for (const ServedInstance* one : idle) numbers.push_back(one->pass.number());
      const uint64_t first = gate->first_of(numbers);
      const auto chosen =
          std::find_if(idle.begin(), idle.end(), [&](const auto* one) { return one->pass.number() == first; });
      ServedInstance* instance = *chosen;
      idle.erase(chosen);
      lock.unlock();
      instance->pass.enter();
      lock.lock();
      return instance;
    }

    // What it was to run has gone meanwhile; the lock is held.
    void leave(ServedInstance* instance) {
      instance->pass.leave();
      idle.push_back(instance);
    }

    // Refuses what is late while every instance is busy.
    void watch_queue() {
      std::unique_lock lock(mutex);
      while (!is_ended) {
        const DynamicBatcher::Decision decision = batcher.next(now_ns(), false);
        const Tickets late = pick(decision.late);
        if (late.empty()) {
          wait(lock, queue_changed, decision.again_ns);
          continue;
        }
        lock.unlock();
        refuse_late(late);
        lock.lock();
      }
    }

    static void wait(std::unique_lock<std::mutex>& lock, std::condition_variable& condition, int64_t until_ns) {
      if (until_ns == DynamicBatcher::kNever) {
        condition.wait(lock);
      } else {
        condition.wait_for(lock, std::chrono::nanoseconds(std::max<int64_t>(0, until_ns - now_ns())));
      }
    }

    void run(BackendInstance& instance, Tickets batch) {
      ModelMeter::Spans spans{.begin_ns = now_ns()};
      int64_t items = 0;
      std::vector<std::shared_ptr<Execution>> executions;
      ComputeTraces traces;
      for (auto& ticket : batch) {
        ticket->begin_ns = spans.begin_ns;
        if (ticket->request().is_cancelled()) {
          ticket->failure = InferFailure::kCancelled;
          ticket->fail(cancelled("{}the request was cancelled before it ran", request_mark(ticket->request().id)));
          continue;
        }
        items += std::max<int64_t>(1, ticket->batch());
        traces.add(*ticket);
        executions.push_back(std::move(ticket));
      }
      if (executions.empty()) return;
      const auto requests = static_cast<int64_t>(executions.size());
      const ExecutionTimes times = instance.execute(executions);
      executions.clear();
      spans.input_end_ns = times.input_end_ns, spans.infer_end_ns = times.infer_end_ns;
      spans.end_ns = now_ns();
      meter.add_execution(items, requests, spans);
      traces.mark(spans);
    }

    void give_back(ServedInstance* instance) {
      {
        const std::lock_guard lock(mutex);
        idle.push_back(instance);
        if (batcher.size() == 0) return;
      }
      changed.notify_one();
    }

    void end(const Ticket& ticket, const Status& status) {
      const int64_t end_ns = now_ns();
      const int64_t arrival_ns = ticket.request().arrival_ns;
      if (status.is_ok()) {
        meter.add_success(std::max<int64_t>(1, ticket.batch()), arrival_ns, ticket.begin_ns, end_ns, ticket.first_ns);
      } else {
        meter.add_failure(status.code() == StatusCode::kCancelled ? InferFailure::kCancelled : ticket.failure,
                          arrival_ns, end_ns);
      }
      running.end();
    }

    void stop() {
      running.drain();
      {
        const std::lock_guard lock(mutex);
        is_ended = true;
      }
      changed.notify_all();
      queue_changed.notify_all();
    }

    int64_t waiting() const {
      const std::lock_guard lock(mutex);
      return static_cast<int64_t>(batcher.size());
    }

    const ModelConfig config;
    const BatcherOptions options;
    bool is_instant = false;
    std::shared_ptr<OrderedSinks> order;  // nullptr: answers go out as they come
    std::shared_ptr<RateGate> gate;       // nullptr: none
    ModelMeter meter;
    mutable std::mutex mutex;
    RunningCount running;  // taken, and not ended
    std::condition_variable changed, queue_changed;
    DynamicBatcher batcher;
    std::unordered_map<uint64_t, std::shared_ptr<Ticket>> tickets;  // that wait
    std::vector<std::unique_ptr<ServedInstance>> instances;
    std::vector<ServedInstance*> idle;
    uint64_t last_number = 0;
    bool is_ended = false;
  };

  ServedParts parts_;
  std::shared_ptr<State> state_;
  std::vector<std::thread> threads_;
};

}  // namespace

const std::vector<std::string>& labels_of(const ServedParts& parts, std::string_view output) {
  static const std::vector<std::string> kNone;
  for (size_t i = 0; i < parts.config.outputs.size() && i < parts.labels.size(); ++i)
    if (parts.config.outputs[i].name == output) return parts.labels[i];
  return kNone;
}

Result<std::shared_ptr<InferModel>> serve_model(ServedParts parts) {
  if (parts.config.sequence_batching) return serve_sequence_model(std::move(parts));
  auto model = std::make_shared<ServedModel>(std::move(parts));
  NEREID_RETURN_IF_ERROR(model->start());
  return std::shared_ptr<InferModel>(std::move(model));
}

}  // namespace nereid::server
