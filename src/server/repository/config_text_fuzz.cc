// SPDX-License-Identifier: Apache-2.0
// config.pbtxt and its JSON, through everything that is done with them before a backend sees them.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "server/repository/config_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nereid::server;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (auto read : {ConfigFile::from_text, ConfigFile::from_json}) {
    auto file = read(text);
    if (!file.is_ok()) continue;
    (void)file->take_name("m");
    file->complete_backend({"model.onnx"});
    file->normalise();
    (void)file->check();
    (void)file->config();
    (void)file->versions();
    (void)file->json();
  }
  return 0;
}
