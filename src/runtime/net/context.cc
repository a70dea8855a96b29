// SPDX-License-Identifier: Apache-2.0
#include "runtime/net/context.h"

#include <algorithm>

#include "graph/evaluate.h"
#include "runtime/net/graph_runner.h"

namespace nereid::runtime {
namespace {

bool same_type(const ops::TensorType& type, const ConstTensorView& tensor) {
  if (type.dtype != tensor.dtype || type.shape.rank() != tensor.rank()) return false;
  for (int d = 0; d < tensor.rank(); ++d)
    if (type.shape[d].size() != tensor.sizes[static_cast<size_t>(d)]) return false;
  return true;
}

}  // namespace

struct NetContext::Impl {
  std::shared_ptr<const Network> network;
  std::unique_ptr<GraphRunner> runner;
  bool profiling = false;
};

NetContext::NetContext() : impl_(std::make_unique<Impl>()) {}
NetContext::~NetContext() = default;

std::unique_ptr<NetContext> NetContext::create(std::shared_ptr<const Network> network, ThreadPool& pool) {
  std::unique_ptr<NetContext> context(new NetContext);
  context->impl_->runner = std::make_unique<GraphRunner>(*network, network->graph(), pool);
  context->impl_->network = std::move(network);
  return context;
}

Status NetContext::set_input(size_t index, const ConstTensorView& tensor) {
  const graph::Graph& g = impl_->network->graph();
  NEREID_CHECK(index < g.inputs().size());
  const graph::ValueId id = g.inputs()[index];
  NetValue& v = impl_->runner->values()[static_cast<size_t>(id.v)];
  if (v.kind == NetValue::Kind::kTensor && same_type(v.type, tensor)) {
    v.data = tensor.data;
    v.datum = nullptr;
    return Status::ok();
  }
  const ops::TensorType type{tensor.dtype, Shape::of(tensor.sizes)};
  NEREID_RETURN_IF_ERROR(graph::check_input(g.value(id), type));
  v = {.kind = NetValue::Kind::kTensor, .type = type, .data = tensor.data};
  return Status::ok();
}

Status NetContext::set_input(size_t index, const ops::Datum& value) {
  if (value.is_tensor()) return set_input(index, value.view());
  const graph::Graph& g = impl_->network->graph();
  NEREID_CHECK(index < g.inputs().size());
  const graph::ValueId id = g.inputs()[index];
  const ops::TensorType type = ops::type_of(value);
  NEREID_RETURN_IF_ERROR(graph::check_input(g.value(id), type));
  impl_->runner->values()[static_cast<size_t>(id.v)] = {
      .kind = NetValue::Kind::kDatum, .type = type, .data = nullptr, .datum = &value};
  return Status::ok();
}

Status NetContext::run() {
  const graph::Graph& g = impl_->network->graph();
  for (graph::ValueId id : g.inputs())
    if (impl_->runner->value(id).kind == NetValue::Kind::kNone)
      return invalid_argument("the input '{}' ({}) is not given", g.value(id).name, g.value(id).type.to_string());
  // After a run that fails there is no output, instead of an earlier run's in memory that may be gone.
  for (graph::ValueId id : g.outputs())
    if (g.value(id).kind == graph::Value::Kind::kResult)
      impl_->runner->values()[static_cast<size_t>(id.v)].kind = NetValue::Kind::kNone;
  NEREID_RETURN_IF_ERROR(impl_->runner->run(impl_->profiling));
  return impl_->runner->deliver_outputs();
}

void NetContext::bind_output(size_t index, std::span<std::byte> memory) {
  NEREID_CHECK(index < impl_->network->graph().outputs().size());
  impl_->runner->bind_output(index, memory);
}

void NetContext::set_stop(const std::atomic<bool>* stop) {
  impl_->runner->set_stop(stop);
}

ConstTensorView NetContext::output(size_t index) const {
  const NetValue& v = impl_->runner->value(impl_->network->graph().outputs()[index]);
  if (v.kind == NetValue::Kind::kDatum || v.kind == NetValue::Kind::kNone) return {};
  return v.view();
}

const ops::TensorType& NetContext::output_type(size_t index) const {
  return impl_->runner->value(impl_->network->graph().outputs()[index]).type;
}

const void* NetContext::output_data(size_t index) const {
  const NetValue& v = impl_->runner->value(impl_->network->graph().outputs()[index]);
  return v.kind == NetValue::Kind::kDatum || v.kind == NetValue::Kind::kNone ? nullptr : v.data;
}

ops::Datum NetContext::output_value(size_t index) const {
  return GraphRunner::copy(impl_->runner->value(impl_->network->graph().outputs()[index]));
}

std::vector<std::string> NetContext::notes() const {
  std::vector<std::string> notes;
  impl_->runner->collect_notes(notes);
  std::ranges::sort(notes);
  notes.erase(std::unique(notes.begin(), notes.end()), notes.end());
  return notes;
}

int64_t NetContext::memory_bytes() const {
  return impl_->runner->memory_bytes();
}

void NetContext::set_profiling(bool on) {
  impl_->profiling = on;
}

std::vector<NetLayer> NetContext::layers() const {
  std::vector<NetLayer> out;
  impl_->runner->collect_layers("", out);
  return out;
}

std::vector<NetProfile> NetContext::profile() const {
  std::vector<NetProfile> out;
  impl_->runner->collect_profile(out);
  return out;
}

}  // namespace nereid::runtime
