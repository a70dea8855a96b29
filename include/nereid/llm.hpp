// SPDX-License-Identifier: Apache-2.0
// Language models for C++: a thin layer over the C interface (llm.h, which says what every call means). C++17 and
// newer.
//
//   nereid::LanguageModel model = nereid::LanguageModel::open("model.gguf").value_or_throw();
//   nereid::LlmRequest request;
//   request.prompt = "Once upon a time";
//   request.settings = {{"max_tokens", 64}, {"temperature", 0.8}};
//   const auto id = model.enqueue(request, [](const nereid::LlmOutput& o) { std::cout << o.text; }).value_or_throw();
//   model.wait(id).or_throw();
//
// Errors are values, as in nereid.hpp; thread rules are those of llm.h.
#ifndef NEREID_LLM_HPP
#define NEREID_LLM_HPP

#include <nereid/llm.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nereid/values.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nereid {
inline namespace v1 {

struct LlmOptions {
  int threads = 0;
  std::int64_t context_tokens = 0, max_sequences = 0, step_tokens = 0, max_queue = 0, cache_tokens = 0;  // 0: defaults
  std::function<void(const char* stage, std::int64_t done, std::int64_t total)> progress;
  std::function<void(const char* text)> warn;
  std::string policy;          // "": "max_utilization"; "guaranteed_no_evict"
  std::string trace_path;      // "": none
  std::string kv_cache_dtype;  // of keys and values: "int8", "int8,0-1=f16"; "": as the engine was built
  std::string draft;           // the path of a smaller model that guesses; "": none
  int draft_tokens = 0;        // 0: 4
  bool shifts_context = false;
  std::int64_t shift_keep = 0;
  std::int64_t host_memory_bytes = 0;
};

struct LlmRequest {
  std::string prompt;                // unless there are tokens
  std::vector<std::int32_t> tokens;  // the prompt as ids
  std::vector<std::pair<std::string, double>> settings;
  std::vector<std::string> stops;
  int choices = 1;
  int priority = 0;
  std::int64_t timeout_us = 0;
  std::string user;
  std::string grammar_kind, grammar;
  std::string adapter;  // a LoRA loaded by that name; "": none
};

struct LlmOutput {
  nereid_llm_id id = 0;
  int choice = 0;
  std::int32_t token = -1;
  std::string_view text;  // gone when the function returns
  float logprob = 0;
  nereid_llm_finish finish = NEREID_LLM_RUNNING;
  Status status;
  std::int64_t prompt_tokens = 0, reused_tokens = 0, answer_tokens = 0;
  bool is_last() const noexcept { return finish != NEREID_LLM_RUNNING; }
};

class LanguageModel {
 public:
  // Called on the library's thread; must not throw.
  using Hear = std::function<void(const LlmOutput& output)>;

  static Result<LanguageModel> open(const std::string& path, const LlmOptions& options = {}) {
    nereid_llm_options c = NEREID_LLM_OPTIONS_INIT;
    c.threads = options.threads;
    c.context_tokens = options.context_tokens;
    c.max_sequences = options.max_sequences;
    c.step_tokens = options.step_tokens;
    c.max_queue = options.max_queue;
    c.cache_tokens = options.cache_tokens;
    if (options.progress) {
      c.progress_user = const_cast<LlmOptions*>(&options);
      c.progress = [](void* user, const char* stage, std::int64_t done, std::int64_t total) {
        static_cast<const LlmOptions*>(user)->progress(stage, done, total);
        return 0;
      };
    }
    if (options.warn) {
      c.log_user = const_cast<LlmOptions*>(&options);
      c.log = [](void* user, nereid_log_level, const char* text) { static_cast<const LlmOptions*>(user)->warn(text); };
    }
    if (!options.policy.empty()) c.policy = options.policy.c_str();
    if (!options.trace_path.empty()) c.trace_path = options.trace_path.c_str();
    if (!options.kv_cache_dtype.empty()) c.kv_cache_dtype = options.kv_cache_dtype.c_str();
    if (!options.draft.empty()) c.draft = options.draft.c_str();
    c.draft_tokens = options.draft_tokens;
    c.shifts_context = options.shifts_context ? 1 : 0;
    c.shift_keep = options.shift_keep;
    c.host_memory_bytes = options.host_memory_bytes;
    nereid_llm* llm = nullptr;
    const nereid_status opened = nereid_llm_open(path.c_str(), &c, &llm);
    if (opened != NEREID_OK) return Status::of(opened);
    return LanguageModel(llm);
  }

  Result<nereid_llm_id> enqueue(const LlmRequest& request, Hear hear) {
    std::vector<nereid_llm_setting> settings;
    for (const auto& [name, value] : request.settings) settings.push_back({name.c_str(), value});
    std::vector<const char*> stops;
    for (const std::string& stop : request.stops) stops.push_back(stop.c_str());
    nereid_llm_request c = NEREID_LLM_REQUEST_INIT;
    if (request.tokens.empty()) {
      c.prompt = request.prompt.c_str();
    } else {
      c.tokens = request.tokens.data();
      c.token_count = request.tokens.size();
    }
    c.settings = settings.data();
    c.setting_count = settings.size();
    c.stops = stops.data();
    c.stop_count = stops.size();
    c.choices = request.choices;
    c.priority = request.priority;
    c.timeout_us = request.timeout_us;
    c.user = request.user.c_str();
    if (!request.adapter.empty()) c.adapter = request.adapter.c_str();
    if (!request.grammar_kind.empty()) {
      c.grammar_kind = request.grammar_kind.c_str();
      c.grammar = request.grammar.c_str();
    }
    auto call = std::make_unique<Call>(Call{std::move(hear), request.choices == 0 ? 1 : request.choices});
    nereid_llm_id id = 0;
    const nereid_status taken = nereid_llm_enqueue(get(), &c, &LanguageModel::call_back, call.get(), &id);
    if (taken != NEREID_OK) return Status::of(taken);
    (void)call.release();  // the last output deletes it
    return id;
  }
  Status load_adapter(const std::string& name, const std::string& path, double scale = 1) {
    return Status::of(nereid_llm_load_adapter(get(), name.c_str(), path.c_str(), scale));
  }
  Status unload_adapter(const std::string& name) { return Status::of(nereid_llm_unload_adapter(get(), name.c_str())); }
  Status cancel(nereid_llm_id id) { return Status::of(nereid_llm_cancel(get(), id)); }
  // Negative: as long as it takes.
  Status wait(nereid_llm_id id, std::int64_t timeout_ms = -1) {
    return Status::of(nereid_llm_wait(get(), id, timeout_ms));
  }
  Result<nereid_llm_stats> stats() const {
    nereid_llm_stats out{};
    out.struct_size = sizeof(out);
    const nereid_status got = nereid_llm_read_stats(handle_.get(), &out);
    if (got != NEREID_OK) return Status::of(got);
    return out;
  }
  // The latest steps that nobody has read, oldest first.
  Result<std::vector<nereid_llm_iteration>> iterations() {
    std::vector<nereid_llm_iteration> out(1024);
    for (nereid_llm_iteration& one : out) one.struct_size = sizeof(one);
    std::size_t count = 0;
    const nereid_status got = nereid_llm_read_iterations(get(), out.data(), out.size(), &count);
    if (got != NEREID_OK) return Status::of(got);
    out.resize(count);
    return out;
  }
  Result<nereid_llm_info> describe() const {
    nereid_llm_info out{};
    out.struct_size = sizeof(out);
    const nereid_status got = nereid_llm_describe(handle_.get(), &out);
    if (got != NEREID_OK) return Status::of(got);
    return out;
  }

  Result<std::vector<std::int32_t>> tokenize(std::string_view text, bool add_special = true,
                                             bool parse_special = false) const {
    return fetch<std::int32_t>([&](std::int32_t* ids, std::size_t capacity, std::size_t* count) {
      return nereid_llm_tokenize(handle_.get(), text.data(), text.size(), add_special ? 1 : 0, parse_special ? 1 : 0,
                                 ids, capacity, count);
    });
  }
  Result<std::string> detokenize(const std::vector<std::int32_t>& ids) const {
    Result<std::vector<char>> text = fetch<char>([&](char* bytes, std::size_t capacity, std::size_t* size) {
      return nereid_llm_detokenize(handle_.get(), ids.data(), ids.size(), bytes, capacity, size);
    });
    if (!text.ok()) return text.status();
    return std::string(text->begin(), text->end());
  }
  // `messages` and `tools` as OpenAI's, JSON; "": no tools.
  Result<std::vector<std::int32_t>> chat_prompt(const std::string& messages, const std::string& tools = "") const {
    return fetch<std::int32_t>([&](std::int32_t* ids, std::size_t capacity, std::size_t* count) {
      return nereid_llm_chat_prompt(handle_.get(), messages.c_str(), tools.empty() ? nullptr : tools.c_str(), ids,
                                    capacity, count);
    });
  }
  nereid_llm* get() noexcept { return handle_.get(); }

 private:
  struct Close {
    void operator()(nereid_llm* llm) const { nereid_llm_close(&llm); }
  };
  struct Call {
    Hear hear;
    int open_choices;
  };
  static void call_back(void* user, const nereid_llm_output* o) {
    auto* call = static_cast<Call*>(user);
    LlmOutput out;
    out.id = o->id;
    out.choice = o->choice;
    out.token = o->token;
    out.text = {o->text.data, o->text.size};
    out.logprob = o->logprob;
    out.finish = o->finish;
    if (o->status != NEREID_OK) out.status = Status(o->status, o->error);
    out.prompt_tokens = o->prompt_tokens;
    out.reused_tokens = o->reused_tokens;
    out.answer_tokens = o->answer_tokens;
    if (call->hear) call->hear(out);
    if (out.is_last() && --call->open_choices == 0) delete call;
  }
  // Asks how many there are, then for them.
  template <typename T, typename Read>
  static Result<std::vector<T>> fetch(Read&& read) {
    std::size_t count = 0;
    nereid_status got = read(nullptr, 0, &count);
    std::vector<T> out(count);
    if (got == NEREID_OK && count > 0) got = read(out.data(), out.size(), &count);
    if (got != NEREID_OK) return Status::of(got);
    return out;
  }
  explicit LanguageModel(nereid_llm* handle) : handle_(handle) {}

  std::unique_ptr<nereid_llm, Close> handle_;
};

}  // namespace v1
}  // namespace nereid

#endif  // NEREID_LLM_HPP
