// SPDX-License-Identifier: Apache-2.0
#include "server/backend/llm/infer/llm_infer_model.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "server/backend/llm/infer/ask_names.h"
#include "server/backend/llm/infer/counted_text_model.h"
#include "server/backend/llm/infer/inference.h"
#include "server/backend/llm/infer/read_asks.h"
#include "server/core/infer_check.h"

namespace nereid::server {
namespace {

// How long a request whose client has gone may go on unnoticed: tokens come in about this time anyway.
constexpr auto kWatchPeriod = std::chrono::milliseconds(20);

// The inferences that run: ends those that nobody wants any more.
class Watch {
 public:
  Watch() : watcher_([this] { watch(); }) {}
  ~Watch() {
    {
      const std::lock_guard lock(mutex_);
      is_ended_ = true;
    }
    changed_.notify_all();
    watcher_.join();
  }

  void add(const std::shared_ptr<Inference>& one) {
    {
      const std::lock_guard lock(mutex_);
      std::erase_if(inferences_, [](const std::weak_ptr<Inference>& other) { return other.expired(); });
      inferences_.push_back(one);
    }
    changed_.notify_one();
  }

  // Ends the requests of that id.
  void stop(const std::string& id) {
    for (const std::shared_ptr<Inference>& one : running())
      if (one->id() == id) one->cancel();
  }

 private:
  std::vector<std::shared_ptr<Inference>> running() {
    std::vector<std::shared_ptr<Inference>> out;
    const std::lock_guard lock(mutex_);
    for (const std::weak_ptr<Inference>& one : inferences_)
      if (auto held = one.lock()) out.push_back(std::move(held));
    return out;
  }

  // Tells the model of clients that have gone, also while a prompt waits or is long.
  void watch() {
    std::unique_lock lock(mutex_);
    while (!is_ended_) {
      std::erase_if(inferences_, [](const std::weak_ptr<Inference>& one) { return one.expired(); });
      if (inferences_.empty()) {
        changed_.wait(lock);
        continue;
      }
      changed_.wait_for(lock, kWatchPeriod);
      lock.unlock();
      for (const std::shared_ptr<Inference>& one : running())
        if (one->is_unwanted()) one->cancel();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::weak_ptr<Inference>> inferences_;
  bool is_ended_ = false;
  std::thread watcher_;  // last: it uses the others
};

class LlmInferModel final : public InferModel {
 public:
  explicit LlmInferModel(LlmInferParts parts)
      : parts_(std::move(parts)),
        config_(std::make_shared<const ModelConfig>(parts_.config)),
        count_(std::make_shared<ModelCount>()),
        text_(counted_text_model(parts_.model, count_)) {
    count_->meter.set_load_s(parts_.load_s);
  }

  const ModelConfig& config() const override { return *config_; }
  int64_t version() const override { return parts_.version; }
  const std::string& config_json() const override { return parts_.json; }
  const std::vector<std::string>& labels(std::string_view) const override { return no_labels_; }

  Status infer(InferRequest request, InferSink sink) override {
    int64_t batch = 1;
    NEREID_RETURN_IF_ERROR(check_request(*config_, &request, &batch));
    if (request.arrival_ns == 0) request.arrival_ns = now_ns();
    const std::string mark = request_mark(request.id);
    NEREID_TRY(std::vector<Ask> asks, read_asks(request, *config_, *parts_.model, parts_.style));
    if (asks[0].is_stop) return stop(request, sink);
    if (asks[0].streams && !config_->is_decoupled)
      return invalid_argument(
          "{}the model '{}' answers once; to stream its answers give its configuration model_transaction_policy {{ "
          "decoupled: true }}",
          mark, config_->name);
    if (!count_->running.begin()) return unavailable("{}the model is being unloaded and takes no more requests", mark);
    const auto prompts = static_cast<int64_t>(asks.size());
    const int64_t arrival_ns = request.arrival_ns;
    auto count = [count = count_, prompts, arrival_ns](const Status& status, int64_t begin_ns, int64_t first_ns) {
      count->end(status, {.items = prompts, .arrival_ns = arrival_ns, .begin_ns = begin_ns, .first_ns = first_ns});
    };
    watch_.add(Inference::start({.config = config_,
                                 .model = parts_.model,
                                 .style = parts_.style,
                                 .accumulates = parts_.accumulates,
                                 .request = std::move(request),
                                 .asks = std::move(asks),
                                 .sink = std::move(sink),
                                 .count = std::move(count),
                                 .ended = [count = count_] { count->running.end(); }}));
    return Status::ok();
  }

  InferStatistics statistics() const override { return count_->meter.read(); }
  bool is_ready() const override { return count_->running.takes(); }
  void drain() override { count_->running.drain(); }
  std::shared_ptr<TextModel> text() const override { return text_; }

 private:
  Status stop(const InferRequest& request, const InferSink& sink) {
    if (request.id.empty())
      return invalid_argument("a request with 'stop' ends the request of the same id; this one has no id");
    watch_.stop(request.id);
    sink({.status = {}, .outputs = {}, .parameters = {}, .is_final = true, .is_empty = true});
    return Status::ok();
  }

  const LlmInferParts parts_;
  const std::shared_ptr<const ModelConfig> config_;
  const std::vector<std::string> no_labels_;
  const std::shared_ptr<ModelCount> count_;
  const std::shared_ptr<TextModel> text_;
  Watch watch_;  // goes first
};

Status check_tensors(const ModelConfig& config) {
  for (const TensorConfig& input : config.inputs) {
    Ask ask;
    if (take_named(input.name, {}, &ask).code() == StatusCode::kNotFound)
      return invalid_argument(
          "unexpected inference input '{}' for model '{}', which is a language model; its inputs are listed in "
          "docs/reference/language-models-in-a-repository.md",
          input.name, config.name);
  }
  for (const TensorConfig& output : config.outputs)
    if (!is_answer(output.name))
      return invalid_argument(
          "unexpected inference output '{}' for model '{}', which is a language model; its outputs are listed in "
          "docs/reference/language-models-in-a-repository.md",
          output.name, config.name);
  return Status::ok();
}

}  // namespace

Result<std::shared_ptr<InferModel>> serve_llm(LlmInferParts parts) {
  NEREID_RETURN_IF_ERROR(check_tensors(parts.config));
  return std::shared_ptr<InferModel>(std::make_shared<LlmInferModel>(std::move(parts)));
}

}  // namespace nereid::server
