// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve_grpc/raw_inputs.h"

#include <cstdint>
#include <string>

namespace nereid::server::kserve {
namespace {

enum WireType : uint64_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

constexpr uint64_t kRaw = uint64_t{inference::ModelInferRequest::kRawInputContentsFieldNumber} << 3 | kBytes;

bool take_varint(std::string_view* bytes, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64 && !bytes->empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes->front());
    bytes->remove_prefix(1);
    *value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool skip_value(std::string_view* bytes, uint64_t type, std::string_view* text) {
  uint64_t size = 0;
  switch (type) {
    case kVarint:
      return take_varint(bytes, &size);
    case kFixed64:
      size = 8;
      break;
    case kFixed32:
      size = 4;
      break;
    case kBytes:
      if (!take_varint(bytes, &size)) return false;
      break;
    default:  // groups, which no message of proto3 has
      return false;
  }
  if (size > bytes->size()) return false;
  *text = bytes->substr(0, size);
  bytes->remove_prefix(size);
  return true;
}

}  // namespace

Status split_request(std::string_view bytes, SplitRequest* out) {
  const Status none = internal("the request is no message ModelInferRequest");
  // Writers put the raw tensors last, so that what stands before them is one piece; otherwise it is put together.
  std::string_view head = bytes.substr(0, 0);
  std::string joined;
  for (std::string_view rest = bytes; !rest.empty();) {
    const std::string_view field = rest;
    uint64_t key = 0;
    std::string_view text;
    if (!take_varint(&rest, &key) || !skip_value(&rest, key & 7, &text)) return none;
    const std::string_view whole = field.substr(0, field.size() - rest.size());
    if (key == kRaw) {
      out->raws.push_back(text);
    } else if (joined.empty() && head.data() + head.size() == whole.data()) {
      head = {bytes.data(), head.size() + whole.size()};
    } else {
      if (joined.empty()) joined = head;
      joined += whole;
    }
  }
  const std::string_view message = joined.empty() ? head : std::string_view(joined);
  if (!out->message.ParseFromArray(message.data(), static_cast<int>(message.size()))) return none;
  return Status::ok();
}

}  // namespace nereid::server::kserve
