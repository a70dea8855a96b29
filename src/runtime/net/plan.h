// SPDX-License-Identifier: Apache-2.0
// A stretch of a graph's nodes with all sizes known: bound steps and the memory they work in. Private to runtime/net.
//
// A plan begins at some node with the types of what has been computed before, and goes on as long as every size can be
// told. It ends before a node whose result's size hangs on a value that this stretch computes (the next plan looks at
// that value), or with a node that only a run can size or that runs graphs ("dynamic"). What is known when the plan is
// made (shapes, and the arithmetic on them) is computed once and kept.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "graph/graph.h"
#include "ops/datum.h"
#include "runtime/net/network.h"
#include "runtime/net/step.h"

namespace nereid::runtime {

// What a run knows of a value.
struct NetValue {
  enum class Kind : uint8_t { kNone, kConstant, kTensor, kDatum };
  Kind kind = Kind::kNone;
  ops::TensorType type;               // of tensors: concrete
  const void* data = nullptr;         // kConstant, kTensor
  const ops::Datum* datum = nullptr;  // kDatum: a sequence, an optional, a map
  ConstTensorView view() const { return {data, type.dtype, type.shape.sizes()}; }
};

struct Plan {
  // Where it begins and ends in the graph's order, and whether the last node is dynamic.
  size_t begin = 0, end = 0;
  bool ends_dynamic = false;

  // What must be as it was when the plan was made.
  struct External {
    graph::ValueId id;
    ops::TensorType type;
    bool is_tensor = true;
  };
  std::vector<External> externals;
  struct Peeked {
    graph::ValueId id;
    ops::Tensor value;
  };
  std::vector<Peeked> peeked;

  std::vector<std::unique_ptr<NetStep>> steps;
  std::vector<int64_t> step_ns;
  std::vector<size_t> timed_as;  // by step: the first step of its node, which has the time of all (image_blocks.h)
  struct Made {
    graph::ValueId id;
    NetValue value;
  };
  std::vector<Made> made;  // values that are there once the steps have run
  struct Pointer {
    graph::ValueId id;
    void* field;
    int64_t offset;
  };
  std::vector<Pointer> external_pointers;  // to be set whenever an external value has moved
  std::vector<const void*> last_address;   // by external

  // Results that leave the network and fill a piece of the arena of their own: they may lie in the caller's memory
  // instead, for which whatever points into them is set anew.
  struct Output {
    graph::ValueId id;
    int64_t bytes = 0;
    std::byte* home = nullptr;  // in the arena
    std::byte* now = nullptr;   // where the pointers lead
    struct Field {
      void* field;
      int64_t offset;
    };
    std::vector<Field> fields;
  };
  std::vector<Output> outputs;

  std::deque<ops::Tensor> folded;
  Buffer arena, scratch;
  int64_t arena_bytes = 0;
  std::vector<std::string> notes;  // what runs on a reference evaluator and why
  Status error;                    // of the last run: what an evaluator found in the values
};

struct PlanRequest {
  const Network& network;
  const graph::Graph& graph;
  const std::vector<NetValue>& values;  // by value id
  size_t begin = 0;
  int workers = 1;
};

Result<std::unique_ptr<Plan>> make_plan(const PlanRequest& request);

// Whether a plan serves what is there now.
bool serves(const Plan& plan, const std::vector<NetValue>& values);

}  // namespace nereid::runtime
