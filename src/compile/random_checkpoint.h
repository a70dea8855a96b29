// SPDX-License-Identifier: Apache-2.0
// A checkpoint of random weights from a configuration alone: shapes can be measured where no weights can be had.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/status.h"
#include "base/thread_pool.h"

namespace nereid::compile {

struct RandomCheckpoint {
  std::string config_path;  // a config.json of Hugging Face's form
  std::string folder;       // is made where it is absent
  uint64_t seed = 1;
};

// Writes config.json, model.safetensors and a tokenizer of single bytes. Elements are of the configuration's
// torch_dtype (f16 where it names none): matrices uniform with variance 1 / columns, so that activations keep their
// size; norms near 1, biases near 0. The same configuration and seed give the same bytes whatever the number of
// threads; a few tens of MiB of memory whatever the size. kCancelled on Ctrl-C, with nothing left of the weights.
Status write_random_checkpoint(const RandomCheckpoint& what, ThreadPool& pool,
                               const std::function<void(int64_t done, int64_t total)>& progress = {});

}  // namespace nereid::compile
