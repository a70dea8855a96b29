// SPDX-License-Identifier: Apache-2.0
#include "llm/run/encode_queue.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

namespace nereid::llm {
namespace {

struct Job {
  uint64_t id = 0;
  std::vector<EncodeInput> inputs;
  EncodeFn on_output;
  EncodeOutput output;
  size_t next = 0;  // the first text that no step has had
  size_t left = 0;  // texts without a result
  int64_t bytes = 0;
  std::optional<EncodeTokens> prepared;  // of `next`, when it did not fit into the last step
};

// A text of the step at hand.
struct Place {
  std::shared_ptr<Job> job;
  size_t index = 0;
  EncodeTokens tokens;
};

int64_t bytes_of(const std::vector<EncodeInput>& inputs) {
  size_t bytes = 0;
  for (const EncodeInput& input : inputs)
    bytes += sizeof(EncodeInput) + input.text.size() + (input.second ? input.second->size() : 0) +
             input.tokens.size() * sizeof(int32_t);
  return static_cast<int64_t>(bytes);
}

class ThreadEncodeQueue final : public EncodeQueue {
 public:
  ThreadEncodeQueue(Encoder& encoder, const EncodeQueueOptions& options) : encoder_(encoder), options_(options) {
    thread_ = std::thread([this] { work(); });
    (void)pthread_setname_np(thread_.native_handle(), "nereid-encode");
  }

  ~ThreadEncodeQueue() override {
    drain(0);
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
    }
    mail_.notify_one();
    thread_.join();
  }

  Result<uint64_t> submit(std::vector<EncodeInput> inputs, EncodeFn on_output) override {
    if (inputs.empty()) return invalid_argument("there is no text to encode");
    auto job = std::make_shared<Job>();
    const auto texts = static_cast<int64_t>(inputs.size());
    job->bytes = bytes_of(inputs);
    job->left = inputs.size();
    job->output.vectors.resize(inputs.size());
    job->output.tokens.resize(inputs.size());
    job->inputs = std::move(inputs);
    job->on_output = std::move(on_output);
    {
      const std::lock_guard lock(mutex_);
      if (is_draining_) return unavailable("the model takes no more requests: it is being stopped");
      if (texts_ > 0 && (texts_ + texts > options_.max_texts || bytes_ + job->bytes > options_.max_bytes)) {
        ++stats_.jobs_refused;
        return exhausted("{} texts are waiting already, as many as are taken; try again later", texts_);
      }
      job->id = ++last_id_;
      texts_ += texts;
      bytes_ += job->bytes;
      ++stats_.jobs;
      live_.insert(job->id);
      new_jobs_.push_back(job);
    }
    mail_.notify_one();
    return job->id;
  }

  void cancel(uint64_t id) override {
    {
      const std::lock_guard lock(mutex_);
      if (live_.contains(id)) cancels_.insert(id);
    }
    mail_.notify_one();
  }

  EncodeStats stats() const override {
    const std::lock_guard lock(mutex_);
    EncodeStats stats = stats_;
    stats.texts_waiting = texts_;
    return stats;
  }

  void drain(int64_t timeout_us) override {
    std::unique_lock lock(mutex_);
    is_draining_ = true;
    const auto all_ended = [this] { return live_.empty(); };
    if (timeout_us > 0 && idle_.wait_for(lock, std::chrono::microseconds(timeout_us), all_ended)) return;
    if (all_ended()) return;
    cancels_.insert(live_.begin(), live_.end());
    mail_.notify_one();
    idle_.wait(lock, all_ended);
  }

 private:
  // The thread.
  void work() {
    while (take_mail()) {
      std::vector<Place> places = fill_step();
      if (places.empty()) continue;
      std::vector<const EncodeTokens*> texts;
      int64_t tokens = 0;
      for (const Place& place : places) {
        texts.push_back(&place.tokens);
        tokens += static_cast<int64_t>(place.tokens.ids.size());
      }
      Result<std::vector<std::vector<float>>> results = encoder_.run(texts);
      {
        const std::lock_guard lock(mutex_);
        ++stats_.steps;
        stats_.texts += static_cast<int64_t>(places.size());
        stats_.tokens += tokens;
      }
      for (size_t i = 0; i < places.size(); ++i) {
        Job& job = *places[i].job;
        if (job.on_output == nullptr) continue;  // another of its texts has ended it
        if (!results.is_ok()) {
          end(job, results.status());
          continue;
        }
        job.output.vectors[places[i].index] = std::move((*results)[i]);
        job.output.tokens[places[i].index] = static_cast<int64_t>(places[i].tokens.ids.size());
        if (--job.left == 0) end(job, Status::ok());
      }
    }
  }

  // Waits for something to do. False: the end.
  bool take_mail() {
    std::set<uint64_t> cancels;
    {
      std::unique_lock lock(mutex_);
      mail_.wait(lock, [this] { return is_ending_ || !new_jobs_.empty() || !cancels_.empty() || !jobs_.empty(); });
      if (is_ending_) return false;
      jobs_.insert(jobs_.end(), new_jobs_.begin(), new_jobs_.end());
      new_jobs_.clear();
      cancels.swap(cancels_);
    }
    std::vector<std::shared_ptr<Job>> gone;
    for (const std::shared_ptr<Job>& job : jobs_)
      if (cancels.contains(job->id)) gone.push_back(job);
    for (const std::shared_ptr<Job>& job : gone) end(*job, cancelled("the request was taken back"));
    return true;
  }

  // One text of each job in turn, until the next one does not fit.
  std::vector<Place> fill_step() {
    std::vector<Place> places;
    int64_t room = encoder_.step_tokens();
    while (!jobs_.empty() && static_cast<int64_t>(places.size()) < encoder_.step_texts()) {
      const std::shared_ptr<Job> job = jobs_.front();
      if (!job->prepared) {
        Result<EncodeTokens> made = encoder_.prepare(job->inputs[job->next]);
        if (!made.is_ok()) {
          jobs_.pop_front();
          const Status& s = made.status();
          end(*job, job->inputs.size() == 1 ? s : s.with(fmt::format("text {}", job->next)));
          continue;
        }
        job->inputs[job->next] = {};
        job->prepared = std::move(made).value();
      }
      const auto size = static_cast<int64_t>(job->prepared->ids.size());
      if (size > room) break;
      room -= size;
      jobs_.pop_front();
      places.push_back({job, job->next, std::move(*job->prepared)});
      job->prepared.reset();
      if (++job->next < job->inputs.size()) jobs_.push_back(job);
    }
    return places;
  }

  // Tells the caller, once.
  void end(Job& job, Status status) {
    const EncodeFn tell = std::exchange(job.on_output, nullptr);
    if (tell == nullptr) return;
    job.output.status = std::move(status);
    std::erase_if(jobs_, [&](const std::shared_ptr<Job>& other) { return other.get() == &job; });
    const bool is_ok = job.output.status.is_ok(), is_cancelled = job.output.status.code() == StatusCode::kCancelled;
    {
      const std::lock_guard lock(mutex_);
      texts_ -= static_cast<int64_t>(job.inputs.size());
      bytes_ -= job.bytes;
      --stats_.jobs;
      ++(is_ok ? stats_.jobs_done : is_cancelled ? stats_.jobs_cancelled : stats_.jobs_failed);
    }
    tell(std::move(job.output));
    const std::lock_guard lock(mutex_);
    live_.erase(job.id);
    if (live_.empty()) idle_.notify_all();
  }

  Encoder& encoder_;
  const EncodeQueueOptions options_;
  std::deque<std::shared_ptr<Job>>
      jobs_;  // the thread's own: those with texts that no step has had, by whose turn it is

  mutable std::mutex mutex_;  // of all that follows but the thread
  std::condition_variable mail_, idle_;
  std::vector<std::shared_ptr<Job>> new_jobs_;
  std::set<uint64_t> live_, cancels_;
  bool is_draining_ = false, is_ending_ = false;
  uint64_t last_id_ = 0;
  int64_t texts_ = 0, bytes_ = 0;
  EncodeStats stats_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<EncodeQueue> EncodeQueue::start(Encoder& encoder, const EncodeQueueOptions& options) {
  return std::make_unique<ThreadEncodeQueue>(encoder, options);
}

}  // namespace nereid::llm
