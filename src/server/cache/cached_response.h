// SPDX-License-Identifier: Apache-2.0
// An answer that can be given again: its tensors lie in one piece of memory of its own.
//
// As bytes: a mark, then parameters and tensors, each length before its content, little-endian. A reader takes nothing
// on trust: another program may have written them.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "server/core/infer_request.h"

namespace nereid::server {

class CachedResponse {
 public:
  // nullptr: an error, or a part of an answer.
  static std::shared_ptr<const CachedResponse> copy_of(const InferResponse& response);
  // nullptr: these bytes are no answer.
  static std::shared_ptr<const CachedResponse> parse(std::span<const std::byte> bytes);

  std::string serialize() const;
  // Its tensors share the memory; `self` keeps it.
  static InferResponse response(const std::shared_ptr<const CachedResponse>& self);
  // About what it takes, with what it costs to keep it.
  size_t bytes() const;

 private:
  struct Tensor {
    std::string name;
    InferType type = InferType::kInvalid;
    std::vector<int64_t> shape;
    size_t begin = 0, size = 0;  // in memory_
  };
  std::vector<Tensor> tensors_;
  InferParameters parameters_;
  std::string memory_;
};

}  // namespace nereid::server
