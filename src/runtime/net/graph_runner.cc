// SPDX-License-Identifier: Apache-2.0
#include "runtime/net/graph_runner.h"

#include <algorithm>
#include <cstring>

#include "base/clock.h"
#include "graph/control.h"
#include "graph/evaluate.h"
#include "ops/elements.h"
#include "ops/run.h"

namespace nereid::runtime {
namespace {

// Of a tensor whose sizes are known, without a list of them. Not of strings.
int64_t known_bytes(const ops::TensorType& type) {
  int64_t elements = 1;
  for (const Dim& d : type.shape.dims()) elements *= d.size();
  return dtype_bytes(type.dtype, elements).value_or(0);
}

constexpr size_t kMostPlans = 8;  // kept a place; a server that sees more shapes than this makes plans anew

}  // namespace

GraphRunner::GraphRunner(const Network& network, const graph::Graph& graph, ThreadPool& pool)
    : network_(network), graph_(graph), pool_(pool), values_(graph.value_count()), owned_(graph.value_count()) {
  joined_.reserve(graph.constants().size());
  for (graph::ValueId id : graph.constants()) {
    const graph::Value& v = graph.value(id);
    NetValue& mine = values_[static_cast<size_t>(id.v)];
    mine.kind = NetValue::Kind::kConstant;
    mine.type = v.type;
    if (v.data.parts.size() == 1) {
      mine.data = v.data.parts[0].data;
    } else if (auto whole = graph::join_parts(v); whole.is_ok()) {
      joined_.push_back(std::move(whole).value());
      mine.data = std::as_const(joined_.back()).view().data;
    } else {
      mine.kind = NetValue::Kind::kNone;
    }
  }
}

ops::Datum GraphRunner::copy(const NetValue& value) {
  if (value.kind == NetValue::Kind::kDatum) return *value.datum;
  return ops::Tensor::copy(value.view());
}

Result<Plan*> GraphRunner::plan_at(size_t begin) {
  std::vector<std::unique_ptr<Plan>>& plans = plans_[begin];
  for (size_t i = 0; i < plans.size(); ++i) {
    if (!serves(*plans[i], values_)) continue;
    if (i > 0)
      std::rotate(plans.begin(), plans.begin() + static_cast<ptrdiff_t>(i),
                  plans.begin() + static_cast<ptrdiff_t>(i) + 1);
    return plans[0].get();
  }
  NEREID_TRY(
      std::unique_ptr<Plan> plan,
      make_plan({.network = network_, .graph = graph_, .values = values_, .begin = begin, .workers = pool_.size()}));
  if (plans.size() == kMostPlans) plans.pop_back();
  plans.insert(plans.begin(), std::move(plan));
  return plans[0].get();
}

Status GraphRunner::run(bool profiling) {
  const size_t end = graph_.order().size();
  for (size_t at = 0; at < end;) {
    if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) return cancelled("the run was stopped");
    NEREID_TRY(Plan * plan, plan_at(at));
    NEREID_RETURN_IF_ERROR(run_steps(*plan, profiling));
    for (const Plan::Made& m : plan->made) values_[static_cast<size_t>(m.id.v)] = m.value;
    if (plan->ends_dynamic) NEREID_RETURN_IF_ERROR(run_dynamic(graph_.order()[plan->end - 1], profiling));
    at = plan->end;
  }
  return Status::ok();
}

void GraphRunner::bind_output(size_t index, std::span<std::byte> memory) {
  bound_.resize(graph_.outputs().size());
  bound_[index] = memory;
}

// Where an output of the plan is to lie now. What overlaps an input must not be written before that has been read.
std::byte* GraphRunner::place_for(const Plan::Output& output) const {
  for (size_t i = 0; i < bound_.size(); ++i) {
    const std::span<std::byte> memory = bound_[i];
    if (graph_.outputs()[i] != output.id || static_cast<int64_t>(memory.size()) < output.bytes) continue;
    for (const graph::ValueId in : graph_.inputs()) {
      const NetValue& v = value(in);
      if (v.kind != NetValue::Kind::kTensor || v.type.dtype == DType::string) continue;
      const auto* first = static_cast<const std::byte*>(v.data);
      if (first < memory.data() + output.bytes && memory.data() < first + known_bytes(v.type)) return output.home;
    }
    return memory.data();
  }
  return output.home;
}

void GraphRunner::place_outputs(Plan& plan) {
  for (Plan::Output& output : plan.outputs) {
    std::byte* const place = place_for(output);
    if (place == output.now) continue;
    for (const Plan::Output::Field& f : output.fields) {
      const void* address = place + f.offset;
      std::memcpy(f.field, &address, sizeof(address));
    }
    output.now = place;
  }
}

Status GraphRunner::deliver_outputs() {
  for (size_t i = 0; i < bound_.size(); ++i) {
    if (bound_[i].data() == nullptr) continue;
    const graph::Value& declared = graph_.value(graph_.outputs()[i]);
    const NetValue& v = value(graph_.outputs()[i]);
    if (v.kind == NetValue::Kind::kDatum || v.kind == NetValue::Kind::kNone || v.type.dtype == DType::string)
      return unsupported("the output '{}' is {}, which cannot be written into a buffer", declared.name,
                         v.type.to_string());
    const int64_t bytes = known_bytes(v.type);
    if (bytes > static_cast<int64_t>(bound_[i].size()))
      return invalid_argument("the output '{}' is {}, which takes {} bytes; the buffer that is bound to it has {}",
                              declared.name, v.type.to_string(), bytes, bound_[i].size());
    if (bytes > 0 && v.data != bound_[i].data()) std::memmove(bound_[i].data(), v.data, static_cast<size_t>(bytes));
  }
  return Status::ok();
}

Status GraphRunner::run_steps(Plan& plan, bool profiling) {
  place_outputs(plan);
  for (const Plan::Pointer& p : plan.external_pointers) {
    const void* address = static_cast<const std::byte*>(values_[static_cast<size_t>(p.id.v)].data) + p.offset;
    std::memcpy(p.field, &address, sizeof(address));
  }
  if (plan.steps.empty()) return Status::ok();
  plan.error = Status::ok();
  // Set by worker 0 ahead of a barrier, to a step that nobody can have come to: all workers leave at the same one.
  std::atomic<size_t> end = plan.steps.size();
  pool_.run([&](Worker& w) {
    for (size_t i = 0; i < end.load(std::memory_order_relaxed); ++i) {
      const int64_t start = profiling ? now_ns() : 0;
      plan.steps[i]->run(w);
      if (w.index() == 0 && stop_ != nullptr && stop_->load(std::memory_order_relaxed))
        end.store(std::min(end.load(std::memory_order_relaxed), i + 1), std::memory_order_relaxed);
      w.barrier();
      if (profiling && w.index() == 0) plan.step_ns[plan.timed_as[i]] += now_ns() - start;
    }
  });
  if (end.load(std::memory_order_relaxed) < plan.steps.size()) return cancelled("the run was stopped");
  return plan.error;
}

GraphRunner& GraphRunner::region(graph::NodeId id, size_t index) {
  std::unique_ptr<GraphRunner>& runner = regions_[{id.v, index}];
  if (runner == nullptr) runner = std::make_unique<GraphRunner>(network_, *graph_.node(id).regions[index], pool_);
  runner->stop_ = stop_;
  return *runner;
}

void GraphRunner::give(graph::ValueId id, ops::Datum datum) {
  std::unique_ptr<ops::Datum>& mine = owned_[static_cast<size_t>(id.v)];
  mine = std::make_unique<ops::Datum>(std::move(datum));
  NetValue& v = values_[static_cast<size_t>(id.v)];
  v.type = ops::type_of(*mine);
  v.kind = mine->is_tensor() ? NetValue::Kind::kTensor : NetValue::Kind::kDatum;
  v.data = mine->is_tensor() ? mine->view().data : nullptr;
  v.datum = mine.get();
}

// The branch's results stay in the branch's memory, which is not touched before the next run.
Status GraphRunner::run_if(const graph::Node& node, bool profiling) {
  const NetValue& condition = value(node.inputs[0]);
  if (condition.kind == NetValue::Kind::kDatum || condition.type.dtype != DType::boolean ||
      condition.type.shape.elements() != 1)
    return invalid_argument("the condition should be one bool, but is {}", condition.type.to_string());
  const graph::NodeId id = graph_.value(node.outputs[0]).producer;
  const size_t branch = *static_cast<const bool*>(condition.data) ? 0 : 1;
  GraphRunner& inner = region(id, branch);
  const std::vector<graph::ValueId>& formals = inner.graph_.inputs();
  for (size_t i = 0; i < formals.size(); ++i) {
    NetValue outside = value(node.inputs[node.inputs.size() - formals.size() + i]);
    if (outside.kind == NetValue::Kind::kConstant) outside.kind = NetValue::Kind::kTensor;
    inner.values_[static_cast<size_t>(formals[i].v)] = outside;
  }
  NEREID_RETURN_IF_ERROR(inner.run(profiling));
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    NetValue result = inner.value(inner.graph_.outputs()[i]);
    if (result.kind == NetValue::Kind::kConstant) result.kind = NetValue::Kind::kTensor;
    values_[static_cast<size_t>(node.outputs[i].v)] = result;
  }
  return Status::ok();
}

Status GraphRunner::run_dynamic(graph::NodeId id, bool profiling) {
  const graph::Node& node = graph_.node(id);
  const std::string where =
      fmt::format("{} %{}", node.op->name, node.outputs.empty() ? std::string() : graph_.value(node.outputs[0]).name);
  if (node.op->name == "if") return run_if(node, profiling).with(where);
  std::vector<std::unique_ptr<ops::Datum>> copies;
  std::vector<const ops::Datum*> inputs;
  for (graph::ValueId in : node.inputs) {
    inputs.push_back(nullptr);
    if (!in.valid()) continue;
    const NetValue& v = value(in);
    if (v.kind == NetValue::Kind::kNone) return internal("{}: %{} is not there", where, graph_.value(in).name);
    if (v.kind == NetValue::Kind::kConstant) network_.want(v.data, true);
    if (v.datum != nullptr && (v.kind == NetValue::Kind::kDatum || v.data == v.datum->view().data)) {
      inputs.back() = v.datum;
    } else {
      copies.push_back(std::make_unique<ops::Datum>(copy(v)));
      inputs.back() = copies.back().get();
    }
  }
  Result<std::vector<ops::Datum>> results =
      node.regions.empty()
          ? ops::run_any(*node.op, inputs, node.attrs)
          : graph::run_control(
                node, inputs,
                [&](size_t index, std::span<const ops::Datum* const> given) -> Result<std::vector<ops::Datum>> {
                  GraphRunner& inner = region(id, index);
                  for (size_t i = 0; i < given.size(); ++i) {
                    NetValue& v = inner.values_[static_cast<size_t>(inner.graph_.inputs()[i].v)];
                    v = {.kind = given[i]->is_tensor() ? NetValue::Kind::kTensor : NetValue::Kind::kDatum,
                         .type = ops::type_of(*given[i]),
                         .data = given[i]->is_tensor() ? given[i]->view().data : nullptr,
                         .datum = given[i]};
                  }
                  NEREID_RETURN_IF_ERROR(inner.run(profiling));
                  std::vector<ops::Datum> out;
                  for (graph::ValueId o : inner.graph_.outputs()) out.push_back(copy(inner.value(o)));
                  return out;
                });
  if (!results.is_ok()) return results.status().with(where);
  if (results->size() < node.outputs.size())
    return internal("{}: {} results where {} are wanted", where, results->size(), node.outputs.size());
  for (size_t i = 0; i < node.outputs.size(); ++i) give(node.outputs[i], std::move((*results)[i]));
  return Status::ok();
}

void GraphRunner::collect_notes(std::vector<std::string>& notes) const {
  for (const auto& [begin, plans] : plans_)
    for (const auto& plan : plans) notes.insert(notes.end(), plan->notes.begin(), plan->notes.end());
  for (const auto& [key, runner] : regions_) runner->collect_notes(notes);
}

void GraphRunner::collect_profile(std::vector<NetProfile>& profile) const {
  for (const auto& [begin, plans] : plans_)
    for (const auto& plan : plans)
      for (size_t i = 0; i < plan->steps.size(); ++i)
        if (const NetStep& step = *plan->steps[i]; plan->step_ns[i] > 0)
          profile.push_back({step.label, step.kernel, step.problem, step.tactic, plan->step_ns[i]});
  for (const auto& [key, runner] : regions_) runner->collect_profile(profile);
}

int64_t GraphRunner::memory_bytes() const {
  int64_t sum = 0;
  for (const auto& [begin, plans] : plans_)
    for (const auto& plan : plans) sum += static_cast<int64_t>(plan->arena.size() + plan->scratch.size());
  for (const auto& [key, runner] : regions_) sum += runner->memory_bytes();
  return sum;
}

}  // namespace nereid::runtime
