// SPDX-License-Identifier: Apache-2.0
// A model's values as onnxruntime computes them, in a Python process of its own: for `nereid check`.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "compile/check_network.h"

namespace nereid::cli {

extern const std::string_view kOnnxruntimeScript;  // onnxruntime_values.py

// `model` is an ONNX file, `python` a program that finds the package onnxruntime. Running it needs room for all values
// in the folder for temporary files. Errors of run(): kNotFound when there is no such program or package,
// kUnsupported when an input cannot be given as .npy or onnxruntime refuses the model.
Result<std::unique_ptr<compile::ValueSource>> onnxruntime_values(const std::string& model, const std::string& python);

}  // namespace nereid::cli
