// SPDX-License-Identifier: Apache-2.0
// A language model as it lies on disk, whatever its format: named tensors, and the format's own description of it.
//
// One plain struct that every reader of format_table.h fills. The tensors are views into mapped files; a ModelSource
// (or a copy of its shared pointers) keeps these mappings alive. Names, shapes and conventions stay the format's:
// llm/arch knows how each architecture is written in each.
// Threads: any number may read one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/metadata.h"
#include "base/status.h"
#include "base/tensor_view.h"
#include "import/gguf/gguf.h"
#include "import/hf/hf.h"

namespace nereid::import {

struct SourceTensor {
  std::string_view name;
  ConstTensorView view;
};

struct ModelSource {
  enum class Kind : uint8_t { kGguf, kHf };

  Kind kind = Kind::kGguf;
  std::string path;                   // as it was asked for
  std::vector<SourceTensor> tensors;  // sorted by name
  int64_t total_bytes = 0;            // of all tensors

  // The opened weight files: the one of `kind` is set.
  std::shared_ptr<const gguf::GgufFile> gguf;
  std::shared_ptr<const hf::HfModel> hf;

  // The tensor of that name, or nullptr.
  const SourceTensor* find(std::string_view name) const;
  // The description: metadata of a GGUF file, config.json of a Hugging Face directory; nullptr for the other kind.
  const Metadata* metadata() const { return gguf ? &gguf->metadata : nullptr; }
  const Json* config() const { return hf ? &hf->config : nullptr; }
  // The weight files that are mapped, as opened.
  std::vector<std::string> weight_paths() const;

  // A checksum of the model itself (description, tensor names, types, sizes, bytes): the same for a model that was
  // copied or renamed. Reads every byte once, so it costs what reading the weights costs.
  uint64_t content_checksum() const;
};

// Opens what `path` is, by its content, not its name. A path that is no model gives a sentence that says what was
// expected, what is there and what to do (kNotFound, kInvalidArgument or kUnsupported).
Result<ModelSource> open_model(const std::string& path);

}  // namespace nereid::import
