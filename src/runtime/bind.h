// SPDX-License-Identifier: Apache-2.0
// From graph nodes to steps: where every value lives, and which kernel computes it.
//
// bind_table() has one row an op. A binder either gives a step or a refusal that says why; where every row refuses, the
// op's reference evaluator runs instead (reference_step.cc), which is never silent: Context::notes() has the reasons.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/adapter.h"
#include "runtime/program.h"
#include "runtime/step.h"

namespace nereid::runtime {

// Where a value lives in a context: rows of `cols` elements, `stride` elements apart.
struct Slot {
  std::byte* data = nullptr;
  DType dtype = DType::f32;
  Count rows;
  int64_t cols = 0;
  int64_t stride = 0;
  std::vector<Count> dims;  // all dimensions, for the reference evaluator
  float* f32() const { return reinterpret_cast<float*>(data); }
  int32_t* i32() const { return reinterpret_cast<int32_t*>(data); }
};

// What binders may ask a context that is being built.
class BindContext {
 public:
  virtual ~BindContext() = default;
  virtual const Program& program() const = 0;
  virtual const Slot& slot(graph::ValueId id) const = 0;  // all values but packed constants
  virtual int workers() const = 0;
  virtual int64_t bound(Count count) const = 0;  // the largest value it may take
  // Shared scratch for one step at a time; the address is known only when all steps are bound, so it is written
  // through `where` then.
  virtual void want_scratch(int64_t bytes, std::byte** where) = 0;
  // cos and sin rows for these positions (kernels/cpu/attention.h), made once a run and shared between steps.
  virtual Result<const float*> rope_table(graph::ValueId positions, graph::ValueId inv_freq, double scale) = 0;
  // Which of these rows carry an adapter in the run at hand, for a step that adds what adapters have for `weights`.
  virtual const AdapterGroups& adapters(Count rows, std::span<const graph::ValueId> weights) = 0;

  const graph::Graph& graph() const { return program().graph(); }
  const graph::Value& value(graph::ValueId id) const { return graph().value(id); }
};

struct BindRow {
  std::string_view op;
  // kUnsupported: a refusal, its message a reason; any other error ends the building of the context.
  Result<std::unique_ptr<Step>> (*bind)(BindContext&, const graph::Node&);
};
std::span<const BindRow> bind_table();

// The op's evaluator as a step, on worker 0 alone.
Result<std::unique_ptr<Step>> bind_reference(BindContext& context, const graph::Node& node);

}  // namespace nereid::runtime
