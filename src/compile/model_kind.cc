// SPDX-License-Identifier: Apache-2.0
#include "compile/model_kind.h"

#include <unistd.h>

#include <optional>
#include <vector>

#include "base/file.h"
#include "engine/engine_file.h"
#include "import/safetensors/safetensors.h"

namespace nereid::compile {
namespace {

constexpr size_t kHeadBytes = 4096;

// Protobuf's variable-length integer; moves `at` past it.
std::optional<uint64_t> read_varint(std::span<const std::byte> bytes, size_t& at) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
    const auto b = static_cast<uint64_t>(bytes[at++]);
    value |= (b & 0x7f) << shift;
    if (b < 0x80) return value;
  }
  return std::nullopt;
}

}  // namespace

bool looks_like_onnx(std::span<const std::byte> head) {
  constexpr uint64_t kVarint = 0, kBytes = 2;
  // Of ModelProto: ir_version and model_version are numbers, the others messages and texts.
  constexpr uint64_t kIrVersion = 1, kModelVersion = 5, kGraph = 7, kOpsets = 8;
  bool version = false, body = false;
  for (size_t at = 0; at < head.size();) {
    const std::optional<uint64_t> tag = read_varint(head, at);
    if (!tag) return at == head.size() && version && body;
    const uint64_t field = *tag >> 3, wire = *tag & 7;
    const bool is_number = field == kIrVersion || field == kModelVersion;
    const bool is_known = (field >= 1 && field <= 8) || field == 14 || field == 20 || field == 25 || field == 26;
    if (!is_known || wire != (is_number ? kVarint : kBytes)) return false;
    const std::optional<uint64_t> value = read_varint(head, at);
    if (!value) return at == head.size() && version && body;
    version |= field == kIrVersion;
    body |= field == kGraph || field == kOpsets;
    if (is_number) continue;
    if (*value > head.size() - at) return version || body;  // goes on beyond the head
    at += static_cast<size_t>(*value);
  }
  return body;
}

ModelKind model_kind(const std::string& path) {
  const Result<OpenedFile> file = open_regular_file(path);
  if (!file.is_ok()) return ModelKind::kOther;
  std::vector<std::byte> head(kHeadBytes);
  const ssize_t n = ::pread(file->fd.get(), head.data(), head.size(), 0);
  const std::span<const std::byte> bytes(head.data(), n > 0 ? static_cast<size_t>(n) : 0);
  if (engine::EngineFile::has_magic(bytes)) {
    const Result<engine::EngineFile> engine = engine::EngineFile::open(path);
    const bool is_network =
        engine.is_ok() && engine->info().is_object() && engine->info().value("kind", "") == "network";
    return is_network ? ModelKind::kNetworkEngine : ModelKind::kEngine;
  }
  if (import::safetensors::looks_like_safetensors(bytes)) return ModelKind::kSafetensors;
  if (looks_like_onnx(bytes) || path.ends_with(".onnx")) return ModelKind::kOnnx;
  return ModelKind::kOther;
}

}  // namespace nereid::compile
