// SPDX-License-Identifier: Apache-2.0
// Structs of options that callers made, perhaps with an older or newer header.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "base/status.h"
#include "compile/network.h"
#include "nereid/nereid.h"

namespace nereid::api {

// A copy in the size that this library knows: what the caller's header lacks is zero, which means the default. A newer
// header's further fields must be zero, since what they ask for is not known here.
template <typename Options>
Result<Options> read_options(const Options* given) {
  Options out{};
  if (given == nullptr) return out;
  size_t size = 0;
  std::memcpy(&size, given, sizeof(size));
  if (size < sizeof(size) || size > 65536)
    return invalid_argument("the options' struct_size is {}; set it to the size of the struct", size);
  const auto* bytes = reinterpret_cast<const std::byte*>(given);
  for (size_t i = sizeof(Options); i < size; ++i)
    if (bytes[i] != std::byte{0})
      return unsupported(
          "the options were made for a newer library: byte {} asks for something that version {} does not know", i,
          nereid_version());
  std::memcpy(&out, given, std::min(size, sizeof(Options)));
  return out;
}

// A struct that the caller's header made, perhaps smaller or larger than this library's: what both know is written, and
// what only the caller's has becomes zero.
template <typename Struct>
Status write_result(const Struct& result, Struct* out, std::string_view what) {
  if (out == nullptr) return invalid_argument("the place for {} is NULL", what);
  const size_t size = out->struct_size;
  if (size < sizeof(size) || size > 65536)
    return invalid_argument("the struct_size of {} is {}; set it to the size of the struct", what, size);
  std::memset(static_cast<void*>(out), 0, size);
  std::memcpy(static_cast<void*>(out), &result, std::min(size, sizeof(Struct)));
  std::memcpy(static_cast<void*>(out), &size, sizeof(size));
  return Status::ok();
}

// kUnsupported for what is no CPU.
Status check_device(const char* device);
// 0 is one a CPU.
Result<int> read_threads(int32_t threads);
Result<runtime::NetPrecision> read_precision(const char* precision);
Status read_shapes(const nereid_input_shape* shapes, size_t count, compile::NetworkOptions& options);

}  // namespace nereid::api
