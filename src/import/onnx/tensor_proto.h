// SPDX-License-Identifier: Apache-2.0
// Tensors as the format stores them: numbers in typed lists, raw bytes, or a range of another file.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/mapped_file.h"
#include "base/status.h"
#include "onnx-ml.pb.h"
#include "ops/op.h"
#include "ops/tensor.h"

namespace nereid::import::onnx {

// The files beside a model that hold its large tensors, each mapped once. Files outside the model's folder are refused.
class ExternalFiles {
 public:
  explicit ExternalFiles(std::string folder) : folder_(std::move(folder)) {}
  // The bytes that a tensor's entries name; they live as long as this object.
  Result<std::string_view> find(const ::onnx::TensorProto& tensor);
  bool are_used() const { return !files_.empty(); }

 private:
  std::string folder_;
  std::map<std::string, std::unique_ptr<MappedFile>> files_;
};

// A copy. `files` may be null: external data is then an error.
Result<ops::Tensor> read_tensor(const ::onnx::TensorProto& tensor, ExternalFiles* files);
// Values at places, the rest zeros.
Result<ops::Tensor> read_sparse_tensor(const ::onnx::SparseTensorProto& tensor, ExternalFiles* files);
// Without a copy where the bytes can be used as they are (raw or external, aligned, not strings); `tensor` and `files`
// must live on. Else the view is of `storage`.
Result<ConstTensorView> view_tensor(const ::onnx::TensorProto& tensor, ExternalFiles* files, ops::Tensor& storage);

void write_tensor(const ConstTensorView& view, ::onnx::TensorProto& tensor);

Result<ops::TensorType> read_type(const ::onnx::TypeProto& type);

}  // namespace nereid::import::onnx
