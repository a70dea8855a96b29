// SPDX-License-Identifier: Apache-2.0
// Values handed to another program and taken from it, as .npy files in a folder: request.json names the inputs' files
// and the values wanted, index.json, which the other side writes, the files of those it has.
#pragma once

#include <set>
#include <string>

#include "compile/check_network.h"

namespace nereid::compile {

inline constexpr std::string_view kExchangeRequest = "request.json";

// kUnsupported: an input that no .npy file can hold.
Status write_exchange_request(const std::string& folder, const NamedValues& inputs,
                              const std::set<std::string>& wanted);
Status read_exchange_answer(const std::string& folder, const ValueSink& sink);

// Names of the values that an ONNX file's own nodes make, and of its outputs.
Result<std::set<std::string>> onnx_value_names(const std::string& model);

}  // namespace nereid::compile
