// SPDX-License-Identifier: Apache-2.0
#include "api/bindings.h"

#include <algorithm>

#include "api/tensors.h"
#include "graph/evaluate.h"

namespace nereid::api {
namespace {

Result<std::vector<std::string>> read_texts(const nereid_tensor& tensor, int64_t bytes) {
  const auto* given = static_cast<const nereid_string*>(tensor.data);
  const size_t count = static_cast<size_t>(bytes) / sizeof(nereid_string);
  std::vector<std::string> texts(count);
  for (size_t i = 0; i < count; ++i) {
    if (given[i].data == nullptr && given[i].size > 0)
      return invalid_argument("text {} has {} bytes, but its data is NULL", i, given[i].size);
    texts[i].assign(given[i].size > 0 ? given[i].data : "", given[i].size);
  }
  return texts;
}

}  // namespace

Status Bindings::set_input(const graph::Value& declared, size_t index, const nereid_tensor& tensor) {
  const auto where = [&](Status s) { return std::move(s).with(fmt::format("input '{}'", declared.name)); };
  if (!declared.type.is_tensor())
    return unsupported("the input '{}' is {}; values that are no tensors cannot be set through this interface yet",
                       declared.name, declared.type.to_string());
  const Result<int64_t> bytes = check_tensor(tensor);
  if (!bytes.is_ok()) return where(bytes.status());
  Input& input = inputs_[index];
  const DType dtype = *dtype_from(tensor.dtype);
  const std::span<const int64_t> dims(tensor.dims, static_cast<size_t>(tensor.rank));
  if (!input.given || input.view.dtype != dtype || !std::ranges::equal(input.view.sizes, dims)) {
    NEREID_RETURN_IF_ERROR(graph::check_input(declared, {dtype, Shape::of(dims)}));
  }
  if (dtype == DType::string) {
    Result<std::vector<std::string>> texts = read_texts(tensor, *bytes);
    if (!texts.is_ok()) return where(texts.status());
    input.texts = std::move(texts).value();
  }
  static constexpr std::byte kNothing[16] = {};
  input.view.data = tensor.data != nullptr ? tensor.data : kNothing;
  input.view.dtype = dtype;
  input.view.sizes.assign(dims.begin(), dims.end());
  input.given = true;
  return Status::ok();
}

Status Bindings::apply(runtime::NetContext& context) const {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Input& input = inputs_[i];
    if (!input.given) continue;  // the run names it
    if (input.view.dtype != DType::string) {
      NEREID_RETURN_IF_ERROR(context.set_input(i, input.view));
      continue;
    }
    NEREID_RETURN_IF_ERROR(context.set_input(i, ConstTensorView(input.texts.data(), DType::string, input.view.sizes)));
  }
  for (size_t i = 0; i < outputs_.size(); ++i) context.bind_output(i, outputs_[i]);
  return Status::ok();
}

}  // namespace nereid::api
