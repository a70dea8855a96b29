// SPDX-License-Identifier: Apache-2.0
// Any bytes as an ONNX file: a graph, or a sentence.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "import/onnx/onnx_model.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto model = nereid::import::onnx::import_bytes(bytes, "");
  if (!model.is_ok()) NEREID_CHECK(!model.status().message().empty());
  return 0;
}
