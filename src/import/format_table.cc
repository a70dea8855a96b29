// SPDX-License-Identifier: Apache-2.0
#include "import/format_table.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

namespace nereid::import {
namespace {

template <typename File>
void add_tensors(const File& file, ModelSource& source) {
  source.tensors.reserve(file.tensors.size());
  for (const auto& tensor : file.tensors) {
    source.tensors.push_back({.name = tensor.name, .view = tensor.view});
    source.total_bytes += tensor.view.bytes();
  }
  std::sort(source.tensors.begin(), source.tensors.end(),
            [](const SourceTensor& a, const SourceTensor& b) { return a.name < b.name; });
}

Result<ModelSource> open_gguf(const std::string& path) {
  NEREID_TRY(gguf::GgufFile file, gguf::open(path));
  ModelSource source;
  source.kind = ModelSource::Kind::kGguf;
  source.path = path;
  source.gguf = std::make_shared<const gguf::GgufFile>(std::move(file));
  add_tensors(*source.gguf, source);
  return source;
}

Result<ModelSource> open_hf(const std::string& path) {
  NEREID_TRY(hf::HfModel model, hf::open(path));
  ModelSource source;
  source.kind = ModelSource::Kind::kHf;
  source.path = path;
  source.hf = std::make_shared<const hf::HfModel>(std::move(model));
  add_tensors(source.hf->weights, source);
  return source;
}

constexpr std::array kTable = {
    ModelFormat{"gguf", "a GGUF file", [](const Probe& p) { return gguf::has_gguf_magic(p.head); }, open_gguf},
    ModelFormat{"hf", "a Hugging Face directory with config.json and safetensors",
                [](const Probe& p) { return p.is_directory && p.has_entry("config.json"); }, open_hf},
};

}  // namespace

std::span<const ModelFormat> format_table() {
  return kTable;
}

}  // namespace nereid::import
