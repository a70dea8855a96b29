// SPDX-License-Identifier: Apache-2.0
// Which ops work element by element with numpy's broadcasting, and what they are as steps of a program.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "passes/edit.h"

namespace nereid::passes {

// Every result's element depends on the operands' elements in its place alone; operands broadcast.
bool is_elementwise(std::string_view op);

// An activation as the lowered ops have it (ops/epilogue.h): name and parameters.
struct Activation {
  std::string_view name;
  double alpha = 1, beta = 0;
};
// Of nodes that apply one to their first input; nothing for others, and for clips whose limits are not known.
std::optional<Activation> activation_of(const Edit& edit, const graph::Node& node);

// Codes in and out of programs: dequantising and quantising with one known scale.
bool is_program_quantiser(const Edit& edit, const graph::Node& node);
// How many of the node's inputs are values that a program computes with; the others are numbers that its steps hold.
size_t program_operands(const graph::Node& node);

// Writes a node as steps (ops/program.h).
class StepWriter {
 public:
  // Indices below `inputs` are the program's inputs.
  explicit StepWriter(size_t inputs) : inputs_(inputs) {}
  // The index of the node's result, or nothing if there are no steps for it. `operand(i)` gives the index of input i,
  // or nothing if that is a number, which `constant(i)` then gives.
  struct Operand {
    std::optional<int> index;
    double number = 0;
  };
  std::optional<int> write(const graph::Node& node, const std::vector<Operand>& operands,
                           const std::optional<Activation>& activation);
  // A node for which is_program_quantiser holds. Codes are whole numbers; the program's result saturates.
  int write_quantiser(const Edit& edit, const graph::Node& node, const Operand& operand);
  const std::vector<std::string>& steps() const { return steps_; }

 private:
  int emit(std::string_view primitive, std::vector<int> operands, std::vector<double> constants = {});
  int place(const Operand& operand);
  std::optional<int> binary(std::string_view op, const Operand& a, const Operand& b);

  size_t inputs_;
  std::vector<std::string> steps_;
};

}  // namespace nereid::passes
