// SPDX-License-Identifier: Apache-2.0
// What a run takes: values for the inputs, memory for the outputs. Copying one over another of the same sizes allocates
// nothing, so that every run in a queue can have its own.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "nereid/nereid.h"
#include "runtime/net/context.h"

namespace nereid::api {

class Bindings {
 public:
  Bindings() = default;
  Bindings(size_t inputs, size_t outputs) : inputs_(inputs), outputs_(outputs) {}

  // kInvalidArgument: the tensor is none, or not what the input is declared to be.
  Status set_input(const graph::Value& declared, size_t index, const nereid_tensor& tensor);
  void bind_output(size_t index, std::span<std::byte> memory) { outputs_[index] = memory; }
  // Gives them to a context that is about to run. They must stay where they are until the run has ended.
  Status apply(runtime::NetContext& context) const;

 private:
  struct Input {
    bool given = false;
    ConstTensorView view;
    std::vector<std::string> texts;  // of string tensors: the view's data, wherever this is copied
  };
  std::vector<Input> inputs_;
  std::vector<std::span<std::byte>> outputs_;
};

}  // namespace nereid::api
