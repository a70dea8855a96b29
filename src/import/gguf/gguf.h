// SPDX-License-Identifier: Apache-2.0
// GGUF files (versions 2 and 3, little endian): metadata and tensors as views into the file; nothing is copied.
//
// Layout, all little endian: "GGUF", u32 version, u64 tensor count, u64 pair count; the metadata pairs; one record per
// tensor (name, dimensions, type, offset); padding to `general.alignment` (32 if absent); the data section that the
// offsets count from. A string is a u64 length and its bytes. Dimensions are stored fastest first and are given here
// the other way round, so sizes.back() is the row.
//
// Threads: a GgufFile may be read by any number of threads. Memory: a small constant times the header's size, whatever
// the header claims. Errors: kInvalidArgument for a damaged file, kUnsupported for a sound one that Nereid cannot read
// (big endian, version 1, a tensor type without a decoder), kNotFound for a file that is not there.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "base/metadata.h"
#include "base/status.h"
#include "base/tensor_view.h"

namespace nereid::import::gguf {

struct Tensor {
  std::string_view name;
  ConstTensorView view;
};

struct GgufFile {
  uint32_t version = 0;         // 2 or 3
  uint64_t alignment = 0;       // bytes; tensor data starts at multiples of it
  Metadata metadata;            // of a split file: the first part's
  std::vector<Tensor> tensors;  // in file order; of a split file: part after part

  // The tensor of that name, or nullptr.
  const Tensor* find(std::string_view name) const;

  // What open() mapped: the memory that every view above points into. Empty after parse().
  std::vector<MappedFile> files;
  // Indices into `tensors`, sorted by name; find() looks here.
  std::vector<uint32_t> by_name;
};

// True if the bytes start as a GGUF file does.
bool has_gguf_magic(std::span<const std::byte> bytes);

// Reads a file in memory. `bytes` must outlive the result and start at a multiple of 8 (mappings and buffers do).
Result<GgufFile> parse(std::span<const std::byte> bytes);

// Maps and reads a file. Of a model split into name-00001-of-0000N.gguf ... any part may be named: all are opened.
Result<GgufFile> open(const std::string& path);

}  // namespace nereid::import::gguf
