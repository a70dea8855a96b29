// SPDX-License-Identifier: Apache-2.0
#include "server/trace/trace_center.h"

#include <map>
#include <mutex>

#include "base/log.h"
#include "server/trace/otlp_sender.h"
#include "server/trace/trace_file.h"
#include "server/trace/trace_record.h"
#include "server/trace/trace_text.h"

namespace nereid::server::trace {
namespace {

// One state of a scope's settings: a change makes another one, and what is traced by this one goes where it went.
class Scope final : public TraceSink {
 public:
  Scope(Values values, std::shared_ptr<TraceFile> file, std::shared_ptr<OtlpSender> sender)
      : rate_(values.rate),
        level_(values.level),
        values_(values),
        sender_(std::move(sender)),
        collector_(std::move(file), values.log_frequency) {}

  // Whether the next request is traced.
  bool sample() {
    const std::lock_guard lock(mutex_);
    if (level_ == kOff || rate_ == 0 || values_.count == 0) return false;
    if (++asked_ % rate_ != 0) return false;
    if (values_.count > 0) --values_.count;
    return true;
  }
  bool is_on() const { return level_ != kOff; }
  uint8_t level() const { return level_; }
  Values values() const {
    const std::lock_guard lock(mutex_);
    return values_;
  }

  void write(FinishedTrace trace) override {
    if (sender_ != nullptr) return sender_->add(std::move(trace));
    // A request that no model took leaves nothing.
    if (trace.models.empty() || trace.models.front().at(TraceMark::kRequestStart) == 0) return;
    collector_.add(trace_text(trace, (level_ & kTimestamps) != 0));
  }

 private:
  const uint32_t rate_;
  const uint8_t level_;
  mutable std::mutex mutex_;
  Values values_;  // the count is what is left
  uint64_t asked_ = 0;
  const std::shared_ptr<OtlpSender> sender_;
  TraceCollector collector_;
};

class TraceCenter final : public Tracer {
 public:
  explicit TraceCenter(Options options)
      : options_(std::move(options)),
        file_(std::make_shared<TraceFile>(options_.file)),
        sender_(options_.mode == Mode::kOtlp ? OtlpSender::start(options_.otlp) : nullptr) {
    const std::lock_guard lock(mutex_);
    if (options_.mode == Mode::kTriton && options_.values.level != kOff && options_.file.empty())
      log_warn("requests are traced to no file; name one with --trace-config=triton,file=PATH");
    make_global();
  }

  std::shared_ptr<RequestTrace> begin(const TracedRequest& request) override {
    if (!is_any_on_.load(std::memory_order_relaxed)) return nullptr;
    std::shared_ptr<Scope> scope;
    {
      const std::lock_guard lock(mutex_);
      const auto it = models_.find(request.model);
      scope = it == models_.end() ? global_ : it->second.scope;
    }
    // Who began a trace elsewhere gets it on.
    const bool is_followed = sender_ != nullptr && scope->is_on() && !request.traceparent.empty();
    if (!is_followed && !scope->sample()) return nullptr;
    const bool has_tensors = (scope->level() & kTensors) != 0;
    return make_record(request, {.sink = std::move(scope), .ids = ids_, .has_tensors = has_tensors});
  }

  std::vector<TraceSetting> settings(const std::string& model) const override {
    const std::lock_guard lock(mutex_);
    const auto it = models_.find(model);
    return setting_texts((it == models_.end() ? global_ : it->second.scope)->values(), options_.file, options_.mode);
  }

  Status change(const std::string& model, const std::vector<TraceChange>& changes) override {
    if (options_.mode == Mode::kOtlp)
      return unsupported(
          "the trace settings of mode opentelemetry are those of the server's start; they cannot be "
          "changed while it runs");
    const std::lock_guard lock(mutex_);
    const auto it = models_.find(model);
    Overrides overrides = model.empty() ? global_overrides_ : it == models_.end() ? Overrides() : it->second.overrides;
    for (const TraceChange& one : changes) NEREID_RETURN_IF_ERROR(apply(one, &overrides));
    if (overrides.level.value_or(kOff) != kOff && options_.file.empty())
      return invalid_argument("Attempting to set invalid trace setting :trace file name is not given");
    if (model.empty()) {
      global_overrides_ = overrides;
      make_global();
      for (auto& [name, own] : models_) own.scope = make_scope(with(global_values(), own.overrides));
    } else if (overrides.any()) {
      Own& own = models_[model];
      own.overrides = overrides;
      own.scope = make_scope(with(global_values(), overrides));
    } else if (it != models_.end()) {
      models_.erase(it);
    }
    note_whether_any_is_on();
    return Status::ok();
  }

 private:
  struct Own {
    Overrides overrides;
    std::shared_ptr<Scope> scope;
  };

  Values global_values() const { return with(options_.values, global_overrides_); }
  std::shared_ptr<Scope> make_scope(Values values) const { return std::make_shared<Scope>(values, file_, sender_); }
  void make_global() {
    global_ = make_scope(global_values());
    note_whether_any_is_on();
  }
  void note_whether_any_is_on() {
    bool any = global_->is_on();
    for (const auto& [name, own] : models_) any |= own.scope->is_on();
    is_any_on_.store(any, std::memory_order_relaxed);
  }

  const Options options_;
  const std::shared_ptr<std::atomic<uint64_t>> ids_ = std::make_shared<std::atomic<uint64_t>>(0);
  const std::shared_ptr<TraceFile> file_;
  const std::shared_ptr<OtlpSender> sender_;
  std::atomic<bool> is_any_on_{false};
  mutable std::mutex mutex_;
  Overrides global_overrides_;
  std::shared_ptr<Scope> global_;
  std::map<std::string, Own, std::less<>> models_;
};

}  // namespace

std::shared_ptr<Tracer> make_tracer(Options options) {
  return std::make_shared<TraceCenter>(std::move(options));
}

}  // namespace nereid::server::trace
