// SPDX-License-Identifier: Apache-2.0
// From the path of a model that encodes to one that can run, as open_model.h does for those that generate.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "llm/run/encoder.h"
#include "llm/run/open_model.h"

namespace nereid::llm {

struct OpenedEncoder {
  std::string path;
  Isa isa = Isa::baseline;
  std::unique_ptr<ThreadPool> pool;
  std::unique_ptr<Encoder> encoder;
  bool was_built = false;
  std::vector<std::string> warnings;
  double load_ms = 0;
};

// OpenOptions::context is the longest text. Errors as open_model's; kInvalidArgument: the model generates, and does
// nothing else.
Result<OpenedEncoder> open_encoder(const std::string& path, const OpenOptions& options, EncoderOptions load = {},
                                   const std::function<void(int64_t, int64_t)>& progress = {},
                                   bool* wrong_option = nullptr);

}  // namespace nereid::llm
