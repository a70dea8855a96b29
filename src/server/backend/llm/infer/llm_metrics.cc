// SPDX-License-Identifier: Apache-2.0
#include "server/backend/llm/infer/llm_metrics.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::server {
namespace {

struct Value {
  std::string_view family, label, value;
  double (*of)(const LlmFigures& f);
};

double share(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

constexpr std::string_view kRequests = "nv_trt_llm_request_metrics";
constexpr std::string_view kPages = "nv_trt_llm_kv_cache_block_metrics";
constexpr std::string_view kGeneral = "nv_trt_llm_general_metrics";

struct Family {
  std::string_view name, help;
};
constexpr Family kFamilies[] = {{kRequests, "TRT LLM request metrics"},
                                {kPages, "TRT LLM KV cache block metrics"},
                                {kGeneral, "General TRT LLM metrics"}};

constexpr Value kValues[] = {
    {kRequests, "request_type", "active",
     [](const LlmFigures& f) { return static_cast<double>(f.stats.requests_running + f.stats.requests_waiting); }},
    {kRequests, "request_type", "scheduled",
     [](const LlmFigures& f) { return static_cast<double>(f.stats.requests_running); }},
    {kRequests, "request_type", "waiting",
     [](const LlmFigures& f) { return static_cast<double>(f.stats.requests_waiting); }},
    {kRequests, "request_type", "max", [](const LlmFigures& f) { return static_cast<double>(f.max_sequences); }},
    {kPages, "kv_cache_block_type", "used",
     [](const LlmFigures& f) { return static_cast<double>(f.stats.pages_used); }},
    {kPages, "kv_cache_block_type", "free",
     [](const LlmFigures& f) { return static_cast<double>(f.stats.pages - f.stats.pages_used); }},
    {kPages, "kv_cache_block_type", "max", [](const LlmFigures& f) { return static_cast<double>(f.stats.pages); }},
    {kPages, "kv_cache_block_type", "tokens_per",
     [](const LlmFigures& f) { return static_cast<double>(f.page_tokens); }},
    {kPages, "kv_cache_block_type", "fraction",
     [](const LlmFigures& f) { return share(f.stats.pages_used, f.stats.pages); }},
    {kGeneral, "general_type", "iteration_counter",
     [](const LlmFigures& f) { return static_cast<double>(f.stats.steps); }},
};

}  // namespace

std::string llm_metrics_text(const std::vector<LlmFigures>& models) {
  std::string out;
  if (models.empty()) return out;
  for (const Family& family : kFamilies) {
    out += fmt::format("# HELP {} {}\n# TYPE {} gauge\n", family.name, family.help, family.name);
    for (const LlmFigures& model : models)
      for (const Value& value : kValues)
        if (value.family == family.name)
          out += fmt::format("{}{{{}=\"{}\",model=\"{}\",version=\"{}\"}} {}\n", family.name, value.label, value.value,
                             model.model, model.version, value.of(model));
  }
  return out;
}

}  // namespace nereid::server
