// SPDX-License-Identifier: Apache-2.0
// From nodes with known sizes to steps: what a binder may ask, and the table of binders.
//
// A binder either gives a step or a refusal that says why (kUnsupported); where every row refuses, the op's reference
// evaluator runs instead, which is never silent: Plan::notes has the reasons. Pointers are not known when a step is
// bound: the binder says which field of its parameters is to hold which value's address, and the plan fills it in.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "graph/graph.h"
#include "kernels/cpu/isa_kernels.h"
#include "runtime/net/network.h"
#include "runtime/net/step.h"

namespace nereid::runtime {

class NetBinder {
 public:
  virtual ~NetBinder() = default;
  virtual const Network& network() const = 0;
  virtual int workers() const = 0;
  // Concrete: every size is a number.
  virtual const ops::TensorType& type(graph::ValueId id) const = 0;
  // The bytes of a value that is the same in every run; null for others.
  virtual const void* constant(graph::ValueId id) const = 0;
  // The bytes of a value that is known while this plan serves (shapes and what follows from them); null for others.
  virtual const void* known(graph::ValueId id) const = 0;

  // Elements between the rows of a value (its last dimension): more than a row has where the value lies inside the one
  // that joins it to others. Values that other ops than the planner's kStrided make have none between them.
  virtual int64_t row_stride(graph::ValueId id) const = 0;
  // Whether a value lies inside the one that joins it to others: there is nothing to copy.
  virtual bool lies_inside(graph::ValueId id) const = 0;

  // The planes that a channels-last image was to be made from, where the one layer that reads it takes them as they
  // are, and nobody makes it; else no value.
  virtual graph::ValueId planes_of(graph::ValueId id) const = 0;

  // `field` (of a parameter block that stays where it is) shall hold the value's address, plus an offset in bytes.
  virtual void point(graph::ValueId id, void* field, int64_t offset = 0) = 0;
  // `field` shall hold the address of scratch memory that this step has for itself while it runs; 64-byte aligned.
  // Every call gives another piece.
  virtual void want_scratch(int64_t bytes, std::byte** field) = 0;

  // Where a step reports what is wrong with the values of a run; it outlives the step. One worker at a time writes it.
  virtual Status& error() = 0;

  const kernels::IsaKernels& kernels() const { return network().kernels(); }
  std::vector<int64_t> sizes(graph::ValueId id) const { return type(id).shape.sizes(); }
  DType dtype(graph::ValueId id) const { return type(id).dtype; }
  // kUnsupported unless all of these that are present are f32.
  Status expect_f32(std::span<const graph::ValueId> ids) const;
};

using NetBind = Result<std::unique_ptr<NetStep>>(NetBinder&, const graph::Node&);

struct NetBindRow {
  std::string_view op;
  NetBind* bind;
};
std::span<const NetBindRow> net_bind_table();

}  // namespace nereid::runtime
