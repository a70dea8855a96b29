// SPDX-License-Identifier: Apache-2.0
#include "api/options.h"

#include "api/tensors.h"

namespace nereid::api {

Status check_device(const char* device) {
  if (device == nullptr || std::string_view(device) == "cpu") return Status::ok();
  return unsupported("there is no device '{}' in this version of Nereid; networks run on \"cpu\"", device);
}

Result<int> read_threads(int32_t threads) {
  constexpr int32_t kMost = 4096;
  if (threads < 0 || threads > kMost)
    return invalid_argument("threads is {}; it is 0 (one a CPU) or a number up to {}", threads, kMost);
  return threads;
}

Result<runtime::NetPrecision> read_precision(const char* precision) {
  if (precision == nullptr) return runtime::NetPrecision::kF32;
  return compile::precision_from_name(precision);
}

Status read_shapes(const nereid_input_shape* shapes, size_t count, compile::NetworkOptions& options) {
  if (count > 0 && shapes == nullptr) return invalid_argument("shape_count is {}, but shapes is NULL", count);
  for (size_t i = 0; i < count; ++i) {
    if (shapes[i].name == nullptr) return invalid_argument("shape {} has no name of an input", i);
    NEREID_TRY(std::vector<int64_t> sizes,
               read_dims(shapes[i].rank, shapes[i].dims).with(fmt::format("the shape of '{}'", shapes[i].name)));
    if (!options.import.shapes.emplace(shapes[i].name, std::move(sizes)).second)
      return invalid_argument("two shapes are given for the input '{}'", shapes[i].name);
  }
  return Status::ok();
}

}  // namespace nereid::api
