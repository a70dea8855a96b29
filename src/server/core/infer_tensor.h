// SPDX-License-Identifier: Apache-2.0
// A named tensor on its way through the server: its bytes lie wherever they came to lie (a request's body, an engine's
// output), and are kept alive by whoever holds the tensor, so that nothing has to copy them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "server/core/infer_type.h"

namespace nereid::server {

struct InferTensor {
  std::string name;
  InferType type = InferType::kInvalid;
  std::vector<int64_t> shape;         // with the batch dimension where the model has one
  std::span<const std::byte> bytes;   // elements one after the other; at no particular address
  std::shared_ptr<const void> owner;  // of the bytes
};

// Product of the sizes; -1 when it does not fit or a size is negative.
int64_t element_count(std::span<const int64_t> shape);
// "[1,16]"
std::string shape_text(std::span<const int64_t> shape);

// A tensor with bytes of its own, for whoever makes some.
template <typename Container>
InferTensor tensor_of(std::string name, InferType type, std::vector<int64_t> shape, Container content) {
  auto owned = std::make_shared<const Container>(std::move(content));
  const auto bytes = std::as_bytes(std::span(owned->data(), owned->size()));
  return {std::move(name), type, std::move(shape), bytes, std::move(owned)};
}

}  // namespace nereid::server
