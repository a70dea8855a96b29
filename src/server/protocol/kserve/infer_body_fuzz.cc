// SPDX-License-Identifier: Apache-2.0
// Bodies of inference requests: the first byte decides how long the JSON is said to be.
#include <cstddef>
#include <cstdint>

#include "server/core/infer_check.h"
#include "server/protocol/kserve/generate_body.h"
#include "server/protocol/kserve/infer_body.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nereid::server;
  if (size == 0) return 0;
  ModelConfig config;
  config.name = "m";
  config.max_batch_size = 4;
  config.inputs = {
      {.name = "INPUT0", .type = InferType::kFp32, .dims = {-1}, .reshape = {}, .label_file = {}},
      {.name = "T", .type = InferType::kBytes, .dims = {2}, .reshape = {}, .is_optional = true, .label_file = {}}};
  config.outputs = config.inputs;
  if (data[0] % 3 == 2) config.inputs.resize(1);
  auto body = std::make_shared<const std::string>(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string length = std::to_string(data[0]);
  std::optional<std::string_view> said;
  if (data[0] % 2 == 0) said = length;
  auto read = kserve::read_infer_body(body, said, config, SharedMemory(false));
  int64_t batch = 0;
  if (read.is_ok()) (void)check_request(config, &read->request, &batch);
  auto flat = kserve::read_generate_body(*body, config);
  if (flat.is_ok()) (void)check_request(config, &*flat, &batch);
  return 0;
}
