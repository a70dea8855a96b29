// SPDX-License-Identifier: Apache-2.0
// Safetensors files: named tensors as views into the file, and models sharded over several of them.
//
// Layout: u64 little endian header length; that many bytes of JSON (it may end in spaces), one object per tensor:
// {"dtype": "BF16", "shape": [2, 3], "data_offsets": [begin, end]}, and "__metadata__" with strings; then the data
// section that the offsets count from. The tensors tile the data section: no holes, no overlap, nothing after the last.
//
// Threads: a SafetensorsFile may be read by any number of threads. Memory: a constant times the header's length, plus a
// copy of each tensor that starts where its element type may not (files of careful writers have none).
// Errors: kInvalidArgument for a damaged file, kUnsupported for an element type Nereid does not have, kNotFound for a
// file (or a shard of the index) that is not there.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "base/mapped_file.h"
#include "base/metadata.h"
#include "base/status.h"
#include "base/tensor_view.h"

namespace nereid::import::safetensors {

struct Tensor {
  std::string name;
  ConstTensorView view;  // of bool: one byte each, read them as u8 (a file may hold other values than 0 and 1)
};

struct SafetensorsFile {
  Metadata metadata;            // the strings of __metadata__; of a sharded model: those of the first shard
  std::vector<Tensor> tensors;  // sorted by name

  // The tensor of that name, or nullptr.
  const Tensor* find(std::string_view name) const;

  // The memory that the views point into: mappings (empty after parse()) and copies of misaligned tensors.
  std::vector<MappedFile> files;
  std::vector<Buffer> copies;
};

// True if the first bytes (nine are enough) are those of such a file: a plausible header length and an opening brace.
bool looks_like_safetensors(std::span<const std::byte> bytes);

// Reads a file in memory; `bytes` must outlive the result.
Result<SafetensorsFile> parse(std::span<const std::byte> bytes);

// Maps and reads one file.
Result<SafetensorsFile> open(const std::string& path);

// Opens all shards that an index (model.safetensors.index.json) names and gives exactly the tensors of its weight_map.
// Shards are looked for beside the index, nowhere else.
Result<SafetensorsFile> open_index(const std::string& path);

}  // namespace nereid::import::safetensors
