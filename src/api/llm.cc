// SPDX-License-Identifier: Apache-2.0
// nereid_llm_*: opening a language model, its requests and what it says of itself.
#include "api/llm.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <tuple>

#include "api/answer.h"
#include "api/llm_request.h"
#include "api/options.h"

namespace nereid::api {

void OpenRequests::add(uint64_t id, int32_t choices) {
  const std::lock_guard lock(mutex_);
  int32_t& open = open_[id];
  open += choices;
  if (open == 0) open_.erase(id);
  changed_.notify_all();
}

Status OpenRequests::wait(uint64_t id, int64_t timeout_ms) {
  std::unique_lock lock(mutex_);
  const auto has_ended = [&] { return !open_.contains(id); };
  if (timeout_ms < 0) {
    changed_.wait(lock, has_ended);
    return Status::ok();
  }
  constexpr int64_t kMostMs = int64_t{1} << 40;  // 35 years
  if (changed_.wait_for(lock, std::chrono::milliseconds(std::min(timeout_ms, kMostMs)), has_ended)) return Status::ok();
  return unavailable("the request {} has not ended yet", id);
}

namespace {

Result<llm::ExecutorOptions> read_executor_options(const nereid_llm_options& o) {
  llm::ExecutorOptions out;
  for (auto [name, value, member] :
       {std::tuple{"max_sequences", o.max_sequences, &llm::ExecutorOptions::max_sequences},
        {"step_tokens", o.step_tokens, &llm::ExecutorOptions::step_tokens},
        {"max_queue", o.max_queue, &llm::ExecutorOptions::max_queue},
        {"cache_tokens", o.cache_tokens, &llm::ExecutorOptions::cache_tokens},
        {"host_memory_bytes", o.host_memory_bytes, &llm::ExecutorOptions::host_memory_bytes}}) {
    if (value < 0) return invalid_argument("{} is {}; it is 0 (the default) or more", name, value);
    if (value > 0) out.*member = value;
  }
  const std::string_view policy = o.policy == nullptr ? "max_utilization" : o.policy;
  if (policy != "max_utilization" && policy != "guaranteed_no_evict")
    return invalid_argument("there is no policy '{}'; there are max_utilization and guaranteed_no_evict", policy);
  if (policy == "guaranteed_no_evict") out.policy = llm::SchedulePolicy::kGuaranteedNoEvict;
  if (o.trace_path != nullptr) out.trace_path = o.trace_path;
  if (o.draft_tokens < 0) return invalid_argument("draft_tokens is {}; it is 0 (the default) or more", o.draft_tokens);
  if (o.draft_tokens > 0) out.draft_tokens = o.draft_tokens;
  if (o.shift_keep < 0 || o.shift_keep > std::numeric_limits<int32_t>::max())
    return invalid_argument("shift_keep is {}; it is a number of tokens", o.shift_keep);
  if (o.shifts_context != 0) out.shift_keep = static_cast<int32_t>(o.shift_keep);
  return out;
}

Status open(const char* path, const nereid_llm_options* given, nereid_llm** out) {
  if (out == nullptr) return invalid_argument("the place for the model's handle is NULL");
  *out = nullptr;
  if (path == nullptr) return invalid_argument("the path of the model is NULL");
  NEREID_TRY(const nereid_llm_options o, read_options(given));
  NEREID_TRY(const int threads, read_threads(o.threads));
  NEREID_TRY(llm::ExecutorOptions executor, read_executor_options(o));
  auto llm = std::make_unique<Llm>();
  const auto progress = [&](int64_t done, int64_t total) {
    if (o.progress != nullptr) (void)o.progress(o.progress_user, "packing the weights", done, total);
  };
  llm::OpenOptions how{.threads = threads, .context = o.context_tokens};
  if (o.device != nullptr) how.device = o.device;
  if (o.kv_cache_dtype != nullptr) how.kv_cache_dtype = o.kv_cache_dtype;
  NEREID_TRY(llm->opened, llm::open_model(path, how, llm::load_options(executor), progress));
  if (o.draft != nullptr) {
    NEREID_TRY(llm->draft, llm::open_draft(o.draft, how, llm->opened, {}, progress));
    executor.draft = llm->draft.model.get();
  }
  for (const auto* warnings : {&llm->opened.warnings, &llm->draft.warnings})
    if (o.log != nullptr)
      for (const std::string& warning : *warnings) o.log(o.log_user, NEREID_LOG_WARNING, warning.c_str());
  NEREID_TRY(llm->executor, llm::Executor::start(*llm->opened.model, executor));
  *out = new nereid_llm{std::move(llm)};
  return Status::ok();
}

Result<Llm*> llm_of(const nereid_llm* handle) {
  if (handle == nullptr) return invalid_argument("the model's handle is NULL: it was not opened, or is closed");
  return handle->llm.get();
}

Status check_not_telling(const Llm& llm, std::string_view what) {
  if (llm.telling.load() == std::this_thread::get_id())
    return invalid_argument("an output function may not {} the model: it runs on the thread that steps it", what);
  return Status::ok();
}

nereid_llm_finish finish_of(const llm::Output& o) {
  if (!o.is_last) return NEREID_LLM_RUNNING;
  if (!o.status.is_ok()) return NEREID_LLM_FAILED;
  switch (o.finish_reason) {
    case llm::FinishReason::kStop:
      return NEREID_LLM_STOP;
    case llm::FinishReason::kLength:
      return NEREID_LLM_LENGTH;
    case llm::FinishReason::kCancelled:
      return NEREID_LLM_CANCELLED;
    case llm::FinishReason::kTimeout:
      return NEREID_LLM_TIMEOUT;
  }
  return NEREID_LLM_FAILED;
}

void tell(Llm& llm, const llm::Output& o, nereid_llm_output_fn on_output, void* user) {
  nereid_llm_output out{};
  out.id = o.request;
  out.choice = o.choice;
  out.token = o.token;
  out.text = {o.text.data(), o.text.size()};
  out.logprob = o.sample.logprob;
  out.finish = finish_of(o);
  out.status = code_of(o.status);
  out.error = o.status.message().c_str();
  out.prompt_tokens = o.prompt_tokens;
  out.reused_tokens = o.reused_tokens;
  out.answer_tokens = o.answer_tokens;
  if (on_output != nullptr) {
    llm.telling.store(std::this_thread::get_id());
    on_output(user, &out);
    llm.telling.store({});
  }
  if (o.is_last) llm.requests.end_choice(o.request);
}

Status enqueue(nereid_llm* handle, const nereid_llm_request* request, nereid_llm_output_fn on_output, void* user,
               nereid_llm_id* id) {
  NEREID_TRY(Llm * llm, llm_of(handle));
  NEREID_TRY(llm::Request wanted, read_llm_request(request, llm->model().tokenizer()));
  const int32_t choices = wanted.choices;
  NEREID_TRY(const llm::RequestId given, llm->executor->enqueue(std::move(wanted), [=](llm::Output&& output) {
    tell(*llm, output, on_output, user);
  }));
  llm->requests.begin(given.v, choices);
  if (id != nullptr) *id = given.v;
  return Status::ok();
}

Status describe(const nereid_llm* handle, nereid_llm_info* info) {
  NEREID_TRY(const Llm* llm, llm_of(handle));
  nereid_llm_info out{};
  out.vocabulary = llm->model().vocab();
  out.context_tokens = llm->model().context_tokens();
  out.max_sequences = llm->model().max_sequences();
  out.has_chat_template = llm->model().chat_template() ? 1 : 0;
  return write_result(out, info, "the model's description");
}

Status read_stats(const nereid_llm* handle, nereid_llm_stats* stats) {
  NEREID_TRY(const Llm* llm, llm_of(handle));
  const llm::ExecutorStats s = llm->executor->stats();
  nereid_llm_stats out{};
  out.requests_running = s.requests_running;
  out.requests_waiting = s.requests_waiting;
  out.pages = s.pages;
  out.pages_used = s.pages_used;
  out.pages_cached = s.pages_cached;
  out.steps = s.steps;
  out.prompt_tokens = s.prompt_tokens;
  out.reused_tokens = s.reused_tokens;
  out.answer_tokens = s.answer_tokens;
  out.requests_done = s.requests_done;
  out.requests_cancelled = s.requests_cancelled;
  out.requests_timed_out = s.requests_timed_out;
  out.requests_failed = s.requests_failed;
  out.requests_refused = s.requests_refused;
  out.preemptions = s.preemptions;
  return write_result(out, stats, "the counts");
}

nereid_llm_iteration iteration_of(const llm::IterationStats& s) {
  nereid_llm_iteration out{};
  out.iteration = s.iteration;
  out.begin_us = s.begin_us;
  out.latency_us = s.latency_us;
  out.model_us = s.model_us;
  out.requests_running = s.requests_running;
  out.requests_waiting = s.requests_waiting;
  out.requests_started = s.requests_started;
  out.requests_ended = s.requests_ended;
  out.requests_paused = s.requests_paused;
  out.prompt_sequences = s.prompt_sequences;
  out.answer_sequences = s.answer_sequences;
  out.prompt_tokens = s.prompt_tokens;
  out.answer_tokens = s.answer_tokens;
  out.draft_tokens = s.draft_tokens;
  out.accepted_tokens = s.accepted_tokens;
  out.reused_tokens = s.reused_tokens;
  out.pages = s.pages;
  out.pages_used = s.pages_used;
  out.pages_cached = s.pages_cached;
  return out;
}

Status read_iterations(nereid_llm* handle, nereid_llm_iteration* iterations, size_t capacity, size_t* count) {
  if (count == nullptr) return invalid_argument("the place for the number of steps is NULL");
  *count = 0;
  NEREID_TRY(Llm * llm, llm_of(handle));
  if (capacity == 0) return Status::ok();
  if (iterations == nullptr) return invalid_argument("capacity is {}, but the place for the steps is NULL", capacity);
  const size_t stride = iterations->struct_size;  // as the caller's header has it
  std::vector<llm::IterationStats> taken = llm->executor->take_iterations();
  if (taken.size() > capacity) taken.erase(taken.begin(), taken.end() - static_cast<ptrdiff_t>(capacity));
  for (const llm::IterationStats& one : taken) {
    auto* place = reinterpret_cast<nereid_llm_iteration*>(reinterpret_cast<std::byte*>(iterations) + *count * stride);
    place->struct_size = stride;
    NEREID_RETURN_IF_ERROR(write_result(iteration_of(one), place, "the steps"));
    ++*count;
  }
  return Status::ok();
}

}  // namespace
}  // namespace nereid::api

using nereid::Status;
using nereid::api::answer;

extern "C" {

nereid_status nereid_llm_open(const char* path, const nereid_llm_options* options, nereid_llm** llm) {
  return answer([&] { return nereid::api::open(path, options, llm); });
}

nereid_status nereid_llm_close(nereid_llm** llm) {
  return answer([&]() -> Status {
    if (llm == nullptr || *llm == nullptr) return Status::ok();
    NEREID_RETURN_IF_ERROR(nereid::api::check_not_telling(*(*llm)->llm, "close"));
    delete std::exchange(*llm, nullptr);
    return Status::ok();
  });
}

nereid_status nereid_llm_describe(const nereid_llm* llm, nereid_llm_info* info) {
  return answer([&] { return nereid::api::describe(llm, info); });
}

nereid_status nereid_llm_enqueue(nereid_llm* llm, const nereid_llm_request* request, nereid_llm_output_fn on_output,
                                 void* user, nereid_llm_id* id) {
  return answer([&] { return nereid::api::enqueue(llm, request, on_output, user, id); });
}

nereid_status nereid_llm_cancel(nereid_llm* llm, nereid_llm_id id) {
  return answer([&]() -> Status {
    NEREID_TRY(nereid::api::Llm * open, nereid::api::llm_of(llm));
    open->executor->cancel({id});
    return Status::ok();
  });
}

nereid_status nereid_llm_wait(nereid_llm* llm, nereid_llm_id id, int64_t timeout_ms) {
  return answer([&]() -> Status {
    NEREID_TRY(nereid::api::Llm * open, nereid::api::llm_of(llm));
    NEREID_RETURN_IF_ERROR(nereid::api::check_not_telling(*open, "wait for"));
    return open->requests.wait(id, timeout_ms);
  });
}

nereid_status nereid_llm_load_adapter(nereid_llm* llm, const char* name, const char* path, double scale) {
  return answer([&]() -> Status {
    NEREID_TRY(nereid::api::Llm * open, nereid::api::llm_of(llm));
    if (name == nullptr || path == nullptr)
      return nereid::invalid_argument("the {} of the adapter is NULL", name == nullptr ? "name" : "path");
    return open->executor->load_adapter(name, {{.path = path, .scale = scale}});
  });
}

nereid_status nereid_llm_unload_adapter(nereid_llm* llm, const char* name) {
  return answer([&]() -> Status {
    NEREID_TRY(nereid::api::Llm * open, nereid::api::llm_of(llm));
    if (name == nullptr) return nereid::invalid_argument("the name of the adapter is NULL");
    return open->executor->unload_adapter(name);
  });
}

nereid_status nereid_llm_read_stats(const nereid_llm* llm, nereid_llm_stats* stats) {
  return answer([&] { return nereid::api::read_stats(llm, stats); });
}

nereid_status nereid_llm_read_iterations(nereid_llm* llm, nereid_llm_iteration* iterations, size_t capacity,
                                         size_t* count) {
  return answer([&] { return nereid::api::read_iterations(llm, iterations, capacity, count); });
}

}  // extern "C"
