// SPDX-License-Identifier: Apache-2.0
#include "server/cache/cache_key.h"

#include <type_traits>

#include "base/checksum.h"

namespace nereid::server {
namespace {

// Lengths go before contents, so that no two lists of parts are the same row of bytes.
class KeyHash {
 public:
  void number(uint64_t value) { hash_.update(std::as_bytes(std::span(&value, 1))); }
  void bytes(std::span<const std::byte> bytes) {
    number(bytes.size());
    hash_.update(bytes);
  }
  void text(std::string_view text) { bytes(std::as_bytes(std::span(text))); }
  std::string hex() const { return hash_.hex(); }

 private:
  Sha256 hash_;
};

void add_parameter(const InferParameter& value, KeyHash* hash) {
  hash->number(value.index());
  std::visit(
      [&](const auto& one) {
        if constexpr (std::is_same_v<std::decay_t<decltype(one)>, std::string>) {
          hash->text(one);
        } else {
          hash->bytes(std::as_bytes(std::span(&one, 1)));
        }
      },
      value);
}

}  // namespace

std::string cache_key(const InferModel& model, const InferRequest& request) {
  KeyHash hash;
  hash.text("nereid response 1");
  hash.text(model.config().name);
  hash.number(static_cast<uint64_t>(model.version()));
  hash.number(model.content_mark());
  hash.number(request.inputs.size());
  for (const InferTensor& input : request.inputs) {
    hash.text(input.name);
    hash.number(static_cast<uint64_t>(input.type));
    hash.bytes(std::as_bytes(std::span(input.shape)));
    hash.bytes(input.bytes);
  }
  // None named: all.
  std::vector<std::string> outputs = request.outputs;
  if (outputs.empty())
    for (const TensorConfig& output : model.config().outputs) outputs.push_back(output.name);
  hash.number(outputs.size());
  for (const std::string& output : outputs) hash.text(output);
  hash.number(request.parameters.size());
  for (const auto& [name, value] : request.parameters) {
    hash.text(name);
    add_parameter(value, &hash);
  }
  hash.number(request.sequence.id);
  hash.text(request.sequence.text_id);
  hash.number((request.sequence.is_start ? 1u : 0u) + (request.sequence.is_end ? 2u : 0u));
  return hash.hex();
}

}  // namespace nereid::server
