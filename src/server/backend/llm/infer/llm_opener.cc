// SPDX-License-Identifier: Apache-2.0
#include "server/backend/llm/infer/llm_opener.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/release_free_memory.h"
#include "compile/describe.h"
#include "compile/model_kind.h"
#include "server/backend/llm/infer/llm_infer_model.h"
#include "server/backend/llm/infer/llm_metrics.h"
#include "server/backend/llm/infer/llm_plan.h"

namespace nereid::server {
namespace {

constexpr auto kMostWait = std::chrono::seconds(60);  // for models that somebody holds on to at the end

// What must be equal for two configurations to share one model.
std::string key_of(const LlmPlan& plan) {
  const llm::ExecutorOptions& e = plan.options.executor;
  const llm::OpenOptions& o = plan.options.open;
  std::string key = fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", plan.options.name,
                                plan.path, o.threads, o.context, o.kv_cache_dtype, o.exact, plan.options.chat_template,
                                plan.options.draft, e.max_sequences, e.step_tokens, e.max_queue, e.cache_tokens,
                                e.host_memory_bytes, e.max_adapters, e.reuse_prefixes, static_cast<int>(e.policy));
  for (const LlmPlan::Adapter& one : plan.adapters) key += "\n" + one.name + "=" + one.path;
  // The files as they are now: weights that were replaced are read again.
  std::error_code error;
  namespace fs = std::filesystem;
  std::vector<fs::path> files = {plan.path};
  if (fs::is_directory(plan.path, error))
    for (fs::directory_iterator it(plan.path, error), end; !error && it != end; it.increment(error))
      files.push_back(it->path());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files)
    if (const Result<FileInfo> info = file_info(file.string()); info.is_ok() && info->is_regular)
      key += fmt::format("\n{} {} {} {}", file.string(), info->size, info->mtime_ns, info->inode);
  return key;
}

}  // namespace

// The models that are open, and the thread on which they are closed: an executor cannot end on its own.
class LlmOpener::Opened {
 public:
  Opened() : thread_([this] { work(); }) {}
  ~Opened() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kMostWait, [this] { return alive_ == 0; }))
      log_warn("{} language models are still held by somebody at the end", alive_);
    is_ending_ = true;
    lock.unlock();
    changed_.notify_all();
    thread_.join();
  }

  std::shared_ptr<LlmModel> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    std::erase_if(models_, [](const auto& one) { return one.second.expired(); });
    std::erase_if(figures_, [this](const auto& one) { return !models_.contains(one.first); });
    const auto it = models_.find(key);
    return it == models_.end() ? nullptr : it->second.lock();
  }

  std::shared_ptr<LlmModel> keep(const std::string& key, std::unique_ptr<LlmModel> model, LlmFigures figures) {
    const std::lock_guard lock(mutex_);
    ++alive_;
    std::shared_ptr<LlmModel> shared(model.release(), [this](LlmModel* one) { close(one); });
    models_[key] = shared;
    figures_[key] = std::move(figures);
    return shared;
  }

  std::vector<LlmFigures> figures() {
    std::vector<std::pair<std::shared_ptr<LlmModel>, LlmFigures>> held;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [key, model] : models_)
        if (auto one = model.lock()) held.emplace_back(std::move(one), figures_[key]);
    }
    std::vector<LlmFigures> out;
    for (auto& [model, figures] : held) {
      figures.stats = model->stats();
      out.push_back(std::move(figures));
    }
    return out;
  }

 private:
  void close(LlmModel* model) {
    {
      const std::lock_guard lock(mutex_);
      closing_.emplace_back(model);
    }
    changed_.notify_all();
  }

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return is_ending_ || !closing_.empty(); });
      if (closing_.empty()) return;
      std::unique_ptr<LlmModel> model = std::move(closing_.front());
      closing_.pop_front();
      lock.unlock();
      model.reset();
      release_free_memory();
      lock.lock();
      --alive_;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::weak_ptr<LlmModel>> models_;
  std::map<std::string, LlmFigures> figures_;  // of them, what does not change
  std::deque<std::unique_ptr<LlmModel>> closing_;
  int alive_ = 0;
  bool is_ending_ = false;
  std::thread thread_;
};

bool is_language_model(const ModelConfig& config, const ModelPlace& place) {
  if (is_llm_backend(config.backend)) return true;
  // An engine says by itself of which kind it is.
  if (config.backend != "nereid") return false;
  const std::string file = config.model_file.empty() ? "model.engine" : config.model_file;
  return compile::model_kind(place.version_folder + "/" + file) == compile::ModelKind::kEngine;
}

LlmOpener::LlmOpener(Resolve resolve) : resolve_(std::move(resolve)), opened_(std::make_unique<Opened>()) {}
LlmOpener::~LlmOpener() = default;

std::string LlmOpener::metrics_text() const {
  return llm_metrics_text(opened_->figures());
}

Result<ConfigCompletion> LlmOpener::complete(const ModelConfig& config, const ModelPlace& place) {
  NEREID_TRY(const LlmPlan plan, plan_llm(config, place));
  ConfigCompletion found = known_tensors(plan.style, plan.form);
  // A configuration that names its inputs says by itself whether it answers many times; vLLM's always do.
  found.is_decoupled = config.inputs.empty() || plan.style == AskStyle::kVllm;
  return found;
}

Result<LlmPlan> LlmOpener::find(const ModelConfig& config, const ModelPlace& place) const {
  NEREID_TRY(LlmPlan plan, plan_llm(config, place));
  if (plan.path.empty())
    return not_found(
        "no language model was found in '{}': put a GGUF file, an engine (`nereid build`) or a checkpoint's folder "
        "there, "
        "or name one with parameters {{ key: \"model\" value: {{ string_value: \"/path\" }} }}",
        place.version_folder);
  if (!file_info(plan.path).is_ok() && resolve_) {
    NEREID_TRY(plan.path, resolve_(plan.path).with("the model '" + config.name + "'"));
  }
  return plan;
}

Status LlmOpener::check(const ModelConfig& config, const ModelPlace& place) const {
  NEREID_TRY(const LlmPlan plan, find(config, place));
  const auto described = compile::describe(plan.path, {.verify = false});
  return described.is_ok() ? Status::ok() : described.status();
}

Result<std::shared_ptr<InferModel>> LlmOpener::open(const ModelConfig& config, const std::string& json,
                                                    const ModelPlace& place) {
  const int64_t begin_ns = now_ns();
  NEREID_TRY(LlmPlan plan, find(config, place));
  if (std::string& draft = plan.options.draft; !draft.empty() && !file_info(draft).is_ok() && resolve_) {
    NEREID_TRY(draft, resolve_(draft).with("the draft of the model '" + config.name + "'"));
  }
  const std::string key = key_of(plan);
  std::shared_ptr<LlmModel> model = opened_->find(key);
  if (model == nullptr) {
    NEREID_TRY(std::unique_ptr<LlmModel> opened, LlmModel::open(plan.path, plan.options));
    for (const std::string& warning : opened->opened().warnings) log_warn("{}", warning);
    for (const LlmPlan::Adapter& one : plan.adapters)
      NEREID_RETURN_IF_ERROR(opened->load_adapter(one.name, one.path, 1));
    model = opened_->keep(key, std::move(opened),
                          {.model = config.name,
                           .version = place.version,
                           .stats = {},
                           .page_tokens = plan.options.executor.page_tokens,
                           .max_sequences = plan.options.executor.max_sequences});
  } else {
    log_info("model '{}' keeps its weights: nothing of them has changed", config.name);
  }
  return serve_llm({.config = config,
                    .json = json,
                    .version = place.version,
                    .model = std::move(model),
                    .style = plan.style,
                    .accumulates = plan.accumulates,
                    .load_s = 1e-9 * static_cast<double>(now_ns() - begin_ns)});
}

}  // namespace nereid::server
