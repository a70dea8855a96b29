// SPDX-License-Identifier: Apache-2.0
#include "server/runner/control_inputs.h"

#include <cstring>
#include <functional>

namespace nereid::server {
namespace {

template <typename T>
std::string raw(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string value_bytes(const ControlInput& control, bool is_true) {
  const double value = is_true ? control.value_true : control.value_false;
  if (control.type == InferType::kFp32) return raw(static_cast<float>(value));
  if (control.type == InferType::kBool) return raw(static_cast<uint8_t>(value != 0));
  return raw(static_cast<int32_t>(value));
}

std::string id_bytes(const ControlInput& control, const SequenceMark& mark) {
  const uint64_t id = mark.text_id.empty() ? mark.id : std::hash<std::string>{}(mark.text_id);
  switch (control.type) {
    case InferType::kBytes: {
      const std::string text = mark.text_id.empty() ? std::to_string(mark.id) : mark.text_id;
      return raw(static_cast<uint32_t>(text.size())) + text;
    }
    case InferType::kUint32:
    case InferType::kInt32:
      return raw(static_cast<uint32_t>(id));
    default:
      return raw(id);
  }
}

}  // namespace

std::vector<InferTensor> control_inputs(const SequenceBatching& rules, const SequenceMark& mark, bool has_batch,
                                        bool is_ready) {
  std::vector<InferTensor> out;
  const std::vector<int64_t> shape(has_batch ? 2 : 1, 1);
  for (const ControlInput& control : rules.controls) {
    std::string bytes;
    switch (control.kind) {
      case ControlKind::kStart:
        bytes = value_bytes(control, mark.is_start);
        break;
      case ControlKind::kEnd:
        bytes = value_bytes(control, mark.is_end);
        break;
      case ControlKind::kReady:
        bytes = value_bytes(control, is_ready);
        break;
      case ControlKind::kId:
        bytes = id_bytes(control, mark);
        break;
    }
    out.push_back(tensor_of(control.name, control.type, shape, std::move(bytes)));
  }
  return out;
}

std::string sequence_key(const SequenceMark& mark) {
  return mark.text_id.empty() ? "#" + std::to_string(mark.id) : "$" + mark.text_id;
}

}  // namespace nereid::server
