// SPDX-License-Identifier: Apache-2.0
// Engines of networks without their weights, and with others (docs/decisions/0008).
//
// An engine remembers how its ONNX file was read (sizes, passes, precision) and which weights that file has. Refitting
// reads an ONNX file in the same way, and takes it if the weights have the same names and types and the optimised graph
// is the same but for numbers. So everything that was computed from weights (a batch normalisation inside a
// convolution) is right again, and the same file gives the same bytes that building gives.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "compile/network_engine.h"

namespace nereid::compile {

inline constexpr std::string_view kStrippedKey = "stripped";

// What an engine's info keeps for refitting.
Result<Json> refit_info(const OpenedNetwork& opened, const NetworkOptions& options);
bool is_stripped(const Json& info);
// kInvalidArgument: the engine has no weights, and what to do about it.
Status stripped_refusal(const engine::EngineFile& file);

// Writes `result`: the engine with the weights of the ONNX file. kInvalidArgument names the first weight, or the first
// place of the graph, that does not fit. Of the options, isa and stop count.
Result<NetworkBuild> refit_network(const std::string& engine, const std::string& onnx, const std::string& result,
                                   const NetworkOptions& options, ThreadPool& pool, const BuildProgress& progress = {});

// The weights that refitting puts in: name and type, in the order of the file the engine was built from.
Result<std::vector<import::onnx::SourceWeight>> refittable_weights(const std::string& engine);

// Writes `result`: the engine without its weights; the same bytes as building it so.
Status strip_network(const std::string& engine, const std::string& result);

}  // namespace nereid::compile
