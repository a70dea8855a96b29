// SPDX-License-Identifier: Apache-2.0
#include "server/runner/sequence_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "base/clock.h"
#include "server/core/infer_check.h"
#include "server/core/model_meter.h"
#include "server/core/running_count.h"
#include "server/runner/compute_traces.h"
#include "server/runner/control_inputs.h"
#include "server/runner/instances.h"
#include "server/runner/ordered_sinks.h"
#include "server/runner/sequence_slots.h"
#include "server/runner/sequence_states.h"
#include "server/runner/ticket.h"

namespace nereid::server {
namespace {

using Tickets = std::vector<std::shared_ptr<Ticket>>;
using Steps = std::vector<SequenceBatcher::Step>;

constexpr int64_t kMostDrainMs = 30'000;  // that sequences have to end

int64_t ns_of_us(uint64_t us) {
  return static_cast<int64_t>(std::min<uint64_t>(us, uint64_t{1} << 50) * 1000);
}

class SequenceModel final : public InferModel {
 public:
  SequenceModel(ServedParts parts, SequenceStates states, std::unique_ptr<ModelMeter> meter,
                std::vector<std::unique_ptr<ServedInstance>> instances)
      : parts_(std::move(parts)),
        state_(std::make_shared<State>(parts_.config, std::move(states), std::move(meter), std::move(instances))) {
    for (int i = 0; i < static_cast<int>(state_->instances.size()); ++i)
      threads_.emplace_back([state = state_, i] { state->work(i); });
    threads_.emplace_back([state = state_] { state->watch_backlog(); });
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
  uint64_t content_mark() const override { return parts_.content_mark; }

  Status infer(InferRequest request, InferSink sink) override {
    int64_t batch = 1;
    NEREID_RETURN_IF_ERROR(check_request(parts_.config, &request, &batch));
    if (batch != 1)
      return invalid_argument(
          "inference request to model '{}' must specify batch-size 1 due to requirements of sequence batcher",
          parts_.config.name);
    if (request.sequence.is_none() && !parts_.config.sequence_batching->is_iterative)
      return invalid_argument("inference request to model '{}' must specify a non-zero or non-empty correlation ID",
                              parts_.config.name);
    if (request.arrival_ns == 0) request.arrival_ns = now_ns();
    return state_->take(std::move(request), std::move(sink));
  }

  InferStatistics statistics() const override {
    InferStatistics out = state_->meter->read();
    out.pending = state_->waiting();
    return out;
  }
  bool is_ready() const override { return state_->running.takes(); }
  void drain() override { state_->drain(); }

 private:
  struct State {
    State(const ModelConfig& of, SequenceStates kept, std::unique_ptr<ModelMeter> counts,
          std::vector<std::unique_ptr<ServedInstance>> made)
        : config(of),
          rules(*config.sequence_batching),
          meter(std::move(counts)),
          instances(std::move(made)),
          states(std::move(kept)),
          batcher(sequence_options(config, instances.size())) {
      if (rules.is_oldest && rules.preserves_order) order = std::make_shared<OrderedSinks>();
    }

    // A request's sink, with states taken from its responses as they come, and the order kept after that.
    InferSink wrap(const SequenceRequest& asked, const std::vector<std::string>& wanted, InferSink sink) {
      if (order != nullptr) sink = order->wrap(asked.ticket, std::move(sink));
      if (!states.has_any()) return sink;
      return [this, name = asked.sequence, wanted, sink = std::move(sink)](InferResponse&& response) {
        if (response.status.is_ok()) states.take(name, wanted, &response.outputs);
        sink(std::move(response));
      };
    }

    Status take(InferRequest request, InferSink sink) {
      const std::string mark = request_mark(request.id);
      if (!running.begin()) return unavailable("{}the model is being unloaded and takes no more requests", mark);
      std::unique_lock lock(mutex);
      const uint64_t number = ++last_number;
      if (request.sequence.is_none())  // of an iterative model: a sequence of its own
        request.sequence = {.id = number, .text_id = fmt::format("@{}", number), .is_start = true, .is_end = true};
      const SequenceMark place = request.sequence;
      SequenceRequest asked{.ticket = number,
                            .sequence = sequence_key(place),
                            .is_start = place.is_start,
                            .is_end = place.is_end,
                            .arrival_ns = request.arrival_ns,
                            .timeout_ns = ns_of_us(request.timeout_us),
                            .shape_key = shape_key(request, config)};
      const Tickets late = pick(batcher.reap(now_ns()));
      if (!batcher.add(asked)) {
        lock.unlock();
        running.end();
        refuse_late(late);
        return invalid_argument(
            "inference request for sequence {} to model '{}' must specify the START flag on the first request of the "
            "sequence",
            place.text_id.empty() ? std::to_string(place.id) : place.text_id, config.name);
      }
      sink = wrap(asked, request.outputs, std::move(sink));
      if (!request.outputs.empty())
        for (std::string& output : states.outputs()) request.outputs.push_back(std::move(output));
      auto ended = [this](const Ticket& ticket, const Status& status) { end(ticket, status); };
      auto ticket = std::make_shared<Ticket>(std::move(request), std::move(sink), 1, std::move(ended));
      if (rules.is_iterative) ticket->allow_again();
      tickets.emplace(number, std::move(ticket));
      lock.unlock();
      refuse_late(late);
      changed.notify_all();
      if (asked.timeout_ns > 0) backlog_changed.notify_one();
      return Status::ok();
    }

    // Takes tickets out of the map; the lock is held.
    Tickets pick(const std::vector<uint64_t>& numbers) {
      Tickets out;
      for (const uint64_t number : numbers)
        if (const auto it = tickets.find(number); it != tickets.end()) {
          out.push_back(std::move(it->second));
          tickets.erase(it);
        }
      return out;
    }

    static void refuse_late(const Tickets& late) {
      for (const auto& ticket : late) {
        ticket->failure = InferFailure::kRejected;
        ticket->fail(unavailable("timeout of the corresponding sequence has been expired"));
      }
    }

    static void refuse_cancelled(const Tickets& unwanted) {
      for (const auto& ticket : unwanted) {
        ticket->failure = InferFailure::kCancelled;
        ticket->fail(cancelled("{}the request was cancelled before it ran", request_mark(ticket->request().id)));
      }
    }

    void forget_ended() {
      for (const std::string& name : batcher.take_ended()) states.drop(name);
    }

    void work(int instance) {
      ServedInstance& served = *instances[static_cast<size_t>(instance)];
      ThreadPlace place;
      place.move_to(served.cpus);
      std::unique_lock lock(mutex);
      while (!is_ended) {
        const Tickets late = pick(batcher.reap(now_ns()));
        Steps steps = batcher.next(instance, now_ns());
        if (steps.empty() && late.empty()) {
          forget_ended();
          wait(lock, changed);
          continue;
        }
        Tickets unwanted, batch = begin(&steps, &unwanted);
        lock.unlock();
        refuse_late(late);
        refuse_cancelled(unwanted);
        const Tickets again = run(served, std::move(batch), &steps);
        lock.lock();
        for (const auto& ticket : again) tickets.emplace(ticket->number, ticket);
        batcher.done(instance, steps, now_ns());
        forget_ended();
        changed.notify_all();
      }
    }

    // The tickets of the steps, with the inputs that tell of their place; `unwanted` gets those nobody waits for any
    // more, and what was to follow them. The lock is held.
    Tickets begin(Steps* steps, Tickets* unwanted) {
      Tickets batch;
      for (const SequenceBatcher::Step& step : *steps) {
        Tickets found = pick({step.ticket});
        if (found.empty()) continue;  // was let go of
        Ticket& ticket = *found[0];
        if (ticket.request().is_cancelled()) {
          unwanted->push_back(std::move(found[0]));
          for (auto& one : pick(batcher.drop(step.sequence))) unwanted->push_back(std::move(one));
          continue;
        }
        SequenceMark mark = ticket.request().sequence;
        mark.is_start = step.is_start;
        std::vector<InferTensor> inputs = control_inputs(rules, mark, config.max_batch_size > 0);
        for (InferTensor& one : states.inputs(step.sequence, step.is_start)) inputs.push_back(std::move(one));
        ticket.set_more_inputs(std::move(inputs));
        ticket.number = step.ticket;
        ticket.slot = step.slot;
        if (order != nullptr) order->begin(step.ticket);
        batch.push_back(std::move(found[0]));
      }
      return batch;
    }

    // Gives the tickets that are to run once more, and marks their steps. States may differ in shape where requests do
    // not; those that do run one batch after the other.
    Tickets run(ServedInstance& served, Tickets batch, Steps* steps) {
      Tickets again;
      while (!batch.empty()) {
        const std::shared_ptr<Ticket> first = batch[0];
        const auto others = std::stable_partition(batch.begin(), batch.end(),
                                                  [&](const auto& one) { return has_shapes_of(*one, *first); });
        Tickets together(std::make_move_iterator(batch.begin()), std::make_move_iterator(others));
        batch.erase(batch.begin(), others);
        for (auto& ticket : run_together(served, std::move(together), steps)) again.push_back(std::move(ticket));
      }
      return again;
    }

    static bool has_shapes_of(const Ticket& a, const Ticket& b) {
      return std::equal(a.more_inputs().begin(), a.more_inputs().end(), b.more_inputs().begin(), b.more_inputs().end(),
                        [](const InferTensor& x, const InferTensor& y) { return x.shape == y.shape; });
    }

    Tickets run_together(ServedInstance& served, Tickets batch, Steps* steps) {
      served.pass.enter();
      ModelMeter::Spans spans{.begin_ns = now_ns()};
      ComputeTraces traces;
      std::vector<std::shared_ptr<Execution>> executions;
      for (const auto& ticket : batch) {
        if (ticket->begin_ns == 0) ticket->begin_ns = spans.begin_ns;
        traces.add(*ticket);
        executions.push_back(ticket);
      }
      const auto requests = static_cast<int64_t>(batch.size());
      if (fills_slots(rules)) executions = slots_of(batch, config, states);
      if (!rules.is_iterative) batch.clear();
      const auto items = static_cast<int64_t>(executions.size());
      const ExecutionTimes times = served.backend->execute(executions);
      executions.clear();
      spans.input_end_ns = times.input_end_ns, spans.infer_end_ns = times.infer_end_ns;
      spans.end_ns = now_ns();
      served.pass.leave();
      meter->add_execution(items, requests, spans);
      traces.mark(spans);
      Tickets again;
      for (auto& ticket : batch) {
        std::vector<InferTensor> given;
        if (!ticket->take_again(&given)) continue;
        for (SequenceBatcher::Step& step : *steps) {
          if (step.ticket != ticket->number) continue;
          step.is_again = true;
          states.take(step.sequence, {}, &given);
        }
        again.push_back(std::move(ticket));
      }
      return again;
    }

    // Refuses what is late though every instance is busy.
    void watch_backlog() {
      std::unique_lock lock(mutex);
      while (!is_ended) {
        const Tickets late = pick(batcher.reap(now_ns()));
        forget_ended();
        if (late.empty()) {
          wait(lock, backlog_changed);
          continue;
        }
        lock.unlock();
        refuse_late(late);
        lock.lock();
      }
    }

    void wait(std::unique_lock<std::mutex>& lock, std::condition_variable& condition) {
      // Not at once: what is due may be another thread's, which is about to see to it.
      const int64_t for_ns = std::clamp<int64_t>(batcher.again_ns() - now_ns(), 50'000, 1'000'000'000);
      condition.wait_for(lock, std::chrono::nanoseconds(for_ns));
    }

    void end(const Ticket& ticket, const Status& status) {
      const int64_t end_ns = now_ns();
      if (status.is_ok()) {
        meter->add_success(1, ticket.request().arrival_ns, ticket.begin_ns, end_ns, ticket.first_ns);
      } else {
        meter->add_failure(ticket.failure, ticket.request().arrival_ns, end_ns);
      }
      running.end();
    }

    // Requests of sequences that wait for a slot are let go of: what would free one may never come.
    void drain() {
      std::unordered_map<uint64_t, std::shared_ptr<Ticket>> dropped;
      if (running.drain_for(kMostDrainMs)) return;
      {
        const std::lock_guard lock(mutex);
        dropped.swap(tickets);
      }
      for (auto& [number, ticket] : dropped)
        ticket->fail(
            unavailable("{}the model was unloaded before the request's turn came", request_mark(ticket->request().id)));
      dropped.clear();
      running.drain();
    }

    void stop() {
      drain();
      {
        const std::lock_guard lock(mutex);
        is_ended = true;
      }
      changed.notify_all();
      backlog_changed.notify_all();
    }

    int64_t waiting() const {
      const std::lock_guard lock(mutex);
      return static_cast<int64_t>(batcher.waiting());
    }

    const ModelConfig config;
    const SequenceBatching& rules;
    const std::unique_ptr<ModelMeter> meter;
    mutable std::mutex mutex;
    RunningCount running;  // taken, and not ended
    std::condition_variable changed, backlog_changed;
    std::vector<std::unique_ptr<ServedInstance>> instances;
    SequenceStates states;
    SequenceBatcher batcher;
    std::shared_ptr<OrderedSinks> order;  // nullptr: answers go out as they come
    std::unordered_map<uint64_t, std::shared_ptr<Ticket>> tickets;
    uint64_t last_number = 0;
    bool is_ended = false;
  };

  ServedParts parts_;
  std::shared_ptr<State> state_;
  std::vector<std::thread> threads_;
};

}  // namespace

Result<std::shared_ptr<InferModel>> serve_sequence_model(ServedParts parts) {
  NEREID_TRY(SequenceStates states, SequenceStates::open(parts.config, parts.folder));
  auto meter = std::make_unique<ModelMeter>();
  meter->set_load_s(parts.load_s);
  NEREID_TRY(std::vector<std::unique_ptr<ServedInstance>> instances, make_instances(parts, *meter));
  return std::shared_ptr<InferModel>(
      std::make_shared<SequenceModel>(std::move(parts), std::move(states), std::move(meter), std::move(instances)));
}

}  // namespace nereid::server
