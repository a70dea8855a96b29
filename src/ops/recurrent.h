// SPDX-License-Identifier: Apache-2.0
// What rnn, gru and lstm share: arguments and attributes, their shape rule, and the walk over directions, samples and
// steps that calls one cell.
//
// Shapes, with D directions (2 if bidirectional), S steps, N samples, I inputs, H hidden units and G gates:
// x [S, N, I], w [D, G*H, I], r [D, G*H, H], b [D, 2*G*H] (of w, then of r), sequence_lens [N], initial_h [D, N, H];
// y [S, D, N, H], y_h [D, N, H]. With layout 1: x [N, S, I], states [N, D, H], y [N, S, D, H].
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "ops/elements.h"
#include "ops/op.h"

namespace nereid::ops {

enum RecurrentInput : size_t {
  kRecurrentX,
  kRecurrentW,
  kRecurrentR,
  kRecurrentB,
  kRecurrentLens,
  kRecurrentH,
  kRecurrentC,
  kRecurrentP
};

// The inputs in that order; rnn and gru have no cell, and no use for the last two.
inline constexpr ArgSpec kRecurrentInputs[] = {{.name = "x"},
                                               {.name = "w"},
                                               {.name = "r"},
                                               {.name = "b", .optional = true},
                                               {.name = "sequence_lens", .optional = true},
                                               {.name = "initial_h", .optional = true},
                                               {.name = "initial_c", .optional = true},
                                               {.name = "p", .optional = true}};

// One function a gate, with its parameters.
struct RecurrentActivation {
  enum class Kind {
    kAffine,
    kElu,
    kHardSigmoid,
    kLeakyRelu,
    kRelu,
    kScaledTanh,
    kSigmoid,
    kSoftplus,
    kSoftsign,
    kTanh,
    kThresholdedRelu
  } kind = Kind::kTanh;
  double alpha = 0, beta = 0;
  double clip = 0;  // bound on the argument's size; 0: none
  double operator()(double x) const;
};

// The weights of one direction.
struct RecurrentCell {
  int64_t hidden = 0;
  const double* r = nullptr;   // [G*H, H]
  const double* rb = nullptr;  // [G*H], or null
  const double* p = nullptr;   // [3*H], or null: lstm's peepholes
  const RecurrentActivation* f = nullptr;

  // Row `row` of r times h, plus rb.
  double recur(int64_t row, const double* h) const;
};

// One step: `gates` has w * x + wb for each gate; h (and c, of lstm) are replaced by their next values.
using RecurrentStep = std::function<void(const RecurrentCell& cell, const double* gates, double* h, double* c)>;

// `gates` a cell, its default activations; `has_cell`: whether there are inputs initial_c and p and a result y_c.
struct RecurrentForm {
  std::span<const ArgSpec> inputs;
  int64_t gates = 1;
  std::span<const std::string_view> activations;
  bool has_cell = false;
};

Result<std::vector<TensorType>> infer_recurrent(const InferContext& ctx, const RecurrentForm& form);
Status evaluate_recurrent(const EvalContext& ctx, const RecurrentForm& form, const RecurrentStep& step);
Cost recurrent_cost(const InferContext& ctx, std::span<const TensorType> outputs);

// Attributes that all three have; the tables of the ops begin with them.
inline constexpr AttrSpec kRecurrentActivationAlpha = {
    "activation_alpha", AttrSpec::Kind::kFloats, "[]",
    "for activations that take it, in order; absent: their defaults"};
inline constexpr AttrSpec kRecurrentActivationBeta = {"activation_beta", AttrSpec::Kind::kFloats, "[]",
                                                      "for activations that take it, in order; absent: their defaults"};
inline constexpr AttrSpec kRecurrentActivations = {
    "activations", AttrSpec::Kind::kStrings, "[]",
    "the functions of the gates, of each direction; absent: the usual ones"};
inline constexpr AttrSpec kRecurrentClip = {"clip", AttrSpec::Kind::kFloat, "0.0",
                                            "bound on what activations are applied to; 0: none"};
inline constexpr AttrSpec kRecurrentDirection = {"direction", AttrSpec::Kind::kString, "forward",
                                                 "forward, reverse or bidirectional"};
inline constexpr AttrSpec kRecurrentHiddenSize = {"hidden_size", AttrSpec::Kind::kInt, "0", "units; 0: as r has"};
inline constexpr AttrSpec kRecurrentLayout = {"layout", AttrSpec::Kind::kInt, "0",
                                              "0: steps before samples; 1: samples first"};

}  // namespace nereid::ops
