// SPDX-License-Identifier: Apache-2.0
// What evaluators of data that is no plain tensor share: their shape rule run on what is there, and what they say when
// an input is something else.
#pragma once

#include <string_view>
#include <vector>

#include "base/status.h"
#include "ops/datum.h"
#include "ops/op.h"

namespace nereid::ops {

// Runs the shape rule on the data, all of whose values are known: its refusals are the evaluator's. Ops whose rule
// takes plain tensors only (not OpDef::infers_any) refuse other data here.
Result<std::vector<TensorType>> infer_data(const AnyContext& ctx,
                                           Result<std::vector<TensorType>> (*infer)(const InferContext&),
                                           bool infers_any = false);

// One result.
inline std::vector<Datum> one_result(Datum datum) {
  std::vector<Datum> results;
  results.push_back(std::move(datum));
  return results;
}

}  // namespace nereid::ops
