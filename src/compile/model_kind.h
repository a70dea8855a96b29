// SPDX-License-Identifier: Apache-2.0
// What a path that a user calls a model is, told by its content.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace nereid::compile {

enum class ModelKind : uint8_t {
  kEngine,         // of a language model
  kNetworkEngine,  // of a network
  kOnnx,
  kSafetensors,
  kOther,  // a folder, a GGUF file, or nothing that can be read: left to the reader of models, whose sentence is better
};

constexpr bool is_network(ModelKind kind) {
  return kind == ModelKind::kOnnx || kind == ModelKind::kNetworkEngine;
}

// Never fails. A damaged file whose name ends in .onnx is kOnnx: its reader says what is wrong with it.
ModelKind model_kind(const std::string& path);
// Whether the first bytes of a file are those of an ONNX model: fields of the message's own, one after the other.
bool looks_like_onnx(std::span<const std::byte> head);

}  // namespace nereid::compile
