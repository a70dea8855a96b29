// SPDX-License-Identifier: Apache-2.0
#include "server/backend/llm/infer/llm_plan.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/file.h"
#include "base/json.h"

namespace nereid::server {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostJsonBytes = size_t{4} << 20;

using Set = Status (*)(std::string_view name, const std::string& value, LlmPlan* plan);

Result<int64_t> whole_number(std::string_view name, const std::string& value) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || number < 0)
    return invalid_argument("the parameter '{}' takes a whole number, found '{}'", name, value);
  return number;
}

Result<bool> yes_or_no(std::string_view name, std::string value) {
  std::transform(value.begin(), value.end(), value.begin(), [](unsigned char c) { return std::tolower(c); });
  if (value == "true" || value == "1" || value == "yes" || value == "on") return true;
  if (value == "false" || value == "0" || value == "no" || value == "off") return false;
  return invalid_argument("the parameter '{}' takes true or false, found '{}'", name, value);
}

template <auto member>
Status set_option_number(std::string_view name, const std::string& value, LlmPlan* plan) {
  NEREID_TRY(const int64_t number, whole_number(name, value));
  using Number = std::remove_reference_t<decltype(plan->options.executor.*member)>;
  plan->options.executor.*member = static_cast<Number>(number);
  return Status::ok();
}

template <auto member>
Status set_option_switch(std::string_view name, const std::string& value, LlmPlan* plan) {
  NEREID_TRY(plan->options.executor.*member, yes_or_no(name, value));
  return Status::ok();
}

Status set_path(std::string_view, const std::string& value, LlmPlan* plan) {
  plan->path = value;
  return Status::ok();
}

struct ParameterRow {
  std::string_view name;
  Set set;
};

using llm::ExecutorOptions;

// Nereid's own names, TensorRT-LLM's and (model.json) vLLM's; others are somebody else's and are left alone.
constexpr ParameterRow kParameters[] = {
    {"model", set_path},
    {"model_path", set_path},
    {"gpt_model_path", set_path},
    {"engine_dir", set_path},
    {"threads",
     [](std::string_view n, const std::string& v, LlmPlan* p) {
       NEREID_TRY(const int64_t threads, whole_number(n, v));
       p->options.open.threads = static_cast<int>(std::min<int64_t>(threads, 1024));
       return Status::ok();
     }},
    {"context",
     [](std::string_view n, const std::string& v, LlmPlan* p) {
       NEREID_TRY(p->options.open.context, whole_number(n, v));
       return Status::ok();
     }},
    {"kv_cache_dtype",
     [](std::string_view, const std::string& v, LlmPlan* p) {
       p->options.open.kv_cache_dtype = v == "auto" ? "" : v;
       return Status::ok();
     }},
    {"exact",
     [](std::string_view n, const std::string& v, LlmPlan* p) {
       NEREID_TRY(p->options.open.exact, yes_or_no(n, v));
       return Status::ok();
     }},
    {"chat_template",
     [](std::string_view, const std::string& v, LlmPlan* p) {
       p->options.chat_template = v;
       return Status::ok();
     }},
    {"draft",
     [](std::string_view, const std::string& v, LlmPlan* p) {
       p->options.draft = v;
       return Status::ok();
     }},
    {"max_sequences", set_option_number<&ExecutorOptions::max_sequences>},
    {"max_num_seqs", set_option_number<&ExecutorOptions::max_sequences>},
    {"step_tokens", set_option_number<&ExecutorOptions::step_tokens>},
    {"max_num_batched_tokens", set_option_number<&ExecutorOptions::step_tokens>},
    {"max_num_tokens", set_option_number<&ExecutorOptions::step_tokens>},
    {"max_queue", set_option_number<&ExecutorOptions::max_queue>},
    {"max_tokens_in_paged_kv_cache", set_option_number<&ExecutorOptions::cache_tokens>},
    {"kv_cache_host_memory_bytes", set_option_number<&ExecutorOptions::host_memory_bytes>},
    {"max_loras", set_option_number<&ExecutorOptions::max_adapters>},
    {"enable_kv_cache_reuse", set_option_switch<&ExecutorOptions::reuse_prefixes>},
    {"enable_prefix_caching", set_option_switch<&ExecutorOptions::reuse_prefixes>},
    {"max_model_len",
     [](std::string_view n, const std::string& v, LlmPlan* p) {
       NEREID_TRY(p->options.open.context, whole_number(n, v));
       return Status::ok();
     }},
    {"batch_scheduler_policy",
     [](std::string_view n, const std::string& v, LlmPlan* p) {
       if (v != "guaranteed_no_evict" && v != "max_utilization")
         return invalid_argument("the parameter '{}' is guaranteed_no_evict or max_utilization, found '{}'", n, v);
       p->options.executor.policy =
           v == "max_utilization" ? llm::SchedulePolicy::kMaxUtilization : llm::SchedulePolicy::kGuaranteedNoEvict;
       return Status::ok();
     }},
    {"exclude_input_in_output",
     [](std::string_view n, const std::string& v, LlmPlan* p) {
       NEREID_TRY(const bool excludes, yes_or_no(n, v));
       p->style = excludes ? AskStyle::kPlain : AskStyle::kTensorRtLlm;
       return Status::ok();
     }},
    {"accumulate_tokens",
     [](std::string_view n, const std::string& v, LlmPlan* p) {
       NEREID_TRY(p->accumulates, yes_or_no(n, v));
       return Status::ok();
     }},
};

// As others take it: a template that was not filled in is a value that was not given.
bool is_unfilled(std::string_view value) {
  return value.starts_with("${") && value.ends_with("}");
}

Status take_parameter(std::string_view name, const std::string& value, LlmPlan* plan) {
  for (const ParameterRow& row : kParameters)
    if (row.name == name) {
      if (value.empty()) return Status::ok();
      if (!is_unfilled(value)) return row.set(name, value, plan);
      if (row.set != set_path) return Status::ok();
      return invalid_argument(
          "the parameter '{}' is '{}': a template that nobody has filled in; give the path of a model", name, value);
    }
  return Status::ok();
}

std::string text_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.dump();
}

// vLLM's engine arguments.
Status read_engine_arguments(const std::string& path, LlmPlan* plan) {
  NEREID_TRY(const std::string text, read_file(path, kMostJsonBytes));
  NEREID_TRY(const Json json, parse_json(text).with(path));
  if (!json.is_object()) return invalid_argument("{}: a JSON object of vLLM's engine arguments was expected", path);
  for (const auto& [name, value] : json.items())
    if (!value.is_null()) NEREID_RETURN_IF_ERROR(take_parameter(name, text_of(value), plan).with(path));
  return Status::ok();
}

// vLLM's names and folders of adapters.
Status read_adapters(const std::string& folder, LlmPlan* plan) {
  const std::string path = folder + "/multi_lora.json";
  if (!file_info(path).is_ok()) return Status::ok();
  NEREID_TRY(const std::string text, read_file(path, kMostJsonBytes));
  NEREID_TRY(const Json json, parse_json(text).with(path));
  if (!json.is_object()) return invalid_argument("{}: a JSON object of names and folders was expected", path);
  for (const auto& [name, value] : json.items()) {
    if (!value.is_string()) return invalid_argument("{}: the folder of the adapter '{}' is no text", path, name);
    fs::path where = value.get<std::string>();
    if (where.is_relative()) where = fs::path(folder) / where;
    plan->adapters.push_back({name, where.string()});
  }
  return Status::ok();
}

bool exists(const std::string& path) {
  return file_info(path).is_ok();
}

// What lies in the version's folder: an engine, a GGUF file, or a checkpoint as it came.
std::string find_weights(const std::string& folder) {
  if (exists(folder + "/config.json")) return folder;
  std::vector<std::string> found, folders;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string path = it->path().string();
    std::error_code ignored;
    if (path.ends_with(".engine") || path.ends_with(".gguf")) found.push_back(path);
    if (it->is_directory(ignored) && exists(path + "/config.json")) folders.push_back(path);
  }
  std::sort(found.begin(), found.end());
  if (!found.empty()) return found.front();
  return folders.size() == 1 ? folders.front() : std::string();
}

bool has_input(const ModelConfig& config, std::string_view name) {
  return std::any_of(config.inputs.begin(), config.inputs.end(), [&](const auto& one) { return one.name == name; });
}

}  // namespace

bool is_llm_backend(std::string_view backend) {
  return backend == "llm" || backend == "tensorrtllm" || backend == "tensorrt_llm" || backend == "vllm";
}

Result<LlmPlan> plan_llm(const ModelConfig& config, const ModelPlace& place) {
  LlmPlan plan;
  plan.options.name = config.name;
  if (config.backend == "vllm") plan.style = AskStyle::kVllm;
  if (config.backend.starts_with("tensorrt")) plan.style = AskStyle::kTensorRtLlm;
  const bool is_token_level =
      has_input(config, "input_ids") || (config.inputs.empty() && plan.style == AskStyle::kTensorRtLlm);
  plan.form = is_token_level ? AskForm::kTokens : AskForm::kText;
  if (config.dynamic_batching && config.dynamic_batching->default_policy.max_size > 0)
    plan.options.executor.max_queue = config.dynamic_batching->default_policy.max_size;
  const std::string arguments = place.version_folder + "/model.json";
  if (exists(arguments)) {
    NEREID_RETURN_IF_ERROR(read_engine_arguments(arguments, &plan));
    NEREID_RETURN_IF_ERROR(read_adapters(place.version_folder, &plan));
  } else if (config.backend == "vllm" && !config.parameters.contains("model")) {
    return not_found("'model.json' with vLLM's engine arguments was expected in '{}'", place.version_folder);
  }
  for (const auto& [name, value] : config.parameters) NEREID_RETURN_IF_ERROR(take_parameter(name, value, &plan));
  if (plan.path.empty() && !config.model_file.empty() && exists(place.version_folder + "/" + config.model_file))
    plan.path = place.version_folder + "/" + config.model_file;
  if (plan.path.empty()) plan.path = find_weights(place.version_folder);
  if (fs::path(plan.path).is_relative() && !plan.path.empty() && exists(place.version_folder + "/" + plan.path))
    plan.path = place.version_folder + "/" + plan.path;
  return plan;
}

}  // namespace nereid::server
