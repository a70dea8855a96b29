// SPDX-License-Identifier: Apache-2.0
// What an encoder's graph must look like to be run: engines that lie are refused with a sentence.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "graph/graph.h"

namespace nereid::llm {

struct EncoderShape {
  int64_t max_tokens = 0;  // of a text
  int64_t hidden = 0;
  int64_t labels = 0;  // 0: vectors of tokens come out
  bool has_types = false;
};

// The name of its output. kInvalidArgument: inputs, output or indices that are not as build_model.h says, states, or
// scores by distance that do not reach over a text.
Result<std::string> check_encoder_interface(const graph::Graph& graph, const EncoderShape& shape);

}  // namespace nereid::llm
