// SPDX-License-Identifier: Apache-2.0
#include "compile/choose_kernels.h"

#include <map>
#include <optional>
#include <set>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "tune/tuner.h"

namespace nereid::compile {
namespace {

constexpr const char* kInfoKey = "tactics";

// Runs the network once on zeros so that its kernels are bound and its weights packed. What the zeros themselves cause
// (a sequence of length nothing, an index out of range) is no matter.
Result<std::vector<runtime::NetProfile>> run_once(const OpenedNetwork& opened, ThreadPool& pool,
                                                  std::vector<std::string>& notes) {
  const auto context = runtime::NetContext::create(opened.network, pool);
  context->set_profiling(true);
  std::vector<ops::Datum> inputs;
  inputs.reserve(opened.inputs.size());
  for (const NamedType& in : opened.inputs) {
    if (!in.type.is_tensor() || !in.type.shape.is_ranked()) return std::vector<runtime::NetProfile>();
    std::vector<int64_t> sizes;
    for (const Dim& d : in.type.shape.dims()) sizes.push_back(d.is_static() ? d.size() : 1);
    NEREID_TRY(ops::Tensor zeros, ops::Tensor::zeros(in.type.dtype, std::move(sizes)));
    inputs.emplace_back(std::move(zeros));
  }
  for (size_t i = 0; i < inputs.size(); ++i) NEREID_RETURN_IF_ERROR(context->set_input(i, inputs[i]));
  const Status ran = context->run();
  notes = context->notes();
  if (ran.code() == StatusCode::kCancelled || ran.code() == StatusCode::kExhausted) return ran;
  return context->profile();
}

std::vector<tune::Task> tasks_of(const std::vector<runtime::NetProfile>& steps) {
  std::map<std::string, tune::Task> by_problem;
  for (const runtime::NetProfile& step : steps) {
    if (step.problem.empty()) continue;
    const auto [it, is_new] =
        by_problem.try_emplace(step.problem, tune::Task{.problem = step.problem, .rule = step.tactic, .count = 1});
    if (!is_new) ++it->second.count;
  }
  std::vector<tune::Task> tasks;
  for (auto& [problem, task] : by_problem) tasks.push_back(std::move(task));
  return tasks;
}

// Weights that do not all fit into the workers' L2 come from further away in each run, all of them.
int64_t cold_bytes(const runtime::Network& network, const CpuInfo& cpu, int workers) {
  const int64_t l2 = std::max(cpu.l2_bytes, int64_t{1} << 20) * workers;
  return network.packed_bytes() > l2 ? network.packed_bytes() : 0;
}

Status write_cache(const std::string& path, const tune::TimingCache& ours, AtomicFile file) {
  // Another build may have written it meanwhile.
  NEREID_TRY(tune::TimingCache all, tune::TimingCache::read(path));
  all.merge(ours);
  NEREID_RETURN_IF_ERROR(file.write(all.print()));
  return file.commit();
}

}  // namespace

Json KernelChoices::engine_info() const {
  Json chosen = Json::object();
  for (const tune::LayerChoice& layer : layers)
    if (layer.choice.chosen != layer.choice.rule) chosen[layer.choice.problem] = layer.choice.chosen;
  if (chosen.empty()) return nullptr;
  return {{"machine", machine}, {"threads", threads}, {"level", level}, {"choices", std::move(chosen)}};
}

std::string KernelChoices::to_text() const {
  std::string text;
  std::set<std::string_view> told;
  std::map<std::string_view, int64_t> counts;
  for (const tune::LayerChoice& layer : layers) ++counts[layer.choice.problem];
  for (const tune::LayerChoice& layer : layers) {
    const tune::ProblemChoice& c = layer.choice;
    if (!told.insert(c.problem).second) continue;
    text += fmt::format("{}", layer.layer);
    if (const int64_t count = counts[c.problem]; count > 1) text += fmt::format(" and {} more", count - 1);
    text += fmt::format(": {}\n    {}: {}{}\n", c.problem, c.chosen, c.reason, c.from_cache ? " (timing cache)" : "");
    for (const tune::TimedTactic& t : c.timed)
      text += fmt::format("    {:10.1f} us{} {}\n", t.us, t.given_up ? "+" : " ", t.tactic);
  }
  return text;
}

Result<KernelChoices> choose_kernels(OpenedNetwork& opened, ThreadPool& pool, const ChooseOptions& options,
                                     std::vector<std::string>& notes) {
  if (options.progress) options.progress("planning", 0, 0);
  KernelChoices out;
  NEREID_TRY(const std::vector<runtime::NetProfile> steps, run_once(opened, pool, notes));
  const CpuInfo cpu = read_cpu_info();
  const tune::DeviceKey device = tune::device_key(cpu, opened.network->kernels().isa, pool.size());
  out.machine = device.machine;
  out.level = options.level;
  out.threads = device.threads;
  const int64_t start_ns = now_ns();
  const std::vector<tune::Task> tasks = tasks_of(steps);
  tune::TimingCache cache;
  std::optional<AtomicFile> file;
  if (!options.timing_cache.empty()) {
    NEREID_TRY(cache, tune::TimingCache::read(options.timing_cache));
    if (const std::string warning = cache.warning(options.timing_cache); !warning.empty())
      opened.warnings.push_back(warning);
    // A folder that takes no file is found before the time is spent.
    if (options.level > 0) {
      NEREID_TRY(AtomicFile created, AtomicFile::create(options.timing_cache));
      file.emplace(std::move(created));
    }
  }
  const SystemClock clock;
  const tune::TuneRequest request{.tasks = tasks,
                                  .level = options.level,
                                  .device = device,
                                  .stop = options.stop,
                                  .progress = [&](int64_t done, int64_t total) {
                                    if (options.progress) options.progress("choosing kernels", done, total);
                                  }};
  NEREID_TRY(
      const std::vector<tune::ProblemChoice> answers,
      tune::choose(request,
                   tune::race_on(opened.network->kernels(), pool, cold_bytes(*opened.network, cpu, pool.size()), clock),
                   clock, cache));
  if (file) NEREID_RETURN_IF_ERROR(write_cache(options.timing_cache, cache, std::move(*file)));
  out.tune_ms = static_cast<double>(now_ns() - start_ns) / 1e6;
  out.problems = static_cast<int64_t>(answers.size());
  std::map<std::string_view, const tune::ProblemChoice*> by_problem;
  runtime::NetChoices chosen;
  for (const tune::ProblemChoice& answer : answers) {
    by_problem[answer.problem] = &answer;
    out.from_cache += answer.from_cache ? 1 : 0;
    if (answer.chosen != answer.rule) chosen[answer.problem] = answer.chosen;
  }
  for (const runtime::NetProfile& step : steps)
    if (const auto it = by_problem.find(step.problem); it != by_problem.end())
      out.layers.push_back({.layer = step.label, .choice = *it->second});
  if (chosen.empty()) return out;
  opened.network = opened.network->with_choices(std::move(chosen));
  NEREID_TRY(const auto again, run_once(opened, pool, notes));
  static_cast<void>(again);
  opened.network->forget_spare();
  return out;
}

Status tune_opened(OpenedNetwork& opened, const NetworkOptions& options, ThreadPool& pool) {
  const std::string& path = options.timing_cache;
  if (options.level > 0) {
    std::vector<std::string> notes;
    NEREID_TRY(const KernelChoices choices,
               choose_kernels(opened, pool, {.level = options.level, .timing_cache = path, .progress = {}, .stop = {}},
                              notes));
    static_cast<void>(choices);
    return Status::ok();
  }
  if (path.empty()) return Status::ok();
  NEREID_TRY(const tune::TimingCache cache, tune::TimingCache::read(path));
  if (const std::string warning = cache.warning(path); !warning.empty()) opened.warnings.push_back(warning);
  const tune::DeviceKey device = tune::device_key(read_cpu_info(), opened.network->kernels().isa, pool.size());
  runtime::NetChoices choices = cache.choices(device);
  if (!choices.empty())
    opened.network = opened.network->with_choices(std::move(choices));
  else
    opened.warnings.push_back(
        fmt::format("the timing cache {} knows nothing for this machine and {} threads: kernels "
                    "are chosen by rule",
                    path, pool.size()));
  return Status::ok();
}

runtime::NetChoices choices_of_engine(const Json& info, Isa isa, std::vector<std::string>& warnings) {
  runtime::NetChoices choices;
  const auto section = info.find(kInfoKey);
  if (section == info.end() || !section->is_object()) return choices;
  const auto found = section->find("machine");
  const std::string machine = found != section->end() && found->is_string() ? found->get<std::string>() : "";
  const std::string here = tune::device_key(read_cpu_info(), isa, 1).machine;
  if (machine != here) {
    warnings.push_back(
        fmt::format("the engine's kernels were timed on another machine ({}; this one is {}): here they "
                    "are chosen by rule",
                    machine, here));
    return choices;
  }
  const auto chosen = section->find("choices");
  if (chosen == section->end() || !chosen->is_object()) return choices;
  for (const auto& [problem, tactic] : chosen->items())
    if (tactic.is_string()) choices.emplace(problem, tactic.get<std::string>());
  return choices;
}

}  // namespace nereid::compile
